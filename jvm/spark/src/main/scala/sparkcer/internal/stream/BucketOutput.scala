package sparkcer.internal.stream

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import sparkcer.internal.prepare.{Event, Payload}

/** What comes out of a bucket: a match row with its end, or a late event, or the counts of a micro-batch. Spark takes
  * the event time of a match from its end.
  *
  * The counts are numbers and bytes, and not a class with its fields, because Spark generates code for the class of an
  * output in each micro-batch, also for a small one.
  *
  * @param counts
  *   see [[Counts.numbers]]
  * @param rules
  *   of a set: the numbers of its [[RuleTally]]
  * @param begunAnew
  *   of a set: see [[RuleTally]]
  * @param gone
  *   of a set: see [[RuleTally]]
  */
final case class StreamOutput(
    row: Array[Byte],
    end: Timestamp,
    late: Array[Byte],
    counts: Array[Long] = null,
    rules: Array[Long] = null,
    begunAnew: Array[String] = null,
    gone: Array[String] = null
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
    rows += StreamOutput(row.copy().getBytes, if (eventTime) DateTimeUtils.toJavaTimestamp(end) else null, null)
  }

  def late(e: Event): Unit = {
    counts.late += 1
    if (lateRows) rows += StreamOutput(null, null, e.payload.drop(Payload.Head))
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

  def result(): Iterator[StreamOutput] = {
    val told = StreamOutput(null, null, null, counts.numbers)
    def withRules(t: RuleTally) =
      told.copy(rules = t.numbers, begunAnew = t.begunAnew.toArray, gone = t.gone.toArray)
    rows.iterator ++ Iterator.single(counts.rules.fold(told)(withRules))
  }
}
