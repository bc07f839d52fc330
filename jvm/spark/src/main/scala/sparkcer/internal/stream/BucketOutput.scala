package sparkcer.internal.stream

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import sparkcer.internal.prepare.{Event, Payload}

/** What comes out of a bucket: a match row with its end, or a late event, or the counts of a micro-batch. Spark takes
  * the event time of a match from its end.
  */
final case class StreamOutput(row: Array[Byte], end: Timestamp, late: Array[Byte], counts: Counts)

/** What happened in a bucket in one micro-batch, and, from `buckets` on, the size of its state after it.
  *
  * @param input
  *   all events: `dropped` could not be part of a match, `nullKeys` and `nullTimes` have no key or time, and `events`
  *   were read
  * @param lateness
  *   in milliseconds: so much longer must the delay of the watermark be, so that none of the late events is late
  * @param rules
  *   of a set: the rules that did something
  * @param begunAnew
  *   of a set: the rules whose saved state was dropped because they are not the same any more
  * @param gone
  *   of a set: the rules whose saved state was dropped because the set does not have them any more
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
    var pending: Long = 0,
    var keys: Long = 0,
    var nodes: Long = 0,
    var largest: Long = 0,
    var bytes: Long = 0,
    var lateness: Long = 0,
    var rules: Seq[RuleCounts] = Nil,
    var begunAnew: Seq[String] = Nil,
    var gone: Seq[String] = Nil
)

/** What one rule of a set did in a bucket in one micro-batch, and the size of its state after it. */
final case class RuleCounts(
    rule: String,
    var events: Long = 0,
    var matches: Long = 0,
    var nodes: Long = 0,
    var bytes: Long = 0,
    var nanos: Long = 0
)

/** Collects the output of a bucket. */
class BucketOutput(lateRows: Boolean, eventTime: Boolean) {
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

  /** An event came behind the time up to which all events are read, in microseconds. */
  def behind(by: Long): Unit = counts.lateness = math.max(counts.lateness, -Math.floorDiv(-by, 1000L))

  /** What a task counted before the shuffle, in the order of [[Tally.Numbers]]. */
  def tally(numbers: Array[Long]): Unit = {
    counts.input += numbers(0)
    counts.dropped += numbers(1)
    counts.nullKeys += numbers(2)
    counts.nullTimes += numbers(3)
  }

  /** The rows so far, which are then not part of the result. */
  def takeRows(): Iterator[StreamOutput] =
    if (rows.isEmpty) Iterator.empty
    else {
      val all = rows.toArray
      rows.clear()
      all.iterator
    }

  def result(): Iterator[StreamOutput] = rows.iterator ++ Iterator.single(StreamOutput(null, null, null, counts))
}
