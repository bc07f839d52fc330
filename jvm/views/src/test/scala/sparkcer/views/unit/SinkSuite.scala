package sparkcer.views.unit

import java.sql.Timestamp
import java.nio.file.Files

import org.apache.spark.sql.{Encoders, SQLContext}
import org.apache.spark.sql.streaming.Trigger

import sparkcer.internal.testkit.{Memory, SparkSuite}
import sparkcer.views.maintain.TableSink
import sparkcer.views.testkit.Network

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
    assert(v.explain().contains("  kept aside: 1 row that arrived for dropped parts"))
  })

  test("a running stream, stopped and started again") {
    implicit val context: SQLContext = spark.sqlContext
    val memory = Memory.MemoryStream[(Timestamp, String, Int)](Encoders.product[(Timestamp, String, Int)], context)
    val checkpoint = Files.createTempDirectory("checkpoint").toString
    val v = open(spark)
    v.sql(s"$Helper; $View2")
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
  }
}
