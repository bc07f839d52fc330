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

  // The event that was read last, while it has matches to return, and how many were returned.
  private var event: Event = _
  private var substream: Substream = _
  private var matches: Matches = _
  private var shown = 0L

  /** Reads the next event of a substream. If it closes matches and `report` is true, [[next]] returns their rows, which
    * must be taken before another event is read.
    */
  def read(s: Substream, ties: Ties, e: Event, report: Boolean = true): Unit = {
    val copy = ties.next(e)
    if (copy > 0) Payload.setCopy(e.payload, copy)
    val cls = if (e.more == null) evaluator.classOf(e.mask) else evaluator.classOf(e.mask +: e.more)
    val closes =
      if (e.timed) s.read(cls, e.clock, bound(e.clock), e.payload)
      else s.readUntimed(cls, e.payload)
    if (closes && report) {
      event = e
      substream = s
      matches = if (program.counts) null else evaluator.matches
      shown = 0
    } else event = null
  }

  /** The row of the next match, valid until the next call; null after the last match. */
  def next(): UnsafeRow =
    if (event == null) null
    else if (program.counts) {
      val row = writer.writeCount(event, evaluator.count)
      event = null
      row
    } else if (matches.next()) {
      shown += 1
      if (shown > plan.maxMatchesPerEvent) throw tooMany(event)
      writer.write(event.key, substream, matches)
    } else {
      event = null
      null
    }

  /** The earliest start of a match that ends at `time`. */
  def bound(time: Long): Long =
    if (window < 0) plan.window.clock.bound(time, plan.window.size)
    else if (time < Long.MinValue + window) Long.MinValue
    else time - window

  private def tooMany(e: Event) = new CerRuntimeException(
    "CER_TOO_MANY_MATCHES",
    "time" -> plan.clock.show(e.time),
    "most" -> plan.maxMatchesPerEvent.toString
  )
}
