package sparkcer.views.catalog

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.Serialization

/** The catalog in files: `_catalog/<version>.json`, one file for each version, see [[AtomicFiles]]. A writer that finds
  * that the file of its version exists already loads this version and applies its change again.
  */
private[views] final class CatalogFiles(root: Path, conf: Configuration) {
  private val files = new AtomicFiles(new Path(root, "_catalog"), conf)
  private implicit val formats: Formats = DefaultFormats

  @volatile private var last = Catalog(0, Vector.empty, Vector.empty)

  /** The newest version. */
  @tailrec
  def load(): Catalog = {
    val newest = versions().maxOption.getOrElse(0L)
    val known = last
    if (newest == known.version) known
    else if (newest == 0) Catalog(0, Vector.empty, Vector.empty)
    else
      read(newest) match {
        case Some(catalog) =>
          last = catalog
          catalog
        case None => load() // others have written so many versions since that this one was deleted
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
    files.read(file(version)).map(bytes => Serialization.read[Catalog](new String(bytes, UTF_8)))

  private def write(catalog: Catalog): Boolean = {
    val won =
      files.put(file(catalog.version), Serialization.write(catalog).getBytes(UTF_8)) && !overtaken(catalog.version)
    if (won) {
      last = catalog
      versions().filter(_ <= catalog.version - KeptVersions).sorted.foreach(v => files.delete(file(v)))
    }
    won
  }

  /** Did the file of this version not exist only because other writers are far ahead and have deleted it? They delete
    * the oldest versions first, so the version before this one is gone too. Then this version is void, and is deleted.
    */
  private def overtaken(version: Long): Boolean = {
    val gone = version > 1 && !files.exists(file(version - 1))
    if (gone) files.delete(file(version))
    gone
  }

  private def versions(): Vector[Long] =
    files.list().flatMap(f => Name.findFirstMatchIn(f.getPath.getName).map(_.group(1).toLong))

  private def file(version: Long) = s"$version.json"
  private val Name = """^(\d+)\.json$""".r
  private val KeptVersions = 10
}
