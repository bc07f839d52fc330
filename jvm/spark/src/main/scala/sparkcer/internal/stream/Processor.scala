package sparkcer.internal.stream

import org.apache.spark.sql.streaming._

import sparkcer.internal.bind.Plan
import sparkcer.internal.prepare.Event

/** Evaluates the events of a bucket, and sets timers for those that wait.
  *
  * Each micro-batch with events has a row for the first bucket, its [[sparkcer.internal.prepare.Tally]]. So at least
  * one bucket compares the checkpoint with the query, even if all keys of the micro-batch are new.
  *
  * @param oneTask
  *   whether one bucket has all keys
  * @param cacheBytes
  *   see [[EngineCache.limit]]
  */
class Processor(plan: Plan, oneTask: Boolean, cacheBytes: Option[Long])
    extends StatefulProcessor[Int, Event, StreamOutput] {
  @transient private var log: BucketLog = _

  protected def cache: EngineCache = EngineCache.here

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val buckets = if (oneTask) 1 else BucketOf.current().length
    log = new BucketLog(getHandle, LogAbout.of(plan, buckets), plan.stream.state.first)
  }

  override def handleInputRows(bucket: Int, rows: Iterator[Event], timers: TimerValues): Iterator[StreamOutput] = {
    val (events, tallies) = rows.toArray.partition(_.tally == null)
    val out = newOutput
    tallies.foreach(t => out.tally(t.tally))
    if (events.nonEmpty) work(bucket, out, timers, None)(_.read(events, watermark(timers), out)) else log.begin()
    out.result()
  }

  override def handleExpiredTimer(
      bucket: Int,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[StreamOutput] = {
    val time = expired.getExpiryTimeInMs()
    // Of two timers that fire in the same micro-batch, the later one does the work.
    if (getHandle.listTimers().exists(t => time < t && t < timers.getCurrentWatermarkInMs())) Iterator.empty
    else {
      val out = newOutput
      work(bucket, out, timers, Some(time))(_.advance(watermark(timers), out))
      out.result()
    }
  }

  private def watermarked = plan.stream.watermark.isDefined

  private def newOutput = new BucketOutput(plan.stream.lateRows, watermarked)

  /** The time before which everything is past, in microseconds. */
  private def watermark(timers: TimerValues): Long =
    if (watermarked) Processor.toMicros(timers.getCurrentWatermarkInMs()) else Long.MinValue

  private def work(bucket: Int, out: BucketOutput, timers: TimerValues, expired: Option[Long])(
      action: Bucket => Unit
  ): Unit = {
    val key = EngineCache.Key(getHandle.getQueryInfo().getRunId, plan.stream.operator, bucket)
    val head = log.open()
    val live = cache.take(key, head).getOrElse(Bucket.load(plan, log.read(), head))
    action(live)
    out.counts.buckets += 1
    if (live.isEmpty && !watermarked) {
      log.clear()
      if (bucket == Processor.First) log.begin()
    } else {
      val (piece, full) = live.save()
      live.head = log.append(piece, full, head)
      live.measure(out.counts)
      cache.put(key, live, EngineCache.limit(cacheBytes))
    }
    if (watermarked) schedule(live.wakeAt, expired, timers)
  }

  /** Sets the timers, in milliseconds, that wake the bucket as soon as the watermark reaches the first time at which
    * there is something to do. Later would be too late: Spark fails a query that returns a row which is not after the
    * watermark of the micro-batch before. Earlier does no harm: the bucket finds nothing to do yet.
    *
    * Spark 4.0 and 4.1 fire timers that are before the watermark, so there must be one a millisecond before the wanted
    * time. Later versions also fire those at the watermark, but none at or before the watermark of the micro-batch
    * before. So there must be one at the wanted time, too: a timer at the watermark would be lost if Spark is upgraded.
    *
    * @param expired
    *   the timer that fired. Spark itself removes it, and those after it that fire in the same micro-batch
    */
  private def schedule(wakeAt: Option[Long], expired: Option[Long], timers: TimerValues): Unit = {
    def isSparks(t: Long) = expired.exists(e => e <= t && t <= timers.getCurrentWatermarkInMs())
    val wanted = wakeAt.map(t => -Math.floorDiv(-t, 1000L)).toVector.flatMap(first => Vector(first - 1, first))
    val set = getHandle.listTimers().toVector
    set.filterNot(t => wanted.contains(t) || isSparks(t)).foreach(getHandle.deleteTimer)
    wanted.filterNot(set.contains).foreach(getHandle.registerTimer)
  }
}

private[sparkcer] object Processor {

  /** The bucket that exists whatever the number of buckets, see [[BucketOf.ids]]. */
  val First = 0

  /** The time before which everything is past, in microseconds, for a watermark of Spark in milliseconds: an event at
    * the watermark is past. Spark's watermark starts at 0, so events before 1970 are late.
    */
  def toMicros(millis: Long): Long = if (millis >= Long.MaxValue / 1000) Long.MaxValue else millis * 1000 + 1
}
