package sparkcer.views.store

import java.io.FileNotFoundException
import java.nio.file.{FileAlreadyExistsException => LinkExists, Files, Paths}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{CreateFlag, FileAlreadyExistsException, FileContext, FileStatus, Options, Path}

/** Small files of a folder, each written whole and put in its place by a rename that does not overwrite.
  *
  * HDFS renames so by itself; a local folder does by a hard link. On object stores without such an operation, one
  * process at a time may write.
  */
private[views] final class AtomicFiles(folder: Path, conf: Configuration) {
  private val files = FileContext.getFileContext(folder.toUri, conf)

  /** False if there is such a file already. */
  def put(name: String, bytes: Array[Byte]): Boolean = {
    val temporary = new Path(folder, s".${UUID.randomUUID()}.tmp")
    store(temporary, bytes)
    try place(temporary, path(name))
    finally files.delete(temporary, false): Unit
  }

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

  /** Removes what writers left that were cut short before a time. */
  def sweep(before: Long): Unit = list()
    .filter(f => f.getPath.getName.endsWith(".tmp") && f.getModificationTime < before)
    .foreach(f => files.delete(f.getPath, false))

  private def path(name: String) = new Path(folder, name)

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
}
