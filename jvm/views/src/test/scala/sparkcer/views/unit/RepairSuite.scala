package sparkcer.views.unit

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.CountDownLatch

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{Path => Folder}

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.catalog.CatalogFiles
import sparkcer.views.maintain.{OutsideTables, QueryRunner}
import sparkcer.views.store.Storage
import sparkcer.views.testkit.Network

/** Files that are lost: what can be computed again is, and what cannot is reported. Tables without parts that change.
  */
final class RepairSuite extends SparkSuite {
  import Network._

  private def filled(folder: String): Views = {
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    v.sql(s"$Helper; $View2")
    (0 to 5).foreach(m => v.append("M", rows(spark, (m.toLong, "s", 20), (m.toLong, "x", 30))))
    v.maintain()
    v
  }

  private def parquet(folder: String, table: String): Vector[Path] = {
    val all = Files.walk(Paths.get(folder, table))
    try all.iterator.asScala.filter(_.toString.endsWith(".parquet")).toVector.sortBy(Files.getLastModifiedTime(_))
    finally all.close()
  }

  private def told(v: Views): Seq[String] = v.repair().collect().toSeq.map { r =>
    s"${r.getString(0)}[${r.getLong(1) - Begin}] ${r.getString(3)} because ${r.getString(4)}"
      .replace(s"${Begin + 2}", "2")
  }

  test("a part of a view is computed again, and those that read it are left alone") {
    val folder = Network.folder()
    val v = filled(folder)
    val (helper, view2) = (texts(v.read("Helper")), texts(v.read("View2")))
    Files.delete(parquet(folder, "Helper")(2))
    Files.write(parquet(folder, "View2").head, Array[Byte](1, 2, 3))
    val report = told(v)
    assert(report.contains("Helper[2] recomputed because its files were lost"), report)
    assert(report.contains("View2[3] recomputed because its files were lost"), report)
    assertEquals(report.filterNot(r => r.contains("recomputed") || r.contains("unchanged")), Nil)
    assertEquals((texts(v.read("Helper")), texts(v.read("View2"))), (helper, view2))
    assertEquals(told(v), Nil)
  }

  test("rows of a table are lost: this is told, and no view is computed from less") {
    val folder = Network.folder()
    val v = filled(folder)
    val helper = texts(v.read("Helper"))
    v.append("M", rows(spark, (2, "y", 5)))
    v.maintain()
    Files.delete(parquet(folder, "M")(2))
    assertEquals(told(v), Seq("M[2] lost because 2 rows were lost with their files"))
    assertEquals(texts(v.read("M", Begin + 2).select("src")), Seq("[y]"))
    assertEquals(texts(v.read("Helper")), helper)
    assert(v.explain().contains(s"  lost: 2 rows of ${Begin + 2}, with their files"), v.explain())
    assertEquals(v.parts("M").where("state = 'lost'").count(), 1L)
    v.append("M", rows(spark, (2, "z", 20)))
    assertEquals(Network.told(v.maintain()), Seq("Helper[2] frozen"))
    assertEquals(texts(v.read("Helper")), helper)
  }

  test("a damaged catalog: reading goes on, and repair makes it whole") {
    val folder = Network.folder()
    val v = filled(folder)
    val count = v.read("M").count()
    val last = Files.list(Paths.get(folder, "_catalog")).iterator.asScala.map(_.getFileName.toString).toVector
    val version = last.collect { case s"$n.json" => n.toLong }.max
    Files.writeString(Paths.get(folder, "_catalog", s"$version.json"), "")
    val again = Views.open(spark, folder)
    assertEquals(again.read("M").count(), count)
    assert(
      again
        .explain()
        .startsWith(
          s"These files of the catalog are lost or damaged: $version.json. This is version ${version - 1}, and there were versions up to $version. repair() continues from here.\n\nTable M"
        ),
      again.explain()
    )
    val report = again.repair().collect().toSeq
    assertEquals(report.head.getString(4), s"version $version of the catalog cannot be read")
    assertEquals(texts(again.read("Helper").select("ct")), (1 to 6).flatMap(n => Seq(s"[$n]", s"[$n]")).sorted)
    assertEquals(Network.told(again.maintain()), Nil)
    assertEquals(texts(v.read("Helper")), texts(again.read("Helper")))
  }

  test("a table outside of the folder: parts are recomputed when its change is told, and only those that read it") {
    val v = open(spark)
    def dimension(city: String) = spark.sql(s"SELECT 's' AS src, '$city' AS city").createOrReplaceTempView("dim")
    def cities() = texts(v.read("C").select("city")).map(_.filter(_.isLetter))
    dimension("Ulm")
    val query = "SELECT src, city FROM M[%s] JOIN dim USING (src)"
    v.sql(
      s"CREATE VIEW C AS INITIALIZE C[i] AS ${query.format("i")} UPDATE C[j] AS ${query.format("j")} PARTITION LENGTH 60; $Helper"
    )
    v.append("M", rows(spark, (0, "s", 20), (1, "s", 20)))
    v.maintain()
    dimension("Bonn")
    v.append("M", rows(spark, (1, "x", 20), (2, "s", 20)))
    v.maintain()
    assertEquals(cities(), Seq("Bonn", "Bonn", "Ulm")) // old and new, as the documentation says
    val report = v.maintain(changed = "DIM").collect().toSeq
    assertEquals(
      report.map(r => (r.getString(0), r.getLong(1) - Begin, r.getString(3), r.getString(4))).sorted,
      Seq(
        ("C", 0L, "recomputed", "DIM changed"),
        ("C", 1L, "unchanged", "DIM changed"),
        ("C", 2L, "unchanged", "DIM changed")
      )
    )
    assertEquals(cities(), Seq("Bonn", "Bonn", "Bonn"))
  }

