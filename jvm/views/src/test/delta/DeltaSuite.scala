package sparkcer.views

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.{AnalysisException, DataFrame}

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.Network

/** Tables and views that are read as Delta tables have the same rows. */
class DeltaSuite extends SparkSuite {
  private def rows(df: DataFrame): Seq[String] =
    df.select(df.columns.sorted.map(df(_)).toIndexedSeq: _*).collect().map(_.toString).sorted.toSeq

  private def delta(root: String, name: String, version: Option[Long] = None): DataFrame = {
    val reader = spark.read.format("delta")
    version.fold(reader)(v => reader.option("versionAsOf", v)).load(s"$root/$name")
  }

  private def same(root: String, v: Views): Unit =
    for (name <- Seq("M", "Helper", "View2")) assertEquals(rows(delta(root, name)), rows(v.read(name)), name)

  private def minute(n: Int): Seq[(String, Int)] =
    Seq("b", "c", "d").map(d => d -> (if ((n + d.head) % 7 == 0) 3 else 12 + n))

  private def append(v: Views, n: Int, losses: Seq[(String, Int)]): Unit = {
    val rows = spark
      .createDataFrame(losses)
      .toDF("dest", "loss")
      .selectExpr(s"timestamp_seconds(${(Network.Begin + n) * 60}) AS t", "'a' AS src", "dest", "loss")
    assertEquals(v.append("M", rows), 0L, "rows put aside")
  }

  private def network(root: String): Views = {
    val v = Views.open(spark, root)
    v.createTable("M", Network.Schema, time = "t", length = "1 minute")
    append(v, 0, minute(0))
    v.sql(s"${Network.Helper}; ${Network.View2}")
    v
  }

  private def minutes(v: Views, n: scala.collection.immutable.Range): Unit = n.foreach { i =>
    append(v, i, minute(i))
    v.maintain()
  }

  test("tables and views are Delta tables, of which each version stays") {
    val root = Network.folder()
    val v = network(root)
    v.maintain()
    same(root, v)
    val first = rows(v.read("M"))
    // A checkpoint is made of the tenth version.
    minutes(v, 1 to 11)
    same(root, v)
    assert(rows(v.read("View2")).nonEmpty)
    assertEquals(rows(delta(root, "M", Some(0))), first)
    append(v, 3, Seq("e" -> 40, "b" -> 50))
    v.maintain()
    same(root, v)
    v.dropParts("M", v.timestamp("2015-01-01 00:02:00"))
    v.maintain()
    same(root, v)
    assertEquals(delta(root, "M").where("PART_TIMESTAMP < '2015-01-01 00:02:00'").count(), 0L)
  }

  test("another process goes on, from a checkpoint and after a crash") {
    val root = Network.folder()
    val v = network(root)
    minutes(v, 1 to 11)
    (0 to 9).foreach(n => Files.delete(Paths.get(root, "M", "_delta_log", f"$n%020d.json")))
    // The catalog has this part, but the log does not.
    append(v, 12, minute(12))
    val again = Views.open(spark, root)
    again.maintain()
    same(root, again)
    v.maintain()
    same(root, v)
    append(v, 13, minute(13))
    v.maintain()
    again.maintain()
    same(root, again)
  }

  test("a table of the same name as a dropped one, and one without Delta") {
    val root = Network.folder()
    val v = Views.open(spark, root)
    v.createTable("M", Network.Schema, time = "t", length = "1 minute")
    append(v, 0, minute(0))
    v.maintain()
    v.drop("M")
    v.maintain()
    assert(!Files.exists(Paths.get(root, "M", "_delta_log")))
    v.createTable("M", "t TIMESTAMP_NTZ, x BIGINT", time = "t", length = "1 minute")
    v.append("M", spark.sql("SELECT timestamp_ntz'2015-01-01 00:00:30' AS t, 7L AS x"))
    v.createTable("Odd", "t TIMESTAMP, `a b` INT", time = "t", length = "1 minute")
    v.maintain()
    assertEquals(rows(delta(root, "M")), rows(v.read("M")))
    assert(!Files.exists(Paths.get(root, "Odd", "_delta_log")))
  }

  test("roll-up is refused") {
    val v = Network.open(spark)
    append(v, 0, minute(0))
    assertEquals(
      intercept[AnalysisException](v.rollUp("M", v.timestamp("2015-01-01 01:00:00"), "1 hour")).getMessage,
      "[CER_VIEW_CATALOG] M cannot be rolled up if Delta is available in the session: its parts are the partitions of a Delta table, and a file cannot have rows of several partitions."
    )
  }
}
