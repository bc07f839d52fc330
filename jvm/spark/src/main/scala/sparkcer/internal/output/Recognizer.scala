package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.engine.evaluate.{Evaluator, Matches, Program, Substream}
import sparkcer.internal.bind.{BoundComparisons, ComparedValues, Plan}
import sparkcer.internal.prepare.{Event, Payload}

/** Runs the engine on events and returns match rows. For one thread.
  *
  * @param comparisons
  *   over payloads with so many `fields`
  * @param most
  *   in a set of rules: how many rows an event or a deadline gives at most. Of more, or of a count that does not fit,
  *   the row tells
  */
final class Recognizer(
    plan: Plan,
    program: Program,
    comparisons: BoundComparisons,
    fields: Int,
    writer: MatchRows,
    most: Option[Long]
) {
  val evaluator =
    new Evaluator(program, values = if (program.comparisons.isEmpty) null else new ComparedValues(comparisons, fields))

  /** The size of the window if subtracting it gives the bound, or -1. */
  private val window = plan.window.size.filter(w => plan.window.clock.isWhole && w >= 0).fold(-1L)(_.toLong)

  /** For how long matches wait after their last event, if the query ends with `NO … FOR`. */
  private val lengths = plan.window.waits.toArray
  private val deadlines = new Array[Long](lengths.length)
  private val startsFrom = new Array[Long](lengths.length)

  /** Can a match with the same events end at different times? */
  private val apart = program.cea.endsApart

  /** How far back the query looks, if it begins with `NO … FOR`. */
  private val looksBack = plan.window.looksBack.map(Option(_)).toArray
  private val looksFrom = new Array[Long](looksBack.length)

  // What was closed last, while it has matches to return, and how many were returned.
  private var key: Array[Byte] = _
  private var end = 0L
  private var deadline = MatchIdentity.None
  private var substream: Substream = _
  private var matches: Matches = _
  private var shown = 0L
  private var returned = 0L
  private val mostRows = most.getOrElse(Long.MaxValue)

  /** Do matches wait for a deadline? Then [[fire]] returns them. */
  def waits: Boolean = lengths.length > 0

  /** Reads the next event of a substream. If it closes matches and `report` is true, [[next]] returns their rows, which
    * must be taken before another event is read. All deadlines before its time must have been fired.
    */
  def read(s: Substream, ties: Ties, e: Event, report: Boolean = true): Unit = {
    val copy = ties.next(e)
    val payload = if (copy > 0) Payload.withCopy(e.payload, copy) else e.payload
    val met = if (e.more == null) evaluator.classOf(e.mask) else evaluator.classOf(e.mask +: e.more)
    val cls = if (looksBack.length == 0) met else lookBack(s, met, e.time)
    val closes =
      if (lengths.length > 0) {
        setDeadlines(e.time)
        s.readWithDeadlines(cls, e.time, bound(e.time), deadlines, startsFrom, payload)
      } else if (e.timed) s.read(cls, e.clock, bound(e.clock), payload)
      else s.readUntimed(cls, payload)
    if (closes && report) close(e.key, e.time, MatchIdentity.None, s) else key = null
  }

  private def lookBack(s: Substream, cls: Int, time: Long): Int = {
    var i = 0
    while (i < looksFrom.length) { looksFrom(i) = plan.clock.bound(time, looksBack(i)); i += 1 }
    s.lookBack(cls, time, looksFrom)
  }

  private def setDeadlines(time: Long): Unit = {
    var i = 0
    while (i < lengths.length) {
      deadlines(i) = if (time >= Long.MaxValue - 1 - lengths(i)) Long.MaxValue - 1 else time + lengths(i)
      startsFrom(i) = bound(deadlines(i))
      i += 1
    }
  }

  /** Fires the first deadline of a substream, if it is before a time, and says whether there was one. If it lies
    * between `from` and `until`, both included, [[next]] returns the rows of its matches.
    */
  def fire(s: Substream, k: Array[Byte], before: Long, from: Long, until: Long): Boolean = {
    val fired = s.fire(before)
    val at = evaluator.deadline
    if (fired && from <= at && at <= until) close(k, at, if (apart) at else MatchIdentity.None, s)
    else key = null
    fired
  }

  private def close(k: Array[Byte], time: Long, deadlineOf: Long, s: Substream): Unit = {
    key = k
    end = time
    deadline = deadlineOf
    substream = s
    matches = if (program.counts) null else evaluator.matches
    shown = 0
    returned = 0
  }

  /** The row of the next match, valid until the next call; null after the last match. */
  def next(): UnsafeRow = {
    var row: UnsafeRow = null
    while (row == null && key != null)
      if (program.counts) {
        val n = evaluator.count
        if (n == Long.MaxValue && most.isEmpty) throw countOverflow(end)
        row = writer.writeCount(key, end, n)
        key = null
      } else if (matches.next()) {
        shown += 1
        if (shown > plan.maxMatchesPerEvent) throw tooMany(end)
        row = writer.write(key, end, deadline, substream, matches)
        if (row != null) {
          returned += 1
          if (returned == mostRows) row = last(row)
        }
      } else key = null
    row
  }

  /** Makes a row the last one, which tells if there are more. */
  private def last(row: UnsafeRow): UnsafeRow = {
    val kept = row.copy() // looking for more writes the next one
    if (hasMore) writer.cut(kept)
    key = null
    kept
  }

  /** Is another match shown? If that is not clear after as many matches as may be looked at, there may be one. */
  private def hasMore: Boolean = {
    var more = false
    while (!more && matches.next()) {
      shown += 1
      more = shown > plan.maxMatchesPerEvent || writer.write(key, end, deadline, substream, matches) != null
    }
    more
  }

  /** The earliest start of a match that ends at `time`. */
  def bound(time: Long): Long =
    if (window < 0) plan.window.clock.bound(time, plan.window.size)
    else if (time < Long.MinValue + window) Long.MinValue
    else time - window

  /** Where time ends the window: a key whose last event is before this cannot matter for events at `time` or later. */
  def lastsFrom(time: Long): Long = if (looksBack.length == 0) bound(time) else plan.clock.bound(time, lasts)
  private val lasts = plan.window.lastsFor

  /** Where time ends the window: the time of the first event that matters for a match that starts at `time`. */
  def reachesFrom(time: Long): Long = plan.window.looksBack.maxOption.fold(time)(d => plan.clock.bound(time, Some(d)))

  private def tooMany(time: Long) = new CerRuntimeException(
    "CER_TOO_MANY_MATCHES",
    "time" -> plan.clock.show(time),
    "most" -> plan.maxMatchesPerEvent.toString
  )

  private def countOverflow(time: Long) = new CerRuntimeException(
    "CER_COUNT_OVERFLOW",
    "time" -> plan.clock.show(time),
    "most" -> (Long.MaxValue - 1).toString
  )
}

object Recognizer {

  /** Of a query by itself.
    *
    * @param unread
    *   columns of the match rows that nobody reads
    */
  def apply(plan: Plan, unread: Set[Int] = Set.empty): Recognizer = {
    val program = plan.query.program
    val writer = new MatchWriter(plan.schema, program, plan.clock, plan.fingerprint, unread)
    new Recognizer(plan, program, plan.query.comparisons, plan.schema.event.length, writer, most = None)
  }
}
