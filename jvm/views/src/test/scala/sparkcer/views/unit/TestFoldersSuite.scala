package sparkcer.views.unit

import java.nio.file.Paths

import scala.jdk.CollectionConverters._

import sparkcer.views.testkit.TestFolders

/** Tests leave no folders behind: all temporary ones are in a folder of the build, which deletes it after the tests. */
final class TestFoldersSuite extends munit.FunSuite {
  test("temporary folders are where the build deletes them") {
    val names = Paths.get(TestFolders.make("here")).iterator.asScala.map(_.toString).toVector
    assertEquals(names.dropRight(1).last, "tmp")
    assert(names.contains("target"), clue(names))
  }
}
