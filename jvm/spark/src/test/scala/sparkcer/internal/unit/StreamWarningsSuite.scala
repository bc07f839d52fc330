package sparkcer.internal.unit

import java.sql.Timestamp

import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.cerbridge.Listeners

import sparkcer._
import sparkcer.internal.testkit.{Logged, SparkSuite}
import sparkcer.internal.testkit.Memory.MemoryStream

/** What the log says of streams that may lose events. */
class StreamWarningsSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private val query = "SELECT * FROM S WHERE A ; B PARTITION BY [key] WITHIN 5 seconds"
  private val advice =
    "If events can come out of order, add withWatermark(\"ts\", \"10 minutes\") before the query; the query then waits for events that come so much later."

  private def event(kind: String, seconds: Long) = (kind, new Timestamp(1700000000000L + 1000 * seconds), "k")

  test("without a watermark: once at the start, and once when the first event is late") {
    val input = MemoryStream[(String, Timestamp, String)]
    val events = input.toDF().toDF("type", "ts", "key")
    val said = Logged.during("sparkcer") {
      val running = events.cer(query, time = "ts", idle = "1 day").writeStream.format("noop").start()
      Seq(Seq(event("A", 100)), Seq(event("B", 90), event("B", 91)), Seq(event("B", 92))).foreach { part =>
        input.addData(part: _*)
        running.processAllAvailable()
      }
      running.stop()
      Listeners.waitForAll(spark)
    }
    assertEquals(
      said,
      Vector(
        s"[CER_NO_WATERMARK] This stream has no watermark on its time column 'ts': an event that is older than the last one of its key is late, and is left out. $advice",
        s"[CER_NO_WATERMARK] The first late events of a stream without a watermark: 2 were left out of micro-batch 1. $advice observedMetrics counts them, and late='rows' shows them."
      )
    )
  }

  test("a time that is no timestamp cannot have a watermark") {
    val events = MemoryStream[(String, Long)].toDF().toDF("type", "t")
    val said = Logged.during("sparkcer") {
      events.cer("SELECT * FROM S WHERE A ; B WITHIN 5 [t]", time = "t"): Unit
    }
    assertEquals(
      said,
      Vector(
        "[CER_NO_WATERMARK] This stream has no watermark on its time column 't': an event that is older than the last one of its key is late, and is left out. If events can come out of order, give them their time as a TIMESTAMP column, name it with time=, and add withWatermark on it before the query; the query then waits for events that come so much later."
      )
    )
  }

  test("with a watermark there is nothing to say") {
    val events = MemoryStream[(String, Timestamp, String)].toDF().toDF("type", "ts", "key")
    assertEquals(Logged.during("sparkcer")(events.withWatermark("ts", "1 minute").cer(query): Unit), Vector.empty)
  }
}
