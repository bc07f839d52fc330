package sparkcer.benchmarks

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.streaming.{StreamingQueryListener, StreamingQueryProgress}

import sparkcer._

/** Streams beside two others over the same files: one that only filters and shuffles, and one whose operator for state
  * passes events on ([[PassThrough]]). The bars are against the latter, because state itself costs as much whatever is
  * done with it; against the former there are goals.
  */
final class StreamBenchmark(run: SparkRun, rounds: Int) {
  import StreamBenchmark._

  /** @param goal
    *   against the stream without state
    * @param ours
    *   of the events
    */
  private case class Kind(
      name: String,
      filter: String,
      by: Option[String],
      goal: Double,
      watermarked: Boolean,
      ours: DataFrame => DataFrame
  ) {
    private def timed(events: DataFrame) = if (watermarked) events.withWatermark("ts", "10 seconds") else events
    def query(events: DataFrame): DataFrame = ours(timed(events))
    def stateless(events: DataFrame): DataFrame = events.where(filter).repartition(2, col("name"))
    def passThrough(events: DataFrame): DataFrame = PassThrough(timed(events), filter, by, watermarked)
  }

  private val selective =
    Kind("selective", SparkQueries.S3Filter, None, 0.8, watermarked = false, _.cer(SparkQueries.s3(1000)))
  private val watermarked = Kind(
    "selective, watermark",
    SparkQueries.S3Filter,
    None,
    0.7,
    watermarked = true,
    _.cer(SparkQueries.s3InTime("1 second"))
  )
  private val partitioned = Kind(
    "partitioned",
    SparkQueries.PartitionedFilter,
    Some("name"),
    0.6,
    watermarked = false,
    _.cer(SparkQueries.partitioned(1000))
  )

  def selective(files: StockFiles): Vector[Bar] = Vector(selective, watermarked).flatMap(large(_, files))
  def partitioned(files: StockFiles): Vector[Bar] = large(partitioned, files)

  /** Seconds of a typical micro-batch of each: the median, without the first ones of a run. They take turns; two turns
    * warm up, because a stream runs for days, and what is compared must be compiled by then.
    */
  private def seconds(warm: Int, queries: DataFrame*): Seq[Double] = {
    def one(q: DataFrame) = StreamBenchmark.seconds(run.stream(q)).drop(warm)
    val all = Vector.fill(rounds + 2)(queries.map(one)).drop(2)
    queries.indices.map(i => median(all.flatMap(_(i))))
  }

  private def large(k: Kind, files: StockFiles): Vector[Bar] = {
    val events = files.stream(run.spark)
    val took = seconds(2, k.stateless(events), k.passThrough(events), k.query(events))
    val (stateless, passing, ours) = (took(0), took(1), took(2))
    val rate = f"$ours%.2f s ours, ${files.perFile / ours / 1e6}%.2f million events/s"
    Vector(
      Bar(s"stream, ${k.name}", f"$passing%.2f s pass-through, $rate", passing / ours, 0.85, true),
      Bar(s"  without state", f"$stateless%.2f s, $rate", stateless / ours, k.goal, true, isGoal = true)
    )
  }

  /** Micro-batches of 1,000 events, in which what a micro-batch costs by itself is all that counts. */
  def small(): Vector[Bar] = {
    val files = StockFiles.temporary()
    try {
      files.write(run.spark, SmallFiles, SmallFile)
      val events = files.stream(run.spark)
      Vector(selective, watermarked, partitioned).map { k =>
        val took = seconds(5, k.passThrough(events), k.query(events))
        val (passing, ours) = (took.head, took.last)
        Bar(
          s"1,000 events, ${k.name}",
          f"${passing * 1e3}%.0f ms pass-through, ${ours * 1e3}%.0f ms ours",
          ours / passing,
          1.3,
          false
        )
      }
    } finally files.delete()
  }

  /** One key with half of all events: then one of the two tasks does most of the work, whatever the operator. */
  def hotKey(files: StockFiles): Vector[Bar] = {
    val events = files.stream(run.spark).withColumn("name", expr("IF(id % 2 = 0, 'HOT', name)"))
    val took = seconds(2, partitioned.passThrough(events), partitioned.query(events))
    val (passing, ours) = (took.head, took.last)
    Vector(
      Bar(
        "stream, half of it one key",
        f"$passing%.2f s pass-through, $ours%.2f s ours, ${files.perFile / ours / 1e6}%.2f million events/s",
        passing / ours,
        0.85,
        true
      )
    )
  }

