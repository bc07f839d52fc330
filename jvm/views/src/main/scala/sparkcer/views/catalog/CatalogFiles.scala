package sparkcer.views.catalog

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.annotation.tailrec

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.json4s._
import org.json4s.jackson.JsonMethods

/** The catalog in files: `_catalog/<version>.json`, one file for each version, see [[AtomicFiles]]. A writer that finds
  * that the file of its version exists already loads this version and applies its change again.
  */
private[views] final class CatalogFiles(root: Path, conf: Configuration) {
  private val files = new AtomicFiles(new Path(root, "_catalog"), conf)
  private implicit val formats: Formats = DefaultFormats

  private val writer = UUID.randomUUID().toString

  @volatile private var last = Catalog(0, Vector.empty, Vector.empty)

  /** The newest version. */
  def load(): Catalog = newest().getOrElse(Catalog(0, Vector.empty, Vector.empty))

  @tailrec
  private def newest(): Option[Catalog] = {
    val number = versions().maxOption.getOrElse(0L)
    val known = last
    if (number == 0) None
    else if (number == known.version) Some(known)
    else
      read(number) match {
        case None  => newest() // others have written so many versions since that this one was deleted
        case found =>
          found.foreach(last = _)
          found
      }
  }

  /** Applies a change to the newest version, and writes the result as the next version. If another writer was faster,
    * the change is applied again. The change gets the catalog and the number of the next version; to change nothing, it
    * returns the same catalog.
    */
  @tailrec
  def commit[A](change: (Catalog, Long) => (Catalog, A)): A = {
    val before = load()
    val version = before.version + 1
    val (after, result) = change(before, version)
    if (after eq before) result
    else if (write(after.copy(version = version))) result
    else commit(change)
  }

  /** All versions that still exist, newest first. */
  def kept(): Vector[Catalog] = versions().sorted.reverse.flatMap(read)

  /** Deletes temporary files that are older than a time, of writers that failed. */
  def sweep(before: Long): Unit = files.sweep(before)

  private def read(version: Long): Option[Catalog] =
    files.read(file(version)).map { bytes =>
      JsonMethods
        .parse(new String(bytes, UTF_8))
        .transformField { case (name, value) => (Stored.map(_.swap).getOrElse(name, name), value) }
        .extract[Catalog]
    }

  private def json(catalog: Catalog): String = JsonMethods.compact(
    Extraction.decompose(catalog).transformField { case (name, value) => (Stored.getOrElse(name, name), value) }
  )

  /** The names of fields in the files, where they differ: those of the first version, which must stay readable. A field
    * that is not found would be read as an empty list.
    */
  private val Stored = Map("folders" -> "pieces", "path" -> "folder")

  /** Only one thread of a writer writes at a time, so that the catalog can tell which version it wrote last.
    *
    * A writer that was suspended can find that the file of its version does not exist only because others are far ahead
    * and have deleted it. So if there are newer versions after the file is written, they must be based on it: the
    * newest one knows then that we have written it. If it does not, our version is void, and is deleted.
    */
  private def write(catalog: Catalog): Boolean = synchronized {
    val version = catalog.version
    val writers = catalog.writers.filter(_._2 > version - KnownVersions).updated(writer, version)
    val noted = catalog.copy(writers = writers)
    if (!files.put(file(version), json(noted).getBytes(UTF_8))) false
    else {
      val existing = versions()
      val isValid = existing.max == version || newest().exists(_.writers.get(writer).contains(version))
      if (isValid) {
        last = noted
        existing.filter(_ <= version - KeptVersions).sorted.foreach(v => files.delete(file(v)))
      } else files.delete(file(version))
      isValid
    }
  }

  private def versions(): Vector[Long] =
    files.list().flatMap(f => Name.findFirstMatchIn(f.getPath.getName).map(_.group(1).toLong))

  private def file(version: Long) = s"$version.json"
  private val Name = """^(\d+)\.json$""".r
  private val KeptVersions = 10

  /** After so many versions a catalog forgets a writer. */
  private val KnownVersions = 10000L
}