  test("a part that was in flight when the change of a table outside was told is computed again") {
    val folder = Network.folder()
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    def dimension(city: String) = spark.sql(s"SELECT 's' AS src, '$city' AS city").createOrReplaceTempView("dim2")
    dimension("Ulm")
    spark.udf.register("waits", (x: String) => { RepairSuite.await(); x })
    val query = "SELECT waits(src) AS src, city FROM M[%s] JOIN dim2 USING (src)"
    v.sql(
      s"CREATE VIEW C AS INITIALIZE C[i] AS ${query.format("i")} UPDATE C[j] AS ${query.format("j")} PARTITION LENGTH 60"
    )
    val root = new Folder(folder)
    val storage = new Storage(spark, root)
    val outside = new OutsideTables(
      spark,
      new CatalogFiles(root, spark.sparkContext.hadoopConfiguration),
      new QueryRunner(spark, storage)
    )
    // While a part is computed from the old rows, another process changes them and tells it: first of a new part, then
    // of one that is recomputed.
    Seq("Bonn" -> Seq("[Bonn]"), "Graz" -> Seq("[Graz]", "[Graz]")).foreach { case (city, right) =>
      v.append("M", rows(spark, (0, "s", 20)))
      val gate = new RepairSuite.Gate
      RepairSuite.gate = Some(gate)
      val running = new Thread(() => v.maintain(): Unit)
      running.start()
      gate.entered.await()
      dimension(city)
      outside.changed("dim2")
      gate.open.countDown()
      running.join()
      v.maintain()
      assertEquals(texts(v.read("C").select("city")), right)
    }
  }

  test(
    "rows are lost and then appended again: parts that lacked them say so, and are computed again when this is told"
  ) {
    val folder = Network.folder()
    val v = filled(folder)
    Files.delete(parquet(folder, "M")(5))
    assertEquals(told(v), Seq("M[5] lost because 2 rows were lost with their files"))
    def states(name: String) =
      v.parts(name)
        .collect()
        .toSeq
        .map(r => (r.getLong(0) - Begin, r.getString(2), r.getAs[String]("error")))
        .filter(_._2 != "complete")
    assertEquals(states("Helper"), Nil)
    v.sql(
      "CREATE VIEW Two AS INITIALIZE Two[i] AS SELECT src, sum(loss) AS s FROM M[i-1..i] GROUP BY src " +
        "UPDATE Two[j] AS SELECT src, sum(loss) AS s FROM M[j-1..j] GROUP BY src PARTITION LENGTH 60"
    )
    v.append("M", rows(spark, (6, "s", 20), (7, "s", 20)))
    v.maintain()
    val lacking = s"computed without the lost rows of M[${Begin + 5}]"
    assertEquals(states("Two"), Seq((5L, "incomplete", lacking), (6L, "incomplete", lacking)))
    assert(v.explain().contains(s"  incomplete: ${Begin + 5}..${Begin + 6}; $lacking"), v.explain())
    assertEquals(states("Helper"), Nil) // from M[6] and Helper[5], which was computed before
    // Late rows do not make it less than it is.
    v.append("M", rows(spark, (6, "x", 1)))
    assertEquals(
      Network.told(v.maintain()).filter(_.startsWith("Two")),
      Seq("Two[6] recomputed", "Two[7] recomputed")
    )
    assertEquals(states("Two").map(_._1), Seq(5L, 6L))
    v.append("M", rows(spark, (5, "s", 20), (5, "x", 30)))
    assertEquals(Network.told(v.maintain()), Seq("Helper[5] frozen", "Two[5] recomputed", "Two[6] recomputed"))
    val report = Network.told(v.repair(restored = "m"))
    assert(report.contains("Helper[5] unchanged"), report)
    assertEquals(states("M") ++ states("Helper") ++ states("Two"), Nil)
    assert(!v.explain().contains("lost"), v.explain())
    assertEquals(texts(v.read("Two", Begin + 5).select("s")), Seq("[40]", "[60]"))
  }
}

object RepairSuite {

  /** Holds a query in the middle, once. */
  private final class Gate {
    val entered = new CountDownLatch(1)
    val open = new CountDownLatch(1)
  }
  @volatile private var gate = Option.empty[Gate]

  private def await(): Unit = gate.foreach { g =>
    gate = None
    g.entered.countDown()
    g.open.await()
  }
}
