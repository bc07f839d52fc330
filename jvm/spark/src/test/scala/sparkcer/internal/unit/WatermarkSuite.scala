package sparkcer.internal.unit

import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, Row, SQLContext}
import org.apache.spark.sql.cerbridge.Plans

import sparkcer._
import sparkcer.internal.bind.Binding
import sparkcer.internal.testkit.{Logged, SparkSuite}
import sparkcer.internal.testkit.Memory.MemoryStream

/** Times at, just before and just after Spark's watermark. Spark fails a query that puts out a row whose event time is
  * not after the watermark of the micro-batch before, so every held event must come out in time, whatever bucket it
  * waits in.
  */
class WatermarkSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def event(kind: String, millis: Long, key: String) = (kind, new Timestamp(1700000000000L + millis), key)

  /** Pairs `A ; B` of a stream with a delay of ten seconds: keys, and how many events were late. */
  private def run(batches: Seq[(String, Timestamp, String)]*): (Seq[String], Long) = {
    val (found, metrics) = observed(batches: _*)
    (found, metrics.map(_.getAs[Long]("late")).sum)
  }

  /** The same, with the metrics of all micro-batches. */
  private def observed(batches: Seq[(String, Timestamp, String)]*): (Seq[String], Seq[Row]) = {
    val input = MemoryStream[(String, Timestamp, String)]
    val name = "w" + java.util.UUID.randomUUID().toString.replace("-", "")
    val running = input
      .toDF()
      .toDF("type", "ts", "key")
      .withWatermark("ts", "10 seconds")
      .cer("SELECT * FROM S WHERE A ; B PARTITION BY [key] WITHIN 5 seconds")
      .writeStream
      .format("memory")
      .queryName(name)
      .start()
    try {
      batches.foreach { b => input.addData(b: _*); running.processAllAvailable() }
      val metrics = running.recentProgress.toSeq.flatMap(_.observedMetrics.values.toArray.map(_.asInstanceOf[Row]))
      (spark.table(name).select("key").as[String].collect().toSeq.sorted, metrics)
    } finally running.stop()
  }

  private val keys = (0 until 8).map(i => s"k$i")
  private def tick(millis: Long) = Seq(event("X", millis, "k0"))

  test("events that wait come out in time, at every distance from the watermark") {
    // With these, the watermark is 20 s; what waits ends 2 ms before it to 2 ms after it.
    val waiting = Seq(-2L, -1, 0, 1, 2).zip(keys).flatMap { case (d, k) =>
      Seq(event("A", 19000, k), event("B", 20000 + d, k))
    }
    val said = Logged.during("") {
      assertEquals(run(waiting, tick(30000), tick(30001), tick(30001), tick(60000), tick(60001)), (keys.take(5), 0L))
    }
    assertEquals(said.filter(_.contains("timer for key")), Vector.empty) // set twice, or taken away twice
  }

  test("a bucket is counted once in a micro-batch, however many of its timers fire") {
    // The watermark comes to lie at the time of one of the events that wait, and around it.
    val waiting = Seq(20000L, 20001L, 20002L).map(event("A", _, "k0"))
    val (_, metrics) = observed(waiting +: Seq(30000L, 30001L, 30002L, 30003L).map(tick): _*)
    assert(metrics.count(_.getAs[Long]("keys") > 0) >= 2, metrics)
    metrics.foreach(m => assert(m.getAs[Long]("buckets") <= 1 && m.getAs[Long]("keys") <= 1, m))
  }

  test("an event behind the watermark is late, also where its bucket has heard nothing") {
    val early = keys.map(k => event("A", 1000, k))
    val tooLate = keys.map(k => event("B", 1500, k))
    assertEquals(run(early, tick(100000), tick(100001), tooLate, tick(200000), tick(200001)), (Nil, 8L))
    // Here the buckets do not know how far time has come, apart from what Spark says.
    val all = tooLate ++ keys.map(k => event("A", 1400, k))
    assertEquals(run(tick(100000), tick(100001), all, tick(200000), tick(200001)), (Nil, 16L))
  }

  test("Spark's watermark starts at 1970, and what is before it is late") {
    val long = -1700000000000L
    val old = Seq(event("A", long - 2000, "k0"), event("B", long, "k0"))
    val young = Seq(event("A", long + 10, "k1"), event("B", long + 20, "k1"))
    assertEquals(run(old ++ young, tick(0), tick(1)), (Seq("k1"), 2L))
  }

  test("a watermark that Spark notes elsewhere is not overlooked") {
    val stream = MemoryStream[(String, Timestamp, String)].toDF().withWatermark("_2", "10 seconds")
    Binding.checkWatermarks(Plans.planOf(stream), Binding.WatermarkDelay)
    assertEquals(
      intercept[AnalysisException](Binding.checkWatermarks(Plans.planOf(stream), "another.key")).getMessage,
      "[CER_WATERMARK] This Spark does not note the watermark on '_2' as 'another.key' in the metadata of the column, where spark-cer looks for it. Use a Spark that this spark-cer is made for."
    )
  }
}
