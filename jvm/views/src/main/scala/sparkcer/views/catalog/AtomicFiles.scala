package sparkcer.views.catalog

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{FileAlreadyExistsException => LinkExists, Files, Paths}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{CreateFlag, FileAlreadyExistsException, FileContext, FileStatus, Options, Path}

/** Small files in a folder. A file is written under a temporary name, and then renamed without overwriting: readers see
  * it whole or not at all, and of several writers of the same file one succeeds.
  *
  * HDFS has such a rename. In a local folder a hard link does the same. On object stores without such an operation,
  * only one process at a time may write.
  */
private[views] final class AtomicFiles(folder: Path, conf: Configuration) {
  private val files = FileContext.getFileContext(folder.toUri, conf)

  /** Writes a file. False if there is already a file of this name. */
  def put(name: String, bytes: Array[Byte]): Boolean = {
    val temporary = new Path(folder, s".${UUID.randomUUID()}.tmp")
    try {
      store(temporary, bytes)
      place(temporary, path(name))
    } finally discard(temporary)
  }

  /** A temporary file that cannot be deleted is left to [[sweep]]: the file that it was written for may be in place. */
  private def discard(temporary: Path): Unit =
    try files.delete(temporary, false): Unit
    catch { case _: IOException => () }

  def read(name: String): Option[Array[Byte]] =
    try {
      val in = files.open(path(name))
      try Some(in.readAllBytes())
      finally in.close()
    } catch { case _: FileNotFoundException => None }

  def exists(name: String): Boolean = files.util().exists(path(name))

  def delete(name: String): Unit = files.delete(path(name), false): Unit

  def list(): Vector[FileStatus] =
    try {
      val found = Vector.newBuilder[FileStatus]
      val all = files.listStatus(folder)
      while (all.hasNext) found += all.next()
      found.result()
    } catch { case _: FileNotFoundException => Vector.empty }

  /** Deletes temporary files that are older than a time, of writers that failed. */
  def sweep(before: Long): Unit = list()
    .filter(f => f.getPath.getName.endsWith(".tmp") && f.getModificationTime < before)
    .foreach(f => files.delete(f.getPath, false))

  private def path(name: String) = new Path(folder, name)

  /** In a local folder without Hadoop, which would start a process to set the permissions of each file. */
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
}