  /** One micro-batch with ten times as many events as the others: its time for an event, and what it leaves behind. */
  def burst(): Vector[Bar] = {
    val files = StockFiles.temporary()
    val sizes = Vector.fill(2 * Usual)(BurstFile).updated(Usual, 10 * BurstFile)
    val heap = new HeapAt(Set(Usual - 1, 2 * Usual - 2))
    try {
      files.write(run.spark, sizes)
      def query =
        files.stream(run.spark).withWatermark("ts", "10 seconds").cer(SparkQueries.partitionedInTime("1 second"))
      run.stream(query): Unit // warms up
      run.spark.streams.addListener(heap)
      val all =
        try StreamBenchmark.seconds(run.stream(query))
        finally run.spark.streams.removeListener(heap)
      val (usual, ofBurst) = (median(all.slice(Warm, Usual - 1)) / BurstFile, all(Usual) / (10 * BurstFile))
      Vector(
        Bar(
          "a burst of ten times, for an event",
          f"${usual * 1e6}%.1f us an event in a micro-batch of $BurstFile%d, ${ofBurst * 1e6}%.1f us in one of ${10 * BurstFile}%d",
          ofBurst / usual,
          1.1,
          false
        ),
        Bar(
          "  heap after it",
          f"${heap.bytes.head >> 20}%d MB before the burst, ${heap.bytes.last >> 20}%d MB ${Usual - 2}%d micro-batches after it",
          heap.bytes.last.toDouble / heap.bytes.head,
          1.1,
          false
        )
      )
    } finally files.delete()
  }

  /** A million keys that are alive, against a thousand: micro-batches of events of these keys, what the heap gains from
    * one to the last of them, and the first micro-batch after a restart.
    */
  def keys(): Vector[Bar] = {
    val made = Vector(1000, Million).map { n =>
      val files = WaitingFiles.temporary()
      files.write(run.spark, n, Start, clicked(n))
      files -> n
    }
    try {
      val (few, _, _) = liveKeys(made.head._1, made.head._2)
      val (many, again, heaps) = liveKeys(made.last._1, made.last._2)
      val halves = many.splitAt(many.length / 2)
      Vector(
        Bar(
          "a million live keys",
          f"${median(few) * 1e3}%.0f ms a micro-batch of 10,000 events with 1,000 keys, ${median(many) * 1e3}%.0f ms with $Million%d",
          median(many) / median(few),
          1.3,
          false
        ),
        Bar(
          "  time of the last ones",
          f"the second half of the micro-batches against the first, with $Million%d keys",
          median(halves._2) / median(halves._1),
          1.3,
          false
        ),
        Bar(
          "  heap after the last one",
          f"${heaps.head >> 20}%d MB after one micro-batch, ${heaps.last >> 20}%d MB after the last one",
          heaps.last.toDouble / heaps.head,
          1.1,
          false
        ),
        Bar("  restart, seconds", "the first micro-batch, which loads all keys", again, 30, false)
      )
    } finally made.foreach(_._1.delete())
  }

  /** Seconds of the micro-batches, of the first one after a restart, and the heap in between. */
  private def liveKeys(files: WaitingFiles, keys: Int): (Vector[Double], Double, Vector[Long]) = {
    def stream = files.stream(run.spark).withWatermark("ts", "1 second").cer(SparkQueries.LiveKeys)
    val heap = new HeapAt(Set(Warm, WaitingFiles.Small - 1))
    var again = 0.0
    run.spark.streams.addListener(heap)
    val all =
      try
        run.stream(
          stream,
          checkpoint => {
            files.writeMore(run.spark, Start, clicked(keys))
            again = StreamBenchmark.seconds(run.stream(stream, checkpoint)).head
          }
        )
      finally run.spark.streams.removeListener(heap)
    // The first has all carts, the next ones warm up, and the heap is measured beside two.
    val measured = all.drop(1 + Warm).filterNot(p => heap.after(p.batchId) || heap.after(p.batchId - 1))
    (StreamBenchmark.seconds(measured), again, heap.bytes)
  }
}

/** Bytes in use after some of the micro-batches with events, counted from 0. */
final private class HeapAt(which: Set[Int]) extends StreamingQueryListener {
  private var seen = 0
  private val found = mutable.LinkedHashMap.empty[Long, Long]

  def bytes: Vector[Long] = synchronized(found.values.toVector)
  def after(batch: Long): Boolean = synchronized(found.contains(batch))

  override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
    if (event.progress.numInputRows > 0) synchronized {
      if (which(seen)) {
        System.gc()
        val all = Runtime.getRuntime
        found(event.progress.batchId) = all.totalMemory - all.freeMemory
      }
      seen += 1
    }
  override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()
  override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = ()
}

object StreamBenchmark {
  private val SmallFile = 1000
  private val SmallFiles = 25
  private val Million = 1000000

  /** The micro-batches before a burst, and those with it. */
  private val Usual = 8
  private val BurstFile = 50000

  /** Micro-batches that warm up. */
  private val Warm = 3

  /** The time of the first click, in seconds: all carts are opened before. */
  private val Start = 1000L

  /** A click of one of so many keys. It is here because a function of the class would take its session along. */
  private def clicked(keys: Int): Long => (String, Long) = i => ("view", i * 7919 % keys)

  def median(s: Vector[Double]): Double = s.sorted.apply(s.length / 2)

  def seconds(all: Vector[StreamingQueryProgress]): Vector[Double] =
    all.map(_.durationMs.get("triggerExecution").toDouble / 1e3)
}
