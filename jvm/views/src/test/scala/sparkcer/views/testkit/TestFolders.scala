package sparkcer.views.testkit

import java.nio.file.Files

/** Temporary folders. The build deletes them when the tests are over. */
object TestFolders {
  def make(name: String): String = Files.createTempDirectory(name).toString
}
