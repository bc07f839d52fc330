package sparkcer.internal.stream

import org.apache.spark.sql.{Column, Dataset, DataFrame, Encoder, Encoders, SparkSession}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.{Bridge, CerException}
import org.apache.spark.sql.catalyst.expressions.KnownNotNull
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types.MetadataBuilder

import sparkcer.internal.bind.Binding
import sparkcer.internal.output.{BucketOutput, Plan, StreamOutput}
import sparkcer.internal.prepare.{BucketOf, Event}

/** A query over a stream, on `transformWithState`.
  *
  * Events are grouped by *bucket*, a part of the keys, and not by key with `flatMapGroupsWithState` as one would
  * expect: a state store entry for every key costs more than the evaluation. A bucket's engine stays alive between
  * micro-batches ([[EngineCache]]), and each micro-batch appends what it changed to the bucket's log ([[BucketLog]]).
  */
object Stream {

  private val Provider = "spark.sql.streaming.stateStore.providerClass"
  private val RocksDb = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  /** Columns `row` (a match), `end` (its end, with the watermark, if there is one) and `late` (an event that came too
    * late, if those are asked for).
    */
  def matches(events: Dataset[Event], plan: Plan, oneTask: Boolean, spark: SparkSession): DataFrame = {
    checkStore(spark)
    implicit val event: Encoder[Event] = Encoders.product[Event]
    implicit val ints: Encoder[Int] = Encoders.scalaInt
    implicit val output: Encoder[StreamOutput] = Encoders.product[StreamOutput]
    val processor = new Processor(plan, oneTask, spark.conf.getOption(CacheBytes).map(_.toLong))
    Bridge.listen(spark, EngineCache.Ended)
    val ofKey = Bridge.column(BucketOf(Bridge.expression(hash(col("key")))))
    val first = lit(Processor.First)
    val grouped = events
      .withColumn("bucket", if (oneTask) first else when(col("payload").isNull, first).otherwise(ofKey))
      .groupBy("bucket") // groupByKey with a function would make an object of every event before the shuffle, too
      .as[Int, Event]
    val rows =
      if (plan.delay.isEmpty) grouped.transformWithState(processor, TimeMode.None(), OutputMode.Append())
      else if (plan.chained) grouped.transformWithState(processor, TimeMode.EventTime(), OutputMode.Append())
      else grouped.transformWithState(processor, "end", OutputMode.Append())
    rows
      .toDF()
      .observe(plan.metrics, measures.head, measures.tail: _*)
      .where("counts IS NULL")
      .select(col("row"), endOf(plan), col("late"))
  }

  /** The end of a match, with the watermark. From a source, Spark itself puts it there, and fails the query if a row is
    * not after the watermark of the micro-batch before. Behind another operator with state that must not happen to a
    * match of events that came so late from there, of which only Spark knows that they did. As in a batch, only the
    * rows of late events have none.
    */
  private def endOf(plan: Plan): Column = plan.delay.fold(col("end")) { delay =>
    val watermark = new MetadataBuilder().putLong(Binding.WatermarkDelay, delay / 1000).build()
    val end = if (plan.lateRows) col("end") else Bridge.column(KnownNotNull(Bridge.expression(col("end"))))
    end.as("end", watermark)
  }

  private val CacheBytes = "spark.cer.engineCacheBytes"

  private val measures = Seq(
    "input",
    "dropped",
    "nullKeys",
    "nullTimes",
    "events",
    "matches",
    "late",
    "idle",
    "buckets",
    "held",
    "keys",
    "nodes",
    "bytes"
  ).map(n => coalesce(sum(col(s"counts.$n")), lit(0L)).as(n)) :+ coalesce(max(col("counts.largest")), lit(0L))
    .as("largest")

  private def checkStore(spark: SparkSession): Unit =
    if (!spark.conf.get(Provider, "").endsWith("RocksDBStateStoreProvider"))
      throw new CerException(
        "CER_STATE_STORE",
        s"""[CER_STATE_STORE] A query over a stream keeps its state in RocksDB. Start the session with spark_cer.session(), or add this line before the query starts:
           |spark.conf.set("$Provider", "$RocksDb")""".stripMargin
      )
}

