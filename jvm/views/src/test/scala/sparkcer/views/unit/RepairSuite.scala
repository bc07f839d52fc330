package sparkcer.views.unit

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
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
}
