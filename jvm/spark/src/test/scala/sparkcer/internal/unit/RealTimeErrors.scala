package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}

import sparkcer._
import sparkcer.engine.error.Errors
import sparkcer.engine.testkit.ErrorCase
import sparkcer.internal.testkit.{CollectedIds, Logged}

/** The errors and warnings of streams in Real-Time Mode. */
final private[unit] class RealTimeErrors(spark: SparkSession) {
  import spark.implicits._

  private val query = "SELECT * FROM S WHERE A WITHIN 1 minute"

  private val Shortest = "spark.sql.streaming.realTimeMode.minBatchDuration"

  private def event(kind: String) = (kind, new Timestamp(1700000000000L))

  /** Runs a stream over one event. */
  private def run(matches: DataFrame => DataFrame): Unit = {
    val input = LowLatencyMemoryStream[(String, Timestamp)](spark, 1)
    spark.conf.set(Shortest, "500ms")
    val running = matches(input.toDF().toDF("type", "ts")).writeStream
      .foreach(new CollectedIds("errors"))
      .outputMode("update")
      .trigger(Trigger.RealTime("500 milliseconds"))
      .option("checkpointLocation", Files.createTempDirectory("cer").toString)
      .start()
    try {
      input.addData(Seq(event("A")))
      running.processAllAvailable()
    } catch { case e: StreamingQueryException => throw e.getCause }
    finally {
      running.stop()
      spark.conf.unset(Shortest)
    }
  }

  private def withPartitions(n: Int)(body: => Unit): Unit = {
    val before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", n.toString)
    try body
    finally spark.conf.set("spark.sql.shuffle.partitions", before)
  }

  private def error(key: String, message: String)(code: => Any): ErrorCase =
    new ErrorCase(key, s"[${Errors.condition(key)}] $message", code)

  def cases: Vector[ErrorCase] = Vector(
    error(
      "CER_REAL_TIME.RULES",
      "A set of rules cannot run in Real-Time Mode. Use another trigger, such as processingTime, or a query for each rule."
    )(run(_.cerRules(Map("one" -> query), time = "ts"))),
    error(
      "CER_REAL_TIME.SLOTS",
      "Real-Time Mode runs all parts of a stream at once and needs a slot for each input partition and each of the 4 " +
        "shuffle partitions, at least 5, but this session has 4. Start it with more, as in " +
        "SparkSession.builder.master(\"local[8]\"), or with a smaller spark.sql.shuffle.partitions and a new checkpoint."
    )(withPartitions(4)(run(_.cer(query, time = "ts"))))
  )

  def warnings: Vector[(String, String, () => Vector[String])] = Vector(
    (
      "CER_NO_WATERMARK.REAL_TIME",
      "[CER_NO_WATERMARK] This stream has no watermark and runs in Real-Time Mode, where events are read one by one as " +
        "they arrive and not in the order of time within each micro-batch. So events can be late that an ordinary " +
        "micro-batch would have put in order. If events can come out of order, add withWatermark on their TIMESTAMP " +
        "column before the query; observedMetrics counts late events, and late='rows' shows them.",
      () => Logged.during("sparkcer")(run(_.cer(query, time = "ts")))
    )
  )
}
