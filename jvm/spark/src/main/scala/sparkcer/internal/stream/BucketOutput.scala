package sparkcer.internal.output

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import sparkcer.internal.prepare.{Event, Payload}

/** What comes out of a bucket: a match row with its end, a late event, or, with neither, the counts of a micro-batch.
  * The end is there for Spark, which carries the event time on by it.
  */
final case class StreamOutput(row: Array[Byte], end: Timestamp, late: Array[Byte], counts: Counts)

/** What happened in a bucket in one micro-batch, and from `buckets` on, how it stands after it.
  *
  * @param input
  *   all events, of which `dropped` could not matter, `nullKeys` and `nullTimes` belong nowhere, and `events` were read
  */
final case class Counts(
    var input: Long = 0,
    var dropped: Long = 0,
    var nullKeys: Long = 0,
    var nullTimes: Long = 0,
    var events: Long = 0,
    var matches: Long = 0,
    var late: Long = 0,
    var idle: Long = 0,
    var buckets: Long = 0,
    var held: Long = 0,
    var keys: Long = 0,
    var nodes: Long = 0,
    var largest: Long = 0,
    var bytes: Long = 0
)

/** Collects what a bucket puts out. */
final class BucketOutput(lateRows: Boolean, eventTime: Boolean) {
  val counts = Counts()
  private val rows = mutable.ArrayBuffer.empty[StreamOutput]

  /** @param end
    *   the time of the closing event, in microseconds if it is an event time
    */
  def matched(row: UnsafeRow, end: Long): Unit = {
    counts.matches += 1
    rows += StreamOutput(row.copy().getBytes, if (eventTime) DateTimeUtils.toJavaTimestamp(end) else null, null, null)
  }

  def late(e: Event): Unit = {
    counts.late += 1
    if (lateRows) rows += StreamOutput(null, null, e.payload.drop(Payload.Head), null)
  }

  /** What a task counted before the shuffle, see [[Tally]]. */
  def tally(e: Event): Unit = {
    counts.input += e.time
    counts.dropped += e.arrival
    counts.nullKeys += e.mask
    counts.nullTimes += e.order
  }

  def result(): Iterator[StreamOutput] = rows.iterator ++ Iterator.single(StreamOutput(null, null, null, counts))
}
