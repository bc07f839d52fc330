package sparkcer.views.catalog

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.Serialization

import sparkcer.views.store.AtomicFiles

/** The catalog on storage: `_catalog/<version>.json`, one file a version, see [[AtomicFiles]]. Who finds the place
  * taken reads the new version and applies the change to that.
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
        case None => load() // others made so many versions meanwhile that this one is gone
      }
  }

  /** Applies a change to the newest version until no one else was faster. The change may be tried several times; it
    * returns the catalog that it got to change nothing, and sees the version that it will be.
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

  /** Versions that are kept for readers, newest first. */
  def kept(): Vector[Catalog] = versions().sorted.reverse.flatMap(read)

  /** Removes what writers left that were cut short before a time. */
  def sweep(before: Long): Unit = files.sweep(before)

  private def read(version: Long): Option[Catalog] =
    files.read(file(version)).map(bytes => Serialization.read[Catalog](new String(bytes, UTF_8)))

  private def write(catalog: Catalog): Boolean = {
    val won =
      files.put(file(catalog.version), Serialization.write(catalog).getBytes(UTF_8)) && !overtaken(catalog.version)
    if (won) {
      last = catalog
      versions().filter(_ <= catalog.version - Kept).sorted.foreach(v => files.delete(file(v)))
    }
    won
  }

  /** Was the place free because others are so far ahead that they have cleared it? They clear from the oldest on, so
    * the version that ours is based on is gone too. Ours then counts for nothing, and goes.
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
  private val Kept = 10
}