/** Evaluates the events of a bucket, and wakes up for those that wait.
  *
  * Each micro-batch that has events has something for the first bucket: the tallies, see [[Tally]]. So whatever else it
  * brings, it is compared once with what the checkpoint was written for, also where all of its keys are new.
  *
  * @param oneTask
  *   whether one bucket has all keys
  * @param cacheBytes
  *   see [[EngineCache.limit]]
  */
final class Processor(plan: Plan, oneTask: Boolean, cacheBytes: Option[Long])
    extends StatefulProcessor[Int, Event, StreamOutput] {
  @transient private var log: BucketLog = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val buckets = if (oneTask) 1 else BucketOf.current().length
    log = new BucketLog(getHandle, LogAbout.of(plan, buckets), plan.first)
  }

  override def handleInputRows(bucket: Int, rows: Iterator[Event], timers: TimerValues): Iterator[StreamOutput] = {
    val (events, tallies) = rows.toArray.partition(_.payload != null)
    val out = newOutput
    tallies.foreach(out.tally)
    if (events.nonEmpty) work(bucket, out, timers, None)(_.read(events, watermark(timers), out)) else log.begin()
    out.result()
  }

  override def handleExpiredTimer(
      bucket: Int,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[StreamOutput] = {
    val out = newOutput
    work(bucket, out, timers, Some(expired.getExpiryTimeInMs()))(_.advance(watermark(timers), out))
    out.result()
  }

  private def newOutput = new BucketOutput(plan.lateRows, plan.delay.isDefined)

  /** The time before which everything is past, in microseconds. */
  private def watermark(timers: TimerValues): Long =
    if (plan.delay.isEmpty) Long.MinValue else Processor.toMicros(timers.getCurrentWatermarkInMs())

  private def work(bucket: Int, out: BucketOutput, timers: TimerValues, expired: Option[Long])(
      action: Bucket => Unit
  ): Unit = {
    val key = EngineCache.Key(getHandle.getQueryInfo().getRunId, plan.operator, bucket)
    val head = log.open()
    val live = EngineCache.here.take(key, head).getOrElse(Bucket.load(plan, log.read(), head))
    action(live)
    out.counts.buckets += 1
    if (live.isEmpty && plan.delay.isEmpty) {
      log.clear()
      if (bucket == Processor.First) log.begin()
    } else {
      val (piece, full) = live.save()
      live.head = log.append(piece, full, head)
      live.measure(out.counts)
      EngineCache.here.put(key, live, EngineCache.limit(cacheBytes))
    }
    if (plan.delay.isDefined) schedule(live.wakeAt, expired, timers.getCurrentWatermarkInMs())
  }

  /** Timers, in milliseconds, so that the bucket is awake as soon as the watermark is at the first time at which there
    * is something to do. It must not be later: Spark fails a query that puts out a row which is not after the watermark
    * of the micro-batch before. Nor earlier by more than a look: what is not past yet may still come.
    *
    * Spark 4.0 and 4.1 wake timers before the watermark, later ones also those at it, but none that is set at or before
    * the watermark in force. One timer, a millisecond before that time, serves both; where that is the watermark in
    * force, a second one at that time is for the later ones.
    *
    * @param expired
    *   the timer that rang, which is still set, and which Spark itself takes away: it would not ring again
    * @param inForce
    *   Spark's watermark, in milliseconds
    */
  private def schedule(wakeAt: Option[Long], expired: Option[Long], inForce: Long): Unit = {
    val wanted = wakeAt.map(t => -Math.floorDiv(-t, 1000L)).toVector.flatMap { first =>
      if (first - 1 > inForce) Vector(first - 1) else Vector(first - 1, first)
    }
    val set = getHandle.listTimers().toVector
    set.filterNot(t => wanted.contains(t) || expired.contains(t)).foreach(getHandle.deleteTimer)
    wanted.filterNot(set.contains).foreach(getHandle.registerTimer)
  }
}

private[sparkcer] object Processor {

  /** The one bucket that there is whatever their number, see [[Bucket.ids]]. */
  val First = 0

  /** The time before which everything is past, for a watermark of Spark's, to which it belongs itself. It starts at 0,
    * where Spark takes no rows from before: events before 1970 are late.
    */
  def toMicros(millis: Long): Long = if (millis >= Long.MaxValue / 1000) Long.MaxValue else millis * 1000 + 1
}
