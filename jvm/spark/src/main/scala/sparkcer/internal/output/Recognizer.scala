package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.engine.evaluate.{Evaluator, Matches, Substream}
import sparkcer.internal.bind.{ComparedValues, Plan}
import sparkcer.internal.prepare.{Event, Payload}

/** Runs the engine on events and returns match rows. For one thread.
  *
  * @param unread
  *   columns of the match rows that nobody reads
  */
final class Recognizer(plan: Plan, unread: Set[Int] = Set.empty) {
  private val program = plan.query.program
  val evaluator = new Evaluator(
    program,
    values =
      if (program.comparisons.isEmpty) null else new ComparedValues(plan.query.comparisons, plan.schema.event.length)
  )
  private val writer = new MatchWriter(plan.schema, program, plan.clock, plan.fingerprint, unread)

  /** The size of the window if subtracting it gives the bound, or -1. */
  private val window = plan.window.size.filter(w => plan.window.clock.isWhole && w >= 0).fold(-1L)(_.toLong)

  /** For how long a match waits after its last event, or -1 if the query does not end with `NO … FOR`. */
  private val length = plan.window.waits.getOrElse(-1L)

  // What was closed last, while it has matches to return, and how many were returned.
  private var key: Array[Byte] = _
  private var end = 0L
  private var substream: Substream = _
  private var matches: Matches = _
  private var shown = 0L

  /** Do matches wait for a deadline? Then [[fire]] returns them, and events close none. */
  def waits: Boolean = length >= 0

  /** Reads the next event of a substream. If it closes matches and `report` is true, [[next]] returns their rows, which
    * must be taken before another event is read. All deadlines before its time must have been fired.
    */
  def read(s: Substream, ties: Ties, e: Event, report: Boolean = true): Unit = {
    val copy = ties.next(e)
    if (copy > 0) Payload.setCopy(e.payload, copy)
    val cls = if (e.more == null) evaluator.classOf(e.mask) else evaluator.classOf(e.mask +: e.more)
    val closes =
      if (length >= 0) {
        val deadline = if (e.time >= Long.MaxValue - 1 - length) Long.MaxValue - 1 else e.time + length
        s.readWithDeadline(cls, e.time, bound(deadline), deadline, e.payload)
        false
      } else if (e.timed) s.read(cls, e.clock, bound(e.clock), e.payload)
      else s.readUntimed(cls, e.payload)
    if (closes && report) close(e.key, e.time, s) else key = null
  }

  /** Fires the first deadline of a substream, if it is before a time, and says whether there was one. If it lies
    * between `from` and `until`, both included, [[next]] returns the rows of its matches.
    */
  def fire(s: Substream, k: Array[Byte], before: Long, from: Long, until: Long): Boolean = {
    val fired = s.fire(before)
    if (fired && from <= evaluator.deadline && evaluator.deadline <= until) close(k, evaluator.deadline, s)
    else key = null
    fired
  }

  private def close(k: Array[Byte], time: Long, s: Substream): Unit = {
    key = k
    end = time
    substream = s
    matches = if (program.counts) null else evaluator.matches
    shown = 0
  }

  /** The row of the next match, valid until the next call; null after the last match. */
  def next(): UnsafeRow =
    if (key == null) null
    else if (program.counts) {
      val row = writer.writeCount(key, end, evaluator.count)
      key = null
      row
    } else if (matches.next()) {
      shown += 1
      if (shown > plan.maxMatchesPerEvent) throw tooMany(end)
      writer.write(key, end, substream, matches)
    } else {
      key = null
      null
    }

  /** The earliest start of a match that ends at `time`. */
  def bound(time: Long): Long =
    if (window < 0) plan.window.clock.bound(time, plan.window.size)
    else if (time < Long.MinValue + window) Long.MinValue
    else time - window

  private def tooMany(time: Long) = new CerRuntimeException(
    "CER_TOO_MANY_MATCHES",
    "time" -> plan.clock.show(time),
    "most" -> plan.maxMatchesPerEvent.toString
  )
}
