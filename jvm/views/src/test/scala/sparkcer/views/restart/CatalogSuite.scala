package sparkcer.views.restart

import java.nio.file.{Files, Paths}
import java.util.concurrent.{Executors, TimeUnit}

import scala.util.Try

import org.apache.hadoop.fs.Path

import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.catalog.{CatalogFiles, DataFile, DataFolder, RemovedFolder}
import sparkcer.views.maintain.Sweeper
import sparkcer.views.store.Storage
import sparkcer.views.testkit.{CrashFileSystem, Network}

/** Commits: of several at once none is lost, and one that is interrupted at any point leaves a consistent catalog. */
final class CatalogSuite extends SparkSuite {
  import Network._

  test("of several committers none is lost") {
    val folder = Network.folder()
    val pool = Executors.newFixedThreadPool(4)
    val each = 25
    (0 until 4).foreach { n =>
      pool.submit((() => {
        val files = new CatalogFiles(new Path(folder), spark.sparkContext.hadoopConfiguration)
        (0 until each).foreach(k =>
          files.commit((c, v) => (c.copy(removed = c.removed :+ RemovedFolder(s"$n.$k", v)), ()))
        )
      }): Runnable)
    }
    pool.shutdown()
    assert(pool.awaitTermination(5, TimeUnit.MINUTES))
    val last = new CatalogFiles(new Path(folder), spark.sparkContext.hadoopConfiguration).load()
    assertEquals(last.version, 100L)
    assertEquals(
      last.removed.map(_.path).sorted,
      (for (n <- 0 until 4; k <- 0 until each) yield s"$n.$k").toVector.sorted
    )
    assertEquals(last.removed.map(_.since), (1L to 100L).toVector)
  }

  test("a catalog of the first version is read, and its names stay") {
    val folder = Network.folder()
    val file = Paths.get(folder).resolve("_catalog/1.json")
    Files.createDirectories(file.getParent)
    Files.writeString(
      file,
      """{"version":1,"tables":[{"name":"M","id":"m","length":60,"schema":"t TIMESTAMP,v INT","time":"t",
        |"parts":[{"index":7,"pieces":["m/7"],"rows":2,"changed":1,"updated":5,"stale":[],"frozen":false}],"open":[],"aside":[],
        |"pieces":[{"folder":"m/7","rolled":false,"files":[{"name":"a.parquet","size":9,"modified":4}]}],"batches":{}}],
        |"removed":[{"folder":"m/6","since":3}]}""".stripMargin
    )
    val files = new CatalogFiles(new Path(folder), spark.sparkContext.hadoopConfiguration)
    val table = files.load()("M")
    assertEquals(table.parts.map(_.folders), Vector(Vector("m/7")))
    assertEquals(table.folders, Vector(DataFolder("m/7", rolled = false, Vector(DataFile("a.parquet", 9, 4)))))
    assertEquals(files.load().removed, Vector(RemovedFolder("m/6", 3)))
    files.commit((c, _) => (c.updated(table.updated(table.parts.head.copy(rows = 3))), ()))
    val written = Files.readString(file.resolveSibling("2.json"))
    assert(written.contains(""""parts":{"set":[{"index":7,"pieces":["m/7"],"rows":3,"""), written)
  }

  test("appends and maintenance at once") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    val pool = Executors.newFixedThreadPool(3)
    val all = (0 to 5).map(n => pool.submit((() => v.append("M", rows(spark, (n.toLong, "s", 20))): Unit): Runnable)) ++
      (0 to 1).map(_ => pool.submit((() => v.maintain(): Unit): Runnable))
    all.foreach(_.get(5, TimeUnit.MINUTES))
    pool.shutdown()
    v.maintain()
    val first = v.parts("Helper").head().getLong(0) - Begin
    assertEquals(texts(v.read("Helper").select("ct")), (first to 5).map(m => s"[${m - first + 1}]").sorted)
  }

  test("folders that no part uses are deleted after some time, and no others") {
    val folder = Network.folder()
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    v.sql(Helper)
    v.append("M", rows(spark, (0, "s", 20), (1, "s", 20)))
    v.maintain()
    val replaced = v.read("Helper", Begin)
    v.append("M", rows(spark, (0, "x", 20)))
    v.maintain() // replaces the first part of the helper
    rows(spark, (0, "s", 20)).write.parquet(s"$folder/Helper/left")
    val temporary = Paths.get(folder, "_catalog", ".left.tmp")
    Files.createFile(temporary): Unit
    def left = Try(spark.read.parquet(s"$folder/Helper/left").count()).toOption
    val sweeper = new Sweeper(
      new CatalogFiles(new Path(folder), spark.sparkContext.hadoopConfiguration),
      new Storage(spark, new Path(folder))
    )
    sweeper.run()
    assertEquals(replaced.count(), 1L)
    sweeper.run(System.currentTimeMillis() + 2 * 3600 * 1000) // longer than replaced folders are kept
    assert(Try(replaced.collect()).isFailure)
    assertEquals(left, Some(1L))
    assert(Files.exists(temporary))
    sweeper.run(System.currentTimeMillis() + 48 * 3600 * 1000) // longer than folders of interrupted runs are kept
    assertEquals(left, None)
    assert(!Files.exists(temporary))
    assertEquals(texts(v.read("Helper").select("src", "ct")), Seq("[s,1]", "[s,2]", "[x,1]"))
    assertEquals(v.read("M").count(), 3L)
  }

  test("after an interruption at any operation of the file system, the next run completes") {
    CrashFileSystem.register(spark.sparkContext.hadoopConfiguration)
    val folder = s"crash://${Network.folder()}"
    def minutes(v: Views) = v.read("M").collect().map(_.getTimestamp(0).getTime / 60000 - Begin).toSet
    var cut = 0
    var point = 1
    var done = false
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    v.sql(s"$Helper; $View2")
    var minute = 0L
    while (!done) {
      CrashFileSystem.left = point
      val outcome = Try {
        v.append("M", rows(spark, (minute, "s", 20)))
        v.maintain()
      }
      done = CrashFileSystem.left >= 0
      if (done) outcome.get: Unit
      else cut += 1
      CrashFileSystem.left = Int.MaxValue
      val again = Views.open(spark, folder)
      if (!minutes(again)(minute)) again.append("M", rows(spark, (minute, "s", 20)))
      again.maintain()
      assertEquals(
        texts(again.read("View2").select("ct", "sum_loss")),
        (4L to minute + 1).map(n => s"[$n,${n * 20}]").sorted,
        clue(point)
      )
      minute += 1
      point += (if (Properties.Long) 1 else 3)
    }
    assert(cut >= 5, clue(cut))
  }
}
