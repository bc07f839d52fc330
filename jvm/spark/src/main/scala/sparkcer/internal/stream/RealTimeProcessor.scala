package sparkcer.internal.stream

import scala.collection.mutable
import scala.reflect.ClassTag

import org.apache.spark.sql.cerbridge.Processors
import org.apache.spark.sql.streaming._

import sparkcer.internal.prepare.EventGenerator.Marker

/** A processor that takes another form in Real-Time Mode. */
private[sparkcer] trait HasRealTimeForm {

  /** A name that no other use of a query has. */
  def name: String

  def watermarked: Boolean

  def inRealTime: StatefulProcessor[_, _, _]
}

/** Evaluates the events of a bucket in Real-Time Mode, where Spark hands over each of them as soon as it comes, and
  * wants the rows that it gives at once.
  *
  * A bucket is taken when its first event of the micro-batch comes, and put back, which saves and measures it, when all
  * its input partitions have come to their end ([[Marker]]). Nothing is lost by that: Spark commits the state store
  * once, at the end of the micro-batch, and does a micro-batch that has failed again from its beginning.
  */
final class RealTimeProcessor[E: ClassTag, B <: LiveBucket[E]](of: BucketProcessor[E, B])
    extends StatefulProcessor[Int, E, StreamOutput] {

  /** What the micro-batch did with a bucket so far. */
  final private class Progress(bucket: Int) {
    val out: BucketOutput = of.newOutput
    private var live: Option[B] = None
    private var ends = 0
    var complete = false

    def taken: B = live.getOrElse {
      live = Some(of.take(bucket))
      live.get
    }

    /** Takes note that an input partition has come to its end. */
    def end(marker: Marker, timers: TimerValues): Unit = {
      out.tally(marker.counted)
      ends += 1
      if (ends == marker.partitions) {
        complete = true
        live match {
          case Some(b) => of.putBack(bucket, b, out, timers, None)
          case None    => if (bucket == Processor.First) of.log.begin()
        }
      }
    }
  }

  /** Spark has a new processor for each task. */
  @transient private var buckets: mutable.Map[Int, Progress] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    Processors.share(getHandle, of)
    of.init(outputMode, timeMode)
    buckets = mutable.Map.empty
  }

  override def handleInputRows(bucket: Int, rows: Iterator[E], timers: TimerValues): Iterator[StreamOutput] = {
    val progress = buckets.getOrElseUpdate(bucket, new Progress(bucket))
    rows.foreach { row =>
      val tally = of.tallyOf(row)
      if (tally == null) progress.taken.read(Array(row), of.watermark(timers), progress.out)
      else {
        val marker = Marker.of(tally)
        // Where one bucket has all keys, it gets the markers of the others, too.
        if (marker.bucket == bucket) progress.end(marker, timers)
      }
    }
    if (progress.complete) progress.out.result() else progress.out.takeRows()
  }

  /** After the end of the input, a bucket that had no event is visited as in any other micro-batch. */
  override def handleExpiredTimer(
      bucket: Int,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[StreamOutput] = {
    val progress = buckets.getOrElseUpdate(bucket, new Progress(bucket))
    if (progress.complete) of.handleExpiredTimer(bucket, timers, expired)
    else {
      progress.taken.advance(of.watermark(timers), progress.out)
      progress.out.takeRows()
    }
  }
}
