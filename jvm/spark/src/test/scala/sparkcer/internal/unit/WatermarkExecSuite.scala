package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.Trigger

import sparkcer._
import sparkcer.internal.testkit.SparkSuite

/** Our operator for watermarks sees the times that Spark's own sees: of events that are dropped, and of those without a
  * time, too.
  */
class WatermarkExecSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  /** Files in which few events meet a condition, and the earliest and the latest meet none. */
  private val folder = {
    val path = Files.createTempDirectory("cer").toString
    def at(millis: Long) = new Timestamp(1700000000000L + millis)
    for (file <- 0 until 3) {
      val from = file * 100000L
      val events = (0 until 400).map(i => (if (i % 50 == 25) "A" else s"X${i % 3}", at(from + i * 250), i, "k")) :+
        (("A", null, -1, "k"))
      events
        .toDF("type", "ts", "id", "key")
        .repartition(1)
        .sortWithinPartitions("id")
        .write
        .mode("append")
        .parquet(path)
    }
    path
  }

  /** The times of each micro-batch, as Spark reports them. */
  private def times(query: DataFrame => DataFrame): Vector[Map[String, String]] = {
    val schema = "type STRING, ts TIMESTAMP, id INT, key STRING"
    val events = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)
    val running = query(events.withWatermark("ts", "10 seconds")).writeStream
      .format("noop")
      .option("checkpointLocation", Files.createTempDirectory("cer").toString)
      .trigger(Trigger.AvailableNow())
      .start()
    running.awaitTermination()
    running.recentProgress.toVector.map(_.eventTime.asScala.toMap)
  }

  private val text = "SELECT * FROM S WHERE A ; B PARTITION BY [key] WITHIN 5 seconds"

  test("the times of all events count, in rows, in columns with dictionaries, and after a projection") {
    val sparks = times(_.groupBy("ts").count())
    assertEquals(sparks.count(_.contains("max")), 3)
    assertEquals(times(_.cer(text)), sparks)
    assertEquals(times(_.cer(text.replace("A ; B", "(A AS x ; B) FILTER x[id > 1]"))), sparks)
    assertEquals(times(_.selectExpr("type", "ts", "upper(key) AS key").cer(text)), sparks)
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    try assertEquals(times(_.cer(text)), sparks)
    finally spark.conf.unset("spark.sql.codegen.wholeStage")
  }
}
