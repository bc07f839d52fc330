package sparkcer.views.unit

import java.sql.Timestamp

import org.apache.spark.sql.{Encoders, SQLContext}
import org.apache.spark.sql.functions.sum
import org.apache.spark.sql.streaming.Trigger

import sparkcer.internal.testkit.{Memory, SparkSuite}
import sparkcer.views.Views
import sparkcer.views.maintain.TableSink
import sparkcer.views.testkit.{Network, TestFolders}

/** A stream into a table: parts are complete after the delay, each micro-batch counts once. */
final class SinkSuite extends SparkSuite {
  import Network._

  /** Runs the body with the local property that Spark sets while a streaming query runs. */
  private def asQuery(id: String)(body: => Unit): Unit = {
    spark.sparkContext.setLocalProperty(TableSink.QueryId, id)
    try body
    finally spark.sparkContext.setLocalProperty(TableSink.QueryId, null)
  }

  test("parts are complete when the delay is over; a micro-batch that is run again changes nothing")(asQuery("q") {
    val v = open(spark)
    v.sql(Helper)
    def states() = v.parts("M").collect().toSeq.map(r => s"${r.getLong(0) - Begin} ${r.getString(2)} ${r.getLong(3)}")
    v.sink("M", "1 minute")(rows(spark, (0, "s", 20), (1, "s", 20)), 0)
    assertEquals(states(), Seq("0 open 1", "1 open 1"))
    assertEquals(v.read("M").count(), 0L)
    // The rows are five seconds after the minute: part 0 ends at 1:00, and is complete at 2:00.
    v.sink("M", "1 minute")(rows(spark, (2, "s", 20), (0, "x", 20)), 1)
    assertEquals(states(), Seq("0 complete 2", "1 open 1", "2 open 1"))
    v.sink("M", "1 minute")(rows(spark, (2, "s", 20), (0, "x", 20)), 1)
    assertEquals(states(), Seq("0 complete 2", "1 open 1", "2 open 1"))
    assertEquals(v.read("Helper").count(), 2L)
    // Late rows, and a gap.
    v.sink("M", "1 minute")(rows(spark, (5, "s", 20), (0, "y", 20)), 2)
    assertEquals(states(), Seq("0 complete 3", "1 complete 1", "2 complete 1", "3 complete 0", "5 open 1"))
    assertEquals(v.read("Helper").count(), 5L)
    v.dropParts("M", new Timestamp((Begin + 1) * 60000))
    v.sink("M", "1 minute")(rows(spark, (0, "z", 20), (1, "z", 20)), 3)
    assertEquals(states(), Seq("1 complete 2", "2 complete 1", "3 complete 0", "5 open 1", "0 aside 1"))
    assertEquals(texts(v.aside("M").select("src")), Seq("[z]"))
    assert(v.explain().contains("  kept aside: 1 row for dropped parts or too far ahead"))
  })

  test("a view that fails does not stop the stream, and is computed when it can be")(asQuery("q") {
    val v = open(spark)
    v.sql(s"$Helper; $Broken")
    def failed() = v.parts("Broken").where("state = 'failed'").collect().toSeq.map(_.getLong(0) - Begin)
    v.sink("M")(rows(spark, (0, "s", 20), (1, "s", 20)), 0)
    assertEquals(failed(), Nil)
    v.sink("M")(rows(spark, (1, "x", 0), (2, "s", 20)), 1)
    v.sink("M")(rows(spark, (3, "s", 20)), 2)
    assertEquals(failed(), Seq(1L))
    assertEquals(v.parts("M").where("state = 'complete'").count(), 3L)
    assertEquals(texts(v.read("Helper").select("ct")), Seq("[1]", "[2]", "[3]"))
    val report = v.maintain().collect()
    assertEquals(
      report.toSeq.map(r => (r.getString(0), r.getLong(1) - Begin, r.getString(3), r.getString(4))),
      Seq(("Broken", 1L, "failed", s"M[${Begin + 1}] arrived"))
    )
    val error = report.head.getAs[String]("error")
    assert(error.startsWith("[DIVIDE_BY_ZERO] Division by zero."), error)
    assert(v.explain().contains(s"  failed: ${Begin + 1} (2015-01-01 00:01:00Z): $error"), v.explain())
    // Dropping the cause is not possible here; a new definition is.
    v.sql("CREATE OR REPLACE " + Broken.stripPrefix("CREATE ").replace("100 div loss", "100 div nullif(loss, 0)"), true)
    assertEquals(
      Network.told(v.maintain()),
      (0 to 2).map(n => s"Broken[$n] ${if (n == 0) "initialized" else "updated"}")
    )
    assertEquals(failed(), Nil)
  })

