package sparkcer.views.restart

import java.nio.file.{Files, Path => File, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.engine.testkit.Properties
import sparkcer.views.catalog._
import sparkcer.views.testkit.TestFolders

/** A catalog is the sum of its changes, and what cannot be read is told. */
final class CatalogFilesSuite extends munit.FunSuite {
  private val folders = FunFixture[String](_ => TestFolders.make("catalog"), _ => ())

  private def open(folder: String) = new CatalogFiles(new Path(folder), new Configuration())
  private def file(folder: String, name: String): File = Paths.get(folder, "_catalog", name)

  private def names(folder: String): Set[String] = {
    val all = Files.list(Paths.get(folder, "_catalog"))
    try all.iterator.asScala.map(_.getFileName.toString).toSet
    finally all.close()
  }

  /** Changes of all kinds, some of which use several lists at once. */
  private def change(rng: Random, c: Catalog, version: Long): Catalog = {
    def some[A](values: Vector[A]) = values.filter(_ => rng.nextInt(3) > 0)
    def text = rng.nextInt(1000).toString
    def folder = DataFolder(s"f$version-$text", rng.nextBoolean(), Vector.fill(rng.nextInt(2))(DataFile(text, 7, 8)))
    def part(index: Long) = Part(
      index,
      Vector.fill(rng.nextInt(2))(text),
      rng.nextInt(5).toLong,
      version,
      rng.nextInt(9).toLong,
      Vector.fill(rng.nextInt(2))(PartName("T", rng.nextInt(9).toLong)),
      rng.nextBoolean(),
      Vector.fill(rng.nextInt(2))(text),
      rng.nextInt(2).toLong,
      Vector.fill(rng.nextInt(2))(PartName("T", rng.nextInt(9).toLong))
    )
    def table = Table(
      s"t$version",
      s"id$version",
      60,
      "{}",
      Some("t").filter(_ => rng.nextBoolean()),
      Some("CREATE VIEW \"x\"").filter(_ => rng.nextBoolean()),
      helper = rng.nextBoolean()
    )
    def changed(t: Table): Table = {
      val first = t.first.getOrElse(5L)
      val last = t.newest.getOrElse(4L)
      rng.nextInt(8) match {
        case 0 => t.copy(parts = t.parts ++ (last + 1 to last + 1 + rng.nextInt(3)).map(part))
        case 1 => t.copy(parts = (first - 2 until first).map(part).toVector ++ t.parts)
        case 2 => t.copy(parts = t.parts.drop(rng.nextInt(3)), floor = Some(first))
        case 3 => t.copy(parts = t.parts.map(p => if (rng.nextInt(3) == 0) part(p.index) else p))
        case 4 => t.copy(open = (last + 1 to last + 3).map(part).toVector, seen = Some(version))
        case 5 => t.copy(aside = t.aside :+ part(1).copy(folders = Vector(s"aside$version")), start = Some(version))
        case 6 => t.copy(folders = some(t.folders) :+ folder, appended = some(t.appended) :+ s"batch$version")
        case _ =>
          t.copy(
            batches = t.batches.updated(text, version),
            failed = Vector(FailedPart(version, "it's \"broken\"\n", 3)),
            told = t.told.updated(text, version),
            updates = None
          )
      }
    }
    val tables = rng.nextInt(8) match {
      case 0 => c.tables :+ table
      case 1 => c.tables.drop(rng.nextInt(2))
      case _ => if (c.tables.isEmpty) Vector(table) else c.tables.map(t => if (rng.nextBoolean()) changed(t) else t)
    }
    c.copy(
      tables = tables,
      removed = if (rng.nextInt(4) == 0) some(c.removed) :+ RemovedFolder(s"r$version", version) else c.removed,
      listed = if (rng.nextInt(9) == 0) version else c.listed
    )
  }

  folders.test("a catalog that is read from its files is the one that was committed") { folder =>
    val seed = Random.nextInt()
    val rng = new Random(seed)
    val files = open(folder)
    val slow = open(folder)
    var committed = Catalog.Empty
    (1 to (if (Properties.Long) 3000 else 350)).foreach { n =>
      files.commit { (c, version) =>
        committed = change(rng, c, version)
        (committed, ())
      }
      val writers = files.load().writers
      val right = committed.copy(version = files.load().version, writers = writers)
      if (committed ne Catalog.Empty) assertEquals(files.load(), right, clue(seed -> n))
      if (rng.nextInt(20) == 0) assertEquals(open(folder).load(), right, clue(seed -> n)) // from its files alone
      if (rng.nextInt(70) == 0) assertEquals(slow.load(), right, clue(seed -> n)) // from a version that it knows
    }
    assert(names(folder).size < 310, clue(names(folder)))
  }

  /** Commits so that version n has n removed folders. */
  private def commit(files: CatalogFiles, n: Int): Unit = (1 to n).foreach { _ =>
    files.commit((c, v) => (c.copy(removed = c.removed :+ RemovedFolder(s"$v", v)), ()))
  }

  private def broken(folder: String): String =
    intercept[CerRuntimeException](commit(open(folder), 1)).getMessage

  for (
    (how, spoil) <- Seq[(String, File => Unit)](
      "lost" -> (f => Files.delete(f)),
      "empty" -> (f => Files.write(f, Array.emptyByteArray): Unit),
      "cut off" -> (f => Files.writeString(f, Files.readString(f).dropRight(3)): Unit)
    )
  ) folders.test(s"a version that is $how: the newest one that can be read is loaded, and nothing is committed") {
    folder =>
      commit(open(folder), 20)
      val running = open(folder)
      assertEquals(running.load().version, 20L)
      spoil(file(folder, "18.json"))
      val found = open(folder).loaded()
      assertEquals((found.catalog.version, found.top, found.bad), (17L, 20L, Vector("18.json")))
      assertEquals(found.catalog.removed.length, 17)
      assertEquals(
        broken(folder),
        s"[CER_VIEW_STORAGE] These files of the catalog of views in $folder/_catalog are lost or damaged: 18.json. Version 17 is the newest that can be read, and there were versions up to 20. Nothing was changed. Restore the files, or run repair(), which continues from version 17."
      )
      assertEquals(open(folder).reset(), Some((18L, 20L)))
      assertEquals(open(folder).reset(), None)
      commit(open(folder), 3)
      assertEquals(open(folder).load().removed.length, 20)
      assertEquals(open(folder).load().version, 24L)
  }

  folders.test("a checkpoint that is damaged loses nothing") { folder =>
    commit(open(folder), 250)
    assertEquals(names(folder).filter(_.startsWith("checkpoint")), Set("checkpoint-100.json", "checkpoint-200.json"))
    Files.writeString(file(folder, "checkpoint-200.json"), "{")
    val found = open(folder).loaded()
    assertEquals((found.catalog.version, found.top, found.bad), (250L, 250L, Vector("checkpoint-200.json")))
    assertEquals(found.catalog.removed.length, 250)
    commit(open(folder), 60)
    assertEquals(names(folder).count(_.startsWith("checkpoint")), 2)
    assertEquals(open(folder).loaded().bad, Vector.empty)
    assertEquals(open(folder).load().removed.length, 310)
    assert(!names(folder)("199.json"))
  }

  folders.test("a version that is damaged, but in a later checkpoint") { folder =>
    commit(open(folder), 150)
    Files.writeString(file(folder, "70.json"), "")
    assertEquals(open(folder).loaded().bad, Vector.empty)
    assertEquals(open(folder).load().removed.length, 150)
  }

  folders.test("the newest version is lost, and its checkpoint is there: nothing is lost, also for others") { folder =>
    val behind = open(folder)
    commit(behind, 199)
    commit(open(folder), 1)
    Files.delete(file(folder, "200.json"))
    val found = open(folder).loaded()
    assertEquals((found.catalog.version, found.top, found.bad), (200L, 200L, Vector("200.json")))
    commit(open(folder), 1)
    commit(behind, 1)
    assertEquals(open(folder).loaded().bad, Vector.empty)
    assertEquals(open(folder).load().removed.map(_.since), (1L to 202L).toVector)
    assertEquals(behind.load().removed.map(_.since), (1L to 202L).toVector)
  }

  folders.test("the newest version is lost without a trace: who knows it says so") { folder =>
    val knows = open(folder)
    commit(knows, 20)
    Files.delete(file(folder, "20.json"))
    val found = knows.loaded()
    assertEquals((found.catalog.version, found.top, found.bad), (19L, 20L, Vector("20.json")))
    intercept[CerRuntimeException](commit(knows, 1))
    assertEquals(knows.reset(), Some((20L, 20L)))
    commit(knows, 1)
    assertEquals(open(folder).load().removed.map(_.since), (1L to 19L).toVector :+ 22L)
  }

  folders.test("versions that are whole, but not what their names say, are damaged") { folder =>
    commit(open(folder), 20)
    Files.copy(file(folder, "17.json"), file(folder, "21.json"))
    val found = open(folder).loaded()
    assertEquals((found.catalog.version, found.top, found.bad), (20L, 21L, Vector("21.json")))
    assertEquals(open(folder).reset(), Some((21L, 21L)))
    Files.delete(file(folder, "18.json"))
    Files.writeString(
      file(folder, "18.json"),
      """{"version":18,"writer":"w","changed":[{"id":"nobody"}]}"""
    )
    commit(open(folder), 1)
    assertEquals(open(folder).loaded().bad, Vector.empty) // version 22 is a whole catalog
    Files.writeString(
      file(folder, "24.json"),
      """{"version":24,"writer":"w","changed":[{"id":"nobody"}]}"""
    )
    val wrong = open(folder).loaded()
    assertEquals((wrong.catalog.version, wrong.top, wrong.bad), (23L, 24L, Vector("24.json")))
    val running = open(folder)
    assertEquals(running.reset(), Some((24L, 24L)))
    commit(running, 1)
    assertEquals(open(folder).load().version, 26L)
  }
}
