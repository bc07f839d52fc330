package sparkcer.views.testkit

import java.io.{File, IOException}
import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** The local file system, in which every change fails after a number of changes. */
final class CrashFileSystem extends RawLocalFileSystem {
  import CrashFileSystem.change

  override def getUri: URI = CrashFileSystem.Uri
  override def getScheme: String = "crash"
  override def checkPath(path: Path): Unit = ()
  override def pathToFile(path: Path): File = new File(path.toUri.getPath)

  override def open(f: Path, bufferSize: Int): FSDataInputStream =
    if (CrashFileSystem.isUnreadable) throw new IOException("unreadable") else super.open(f, bufferSize)

  override def create(f: Path, overwrite: Boolean, b: Int, r: Short, s: Long, p: Progressable): FSDataOutputStream = {
    change()
    if (CrashFileSystem.full && !f.toString.contains("_catalog")) throw new IOException("No space left on device")
    super.create(f, overwrite, b, r, s, p)
  }
  override def rename(from: Path, to: Path): Boolean = {
    change()
    super.rename(from, to)
  }
  override def delete(path: Path, recursive: Boolean): Boolean = {
    change()
    super.delete(path, recursive)
  }
  override def mkdirs(path: Path, permission: FsPermission): Boolean = {
    change()
    super.mkdirs(path, permission)
  }
}

object CrashFileSystem {
  private val Uri = URI.create("crash:///")

  /** How many changes still succeed. */
  @volatile var left: Int = Int.MaxValue

  /** Is there no room for data? The catalog can still be written. */
  @volatile var full: Boolean = false

  /** Does every read fail? */
  @volatile var isUnreadable: Boolean = false

  /** Runs the body, in which only so many changes succeed. */
  def after[A](changes: Int)(body: => A): A = {
    left = changes
    try body
    finally left = Int.MaxValue
  }

  def unreadable[A](body: => A): A = {
    isUnreadable = true
    try body
    finally isUnreadable = false
  }

  /** Makes paths that begin with `crash:` known. */
  def register(conf: Configuration): Unit = {
    conf.set("fs.crash.impl", classOf[CrashFileSystem].getName)
    conf.set("fs.AbstractFileSystem.crash.impl", classOf[CrashContext].getName)
  }

  private def change(): Unit = synchronized {
    left -= 1
    if (left < 0) throw new IOException("crash")
  }
}

final class CrashContext(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new CrashFileSystem, conf, "crash", false)
