package sparkcer.views

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{FileAlreadyExistsException => LinkExists, Files, Paths}
import java.util.UUID

import scala.annotation.tailrec

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{CreateFlag, FileAlreadyExistsException, FileContext, FileStatus, Options, Path}
import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.Serialization

/** The catalog on storage: `_catalog/<version>.json`, one file a version, written whole and put in its place by a
  * rename that does not overwrite. Who finds the place taken reads the new version and applies the change to that.
  *
  * HDFS renames so by itself; a local folder does by a hard link. On object stores without such an operation, one
  * process at a time may write.
  */
private[views] final class CatalogFiles(root: Path, conf: Configuration) {
  private val folder = new Path(root, "_catalog")
  private val files = FileContext.getFileContext(root.toUri, conf)
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
  def sweep(before: Long): Unit = list()
    .filter(f => f.getPath.getName.endsWith(".tmp") && f.getModificationTime < before)
    .foreach(f => files.delete(f.getPath, false))

  private def read(version: Long): Option[Catalog] =
    try {
      val in = files.open(file(version))
      try Some(Serialization.read[Catalog](new String(in.readAllBytes(), UTF_8)))
      finally in.close()
    } catch { case _: FileNotFoundException => None }

  private def write(catalog: Catalog): Boolean = {
    val temporary = new Path(folder, s".${UUID.randomUUID()}.tmp")
    store(temporary, Serialization.write(catalog).getBytes(UTF_8))
    val won =
      try place(temporary, file(catalog.version)) && !overtaken(catalog.version)
      finally files.delete(temporary, false): Unit
    if (won) {
      last = catalog
      versions().filter(_ <= catalog.version - Kept).sorted.foreach(v => files.delete(file(v), false))
    }
    won
  }

  /** Was the place free because others are so far ahead that they have cleared it? They clear from the oldest on, so
    * the version that ours is based on is gone too. Ours then counts for nothing, and goes.
    */
  private def overtaken(version: Long): Boolean = {
    val gone = version > 1 && !files.util().exists(file(version - 1))
    if (gone) files.delete(file(version), false): Unit
    gone
  }

  /** In a local folder without Hadoop, which starts a process for the permissions of each file. */
  private def store(to: Path, bytes: Array[Byte]): Unit =
    if (isLocal) {
      Files.createDirectories(Paths.get(local(folder)))
      Files.write(Paths.get(local(to)), bytes): Unit
    } else {
      val out = files.create(to, java.util.EnumSet.of(CreateFlag.CREATE), Options.CreateOpts.createParent())
      try out.write(bytes)
      finally out.close()
    }

  private def place(from: Path, to: Path): Boolean =
    if (isLocal)
      try {
        Files.createLink(Paths.get(local(to)), Paths.get(local(from)))
        true
      } catch { case _: LinkExists => false }
    else
      try {
        files.rename(from, to, Options.Rename.NONE)
        true
      } catch { case _: FileAlreadyExistsException => false }

  private lazy val isLocal = Option(files.makeQualified(folder).toUri.getScheme).contains("file")
  private def local(path: Path) = files.makeQualified(path).toUri.getPath

  private def versions(): Vector[Long] =
    list().flatMap(f => Name.findFirstMatchIn(f.getPath.getName).map(_.group(1).toLong))

  private def list(): Vector[FileStatus] =
    try {
      val found = Vector.newBuilder[FileStatus]
      val all = files.listStatus(folder)
      while (all.hasNext) found += all.next()
      found.result()
    } catch { case _: FileNotFoundException => Vector.empty }

  private def file(version: Long) = new Path(folder, s"$version.json")
  private val Name = """^(\d+)\.json$""".r
  private val Kept = 10
}