  test("rows far ahead are put aside, and hurt nobody")(asQuery("q") {
    val v = open(spark)
    v.sql(Helper)
    val day = 1440L
    val now = System.currentTimeMillis() / 60000 - Begin
    v.sink("M")(rows(spark, (now - 2, "s", 20), (now + 60 * day, "s", 20), (now + 60 * day, "x", 20)), 0)
    v.sink("M")(rows(spark, (now - 1, "s", 20)), 1)
    v.sink("M")(rows(spark, (now, "s", 20), (now + day + 2, "x", 20)), 2)
    assertEquals(
      v.parts("M").collect().toSeq.map(r => (r.getLong(0) - Begin - now, r.getString(2), r.getLong(3))),
      Seq(
        (-2L, "complete", 1L),
        (-1L, "complete", 1L),
        (0L, "open", 1L),
        (60 * day, "aside", 2L),
        (day + 2, "aside", 1L)
      )
    )
    assertEquals(texts(v.read("Helper").select("ct")), Seq("[1]", "[2]"))
    assertEquals(v.aside("M").count(), 3L)
    // A table of the future says so.
    v.sink("M", ahead = Some("90 days"))(rows(spark, (now + 60 * day, "s", 20)), 3)
    assertEquals(v.parts("M").where("state = 'aside'").count(), 2L)
  })

  test("a row with a clock far behind is put aside, and a table that was idle for long goes on")(asQuery("q") {
    val v = Views.open(spark, Network.folder())
    v.createTable("M", Schema, time = "t", length = "1 second")
    def seconds(n: Long*) = rows(spark, n.map(s => (s, "s", 20)): _*)
    def states() =
      v.parts("M").groupBy("state").agg(sum("rows")).collect().map(r => r.getString(0) -> r.getLong(1)).toMap
    // The first micro-batch: the newest row counts. Then the first part does.
    v.sink("M")(seconds(-Begin, 0), 0)
    v.sink("M")(seconds(1, -Begin + 1, -1000), 1)
    assertEquals(states(), Map("aside" -> 2L, "open" -> 1L, "complete" -> 2L))
    v.sink("M")(seconds(3000), 2)
    assertEquals(states(), Map("aside" -> 2L, "open" -> 1L, "complete" -> 3L))
    assertEquals(v.aside("M").count(), 2L)
    assertEquals(v.append("M", seconds(3001)), 0L)
    assertEquals(v.parts("M").where("state = 'complete'").count(), 240061L)
  })

  test("a running stream, stopped and started again") {
    implicit val context: SQLContext = spark.sqlContext
    val memory = Memory.MemoryStream[(Timestamp, String, Int)](Encoders.product[(Timestamp, String, Int)], context)
    val checkpoint = TestFolders.make("checkpoint")
    val v = open(spark)
    v.sql(s"$Helper; $View2; ${Broken.replace("100 div loss", "100 div (loss - 20)")}")
    def run(): Unit = memory
      .toDF()
      .selectExpr("_1 AS t", "_2 AS src", "'d' AS dest", "_3 AS loss")
      .writeStream
      .foreachBatch(v.sink("M"))
      .option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow())
      .start()
      .awaitTermination()
    (0 to 3).foreach { n =>
      memory.addData((0 to 1).map(k => (new Timestamp((Begin + 2 * n + k) * 60000), "s", 20)))
      run()
    }
    assertEquals(v.parts("M").where("state = 'complete'").count(), 7L)
    assertEquals(texts(v.read("View2").select("ct")), Seq("[4]", "[5]", "[6]", "[7]"))
    // A view whose first part failed has not stopped it.
    assertEquals(
      v.parts("Broken").collect().toSeq.map(r => r.getLong(0) - Begin -> r.getString(2)),
      Seq(0L -> "failed")
    )
  }
}
