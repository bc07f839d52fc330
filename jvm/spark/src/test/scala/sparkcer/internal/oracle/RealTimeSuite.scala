package sparkcer.internal.oracle

import java.nio.file.{Files, Path}
import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import sparkcer._
import sparkcer.internal.testkit.{CollectedIds, SparkSuite}

/** Streams in Spark's Real-Time Mode against the same query in batch. */
class RealTimeSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private type Event = (String, Timestamp, String, Int)
  private def columns(df: DataFrame) = df.toDF("type", "ts", "key", "id")

  private val query =
    "SELECT * FROM S WHERE A AS x ; B AS y ; C AS z FILTER y[id % 3 > 0] PARTITION BY [key] WITHIN 10 seconds"

  /** Five events each second, which arrive out of order by up to so many places. */
  private def random(n: Int, shuffled: Double): Vector[Event] = {
    val rng = new scala.util.Random(11)
    val all = Vector.tabulate[Event](n) { i =>
      (rng.shuffle(Seq("A", "B", "C", "X")).head, new Timestamp(1700000000000L + 200L * i), s"k${rng.nextInt(4)}", i)
    }
    all.zipWithIndex.sortBy { case (_, i) => i + rng.nextDouble() * shuffled }.map(_._1)
  }

  private def inBatch(events: Seq[Event], query: String = query): Seq[String] =
    columns(events.toDF()).cer(query, time = "ts").select("match_id").as[String].collect().toSeq.sorted

  /** A stream that collects its matches under this name. */
  private def start(matches: DataFrame, name: String, checkpoint: Path): StreamingQuery =
    matches.writeStream
      .foreach(new CollectedIds(name))
      .outputMode("update")
      .trigger(Trigger.RealTime("2 seconds"))
      .option("checkpointLocation", checkpoint.toString)
      .start()

  private def metrics(running: StreamingQuery): Seq[Row] =
    running.recentProgress.toSeq.flatMap(_.observedMetrics.values.asScala).filter(_ != null)

  private def sum(of: Seq[Row], name: String): Long = of.map(_.getAs[Long](name)).sum

  /** Runs a stream over the parts, waiting after each of them. The matches and the metrics. */
  private def run(name: String, parts: Seq[Seq[Event]], query: String = query)(
      prepared: DataFrame => DataFrame
  ): (Seq[String], Seq[Row]) = withLowLimits {
    val input = LowLatencyMemoryStream[Event](spark, 1)
    val running = start(prepared(columns(input.toDF())).cer(query, time = "ts"), name, Files.createTempDirectory("cer"))
    try {
      parts.foreach { p => input.addData(p); running.processAllAvailable() }
      val all = parts.map(_.length.toLong).sum
      val deadline = System.nanoTime() + 60L * 1000 * 1000 * 1000
      // The progress of the last micro-batch comes after its rows.
      while (sum(metrics(running), "input") < all && System.nanoTime() < deadline) Thread.sleep(50)
      (CollectedIds(name), metrics(running))
    } finally running.stop()
  }

  /** Batches may be shorter than five seconds. */
  private def withLowLimits[A](body: => A): A = {
    var result: Option[A] = None
    withConf("spark.sql.streaming.realTimeMode.minBatchDuration" -> "500ms") { result = Some(body) }
    result.get
  }

  /** Waits until so many different matches are there. */
  private def awaitMatches(name: String, n: Int, running: StreamingQuery): Seq[String] = {
    val deadline = System.nanoTime() + 60L * 1000 * 1000 * 1000
    def found = CollectedIds(name).distinct
    while (found.length < n && running.isActive && System.nanoTime() < deadline) Thread.sleep(100)
    running.exception.foreach(throw _)
    found
  }

  test("in the order of arrival, the matches are those of a batch, and metrics are those of a micro-batch") {
    val events = random(300, shuffled = 0)
    val (found, seen) = run("rt_arrival", events.grouped(100).toSeq)(identity)
    assertEquals(found, inBatch(events))
    assert(found.length > 20, found.length)
    assertEquals(sum(seen, "late"), 0L)
    assertEquals(sum(seen, "input"), 300L)
    assertEquals(sum(seen, "events") + sum(seen, "dropped"), 300L)
    assertEquals(sum(seen, "matches"), found.length.toLong)
    // Each bucket is counted once in a micro-batch, and not once for each event.
    seen.foreach(m => assert(m.getAs[Long]("buckets") <= 2 && m.getAs[Long]("keys") <= 4, m))
    assertEquals(seen.map(_.getAs[Long]("keys")).max, 4L)
  }

  test("without a key, in one bucket; and events that have no key, no time or no use are counted") {
    val one = "SELECT * FROM S WHERE A AS x ; B AS y WITHIN 3 seconds CONSUME BY ANY"
    val events = random(200, shuffled = 0)
    val (found, seen) = run("rt_one", Seq(events), one)(identity)
    assertEquals(found, inBatch(events, one))
    assert(found.length > 20, found.length)
    assertEquals(seen.map(_.getAs[Long]("buckets")).max, 1L)
    val odd = events :+ (("A", null, "k0", 900)) :+ (("A", new Timestamp(1700000999000L), null, 901))
    val (_, counted) = run("rt_odd", Seq(odd))(identity)
    assertEquals(Seq("input", "nullTimes", "nullKeys").map(sum(counted, _)), Seq(202L, 1L, 1L))
  }

  // The partitions of a memory stream drift apart by what is added at once, which is twelve seconds.
  test("with a watermark, events may come out of order within its delay") {
    val events = random(300, shuffled = 8)
    // They have no match, and move the watermark past all others.
    def tick(minutes: Int): Event = ("X", new Timestamp(1700000000000L + 60000L * minutes), "k0", 1000 + minutes)
    val expected = inBatch(events)
    withLowLimits {
      val input = LowLatencyMemoryStream[Event](spark, 2)
      val matches = columns(input.toDF()).withWatermark("ts", "30 seconds").cer(query, time = "ts")
      val running = start(matches, "rt_watermark", Files.createTempDirectory("cer"))
      try {
        events.grouped(60).foreach { p => input.addData(p); running.processAllAvailable() }
        input.addData(Seq(tick(100)))
        assertEquals(awaitMatches("rt_watermark", expected.length, running), expected)
        assertEquals(sum(metrics(running), "late"), 0L)
        // Nor does one come afterwards, or twice.
        running.stop()
        assertEquals(CollectedIds("rt_watermark"), expected)
      } finally running.stop()
    }
  }

  test("after a stop in the middle of a micro-batch, nothing is lost, and match_id tells what came twice") {
    val events = random(300, shuffled = 0)
    val expected = inBatch(events)
    val checkpoint = Files.createTempDirectory("cer")
    withLowLimits {
      val input = LowLatencyMemoryStream[Event](spark, 1)
      def again(name: String) = start(columns(input.toDF()).cer(query, time = "ts"), name, checkpoint)
      val found = events.grouped(100).toSeq.zipWithIndex.flatMap { case (part, i) =>
        val running = again(s"rt_stop$i")
        input.addData(part.take(50))
        running.processAllAvailable() // a micro-batch has ended
        input.addData(part.drop(50))
        Thread.sleep(700) // and another one has read some of these
        running.stop()
        CollectedIds(s"rt_stop$i")
      }
      val last = again("rt_stop_last")
      try {
        last.processAllAvailable()
        val all = found ++ CollectedIds("rt_stop_last")
        assertEquals(all.distinct.sorted, expected)
      } finally last.stop()
    }
  }
}
