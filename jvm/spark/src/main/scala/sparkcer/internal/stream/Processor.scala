package sparkcer.internal.stream

import java.util.UUID

import scala.collection.mutable
import scala.reflect.ClassTag

import org.apache.spark.sql.streaming._

import sparkcer.internal.bind.{Plan, PlannedStream}
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
abstract class BucketProcessor[E: ClassTag, B <: LiveBucket[E]](
    stream: PlannedStream,
    oneTask: Boolean,
    cacheBytes: Option[Long]
) extends StatefulProcessor[Int, E, StreamOutput]
    with HasRealTimeForm {
  @transient private[stream] var log: BucketLog = _

  /** The buckets that were worked on in this micro-batch. Spark has a new processor for each task. */
  @transient private var visited: mutable.Set[Int] = _

  /** What a log is written for that begins now. */
  protected def about(buckets: Int): LogAbout

  /** The bucket that a log describes. */
  protected def load(pieces: Vector[Array[Byte]], head: LogHead): B

  /** The numbers of a [[sparkcer.internal.prepare.Tally]], or null for an event. None at all visit a bucket that has
    * something to drop, perhaps.
    */
  private[sparkcer] def tallyOf(row: E): Array[Long]

  def inRealTime: RealTimeProcessor[E, B] = new RealTimeProcessor(this)

  protected def cache: EngineCache = EngineCache.here

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val buckets = if (oneTask) 1 else BucketOf.current().length
    log = new BucketLog(getHandle, about(buckets), stream.state.first)
    visited = mutable.Set.empty
  }

  override def handleInputRows(bucket: Int, rows: Iterator[E], timers: TimerValues): Iterator[StreamOutput] = {
    val out = newOutput
    val read = Array.newBuilder[E]
    var (counted, visits) = (false, false)
    while (rows.hasNext) {
      val row = rows.next()
      val numbers = tallyOf(row)
      if (numbers == null) read += row: Unit
      else if (numbers.isEmpty) visits = true
      else { out.tally(numbers); counted = true }
    }
    val events = read.result()
    if (events.nonEmpty || visits && log.open() != LogHead.Empty)
      work(bucket, out, timers, None)(_.read(events, watermark(timers), out))
    else if (counted) log.begin()
    out.result()
  }

  override def handleExpiredTimer(
      bucket: Int,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[StreamOutput] = {
    // The watermark is the same for all of the micro-batch: there is nothing more to do, nor to count once more.
    if (visited(bucket)) Iterator.empty
    else {
      val out = newOutput
      work(bucket, out, timers, Some(expired.getExpiryTimeInMs()))(_.advance(watermark(timers), out))
      out.result()
    }
  }

  def watermarked: Boolean = stream.watermark.isDefined

  def name: String = stream.operator

  private[stream] def newOutput = new BucketOutput(stream.lateRows, watermarked)

  /** The time before which everything is past, in microseconds. */
  private[stream] def watermark(timers: TimerValues): Long =
    if (watermarked) Processor.toMicros(timers.getCurrentWatermarkInMs()) else Long.MinValue

  /** On Spark Connect, the function of `foreachBatch` runs in a session of its own, whose tasks do not know the number
    * of the micro-batch; Spark fails to parse it. Engines of another stream are not taken for ours even then, see
    * [[EngineCache]].
    */
  private def run: UUID =
    try getHandle.getQueryInfo().getRunId
    catch { case _: NumberFormatException => Processor.UnknownRun }

  private def work(bucket: Int, out: BucketOutput, timers: TimerValues, expired: Option[Long])(
      action: B => Unit
  ): Unit = {
    val live = take(bucket)
    action(live)
    putBack(bucket, live, out, timers, expired)
  }

  private def key(bucket: Int) = EngineCache.Key(run, stream.operator, bucket)

  /** The bucket, from memory or from its log. */
  private[stream] def take(bucket: Int): B = {
    val head = log.open()
    // An operator has buckets of one kind only.
    val live = cache.take(key(bucket), head).fold(load(log.read(), head))(_.asInstanceOf[B])
    live.head = head
    live
  }

  /** Saves what changed in the bucket since it was taken, measures it, and sets its timers.
    *
    * @param expired
    *   see [[schedule]]
    */
  private[stream] def putBack(
      bucket: Int,
      live: B,
      out: BucketOutput,
      timers: TimerValues,
      expired: Option[Long]
  ): Unit = {
    visited += bucket
    out.counts.buckets += 1
    if (live.isEmpty && !watermarked) {
      log.clear()
      if (bucket == Processor.First) log.begin()
    } else {
      val (piece, full) = live.save()
      live.head = log.append(piece, full, live.head)
      live.measure(out.counts)
      cache.put(key(bucket), live, EngineCache.limit(cacheBytes))
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

/** Of a query by itself. */
class Processor(plan: Plan, oneTask: Boolean, cacheBytes: Option[Long])
    extends BucketProcessor[Event, Bucket](plan.stream, oneTask, cacheBytes) {
  protected def about(buckets: Int): LogAbout = LogAbout.of(plan, buckets)
  protected def load(pieces: Vector[Array[Byte]], head: LogHead): Bucket = Bucket.load(plan, pieces, head)
  private[sparkcer] def tallyOf(row: Event): Array[Long] = row.tally
}

private[sparkcer] object Processor {

  /** The bucket that exists whatever the number of buckets, see [[BucketOf.ids]]. */
  val First = 0

  val UnknownRun = new UUID(0, 0)

  /** The time before which everything is past, in microseconds, for a watermark of Spark in milliseconds: an event at
    * the watermark is past. Spark's watermark starts at 0, so events before 1970 are late.
    */
  def toMicros(millis: Long): Long = if (millis >= Long.MaxValue / 1000) Long.MaxValue else millis * 1000 + 1
}
