package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.{UnsafeRow, XXH64}
import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.evaluate.{Evaluator, Matches, Program, Substream}
import sparkcer.internal.bind.{Clock, ComparedValues, BoundComparisons}
import sparkcer.internal.prepare.{Event, Payload}
import sparkcer.internal.stream.FirstFormat

/** All that a task needs to turn events into match rows. It is sent to tasks as it is; the engine is compiled there.
  *
  * @param quantities
  *   the values of the query's parameters in LIMIT and WITHIN, and `parameters` all of its parameters in words
  * @param windowIsTime
  *   whether the window is about the time column
  * @param delay
  *   of the watermark on the time column of a stream, in the units of the clock
  * @param inputs
  *   how many inputs of a stream have a watermark
  * @param chained
  *   whether the events of a stream come from another operator with state, which decides when they come
  * @param idle
  *   how long a key may be silent, in the units of the clock
  * @param ordering
  *   the time and order columns, in words
  * @param types
  *   the type column, in words
  * @param digest
  *   of what the numbers in saved state mean, and `first` what those of format 1 did
  * @param operator
  *   a name that no other use of a query has
  * @param snapshots
  *   whether a stream keeps what a [[Snapshot]] needs
  * @param metrics
  *   the name of its metrics: the same in every run, and another for every query and input, as Spark asks of one plan
  */
final case class Plan(
    query: String,
    schema: MatchSchema,
    clock: Clock,
    windowClock: Clock,
    windowSize: Option[BigDecimal],
    windowIsTime: Boolean,
    maxMatchesPerEvent: Long,
    delay: Option[Long],
    inputs: Int,
    chained: Boolean,
    idle: Option[Long],
    lateRows: Boolean,
    ordering: String,
    types: String,
    digest: String,
    first: FirstFormat,
    operator: String,
    metrics: String,
    quantities: Map[String, BigDecimal] = Map.empty,
    parameters: String = "",
    comparisons: BoundComparisons = BoundComparisons.None,
    snapshots: Boolean = false
) {

  /** The query with the values of its parameters. */
  def asked: String = if (parameters.isEmpty) query.trim else s"${query.trim}\nwith $parameters"

  /** Two plans with the same fingerprint give the same matches from the same events. */
  def fingerprint: Long =
    XXH64.hashUTF8String(UTF8String.fromString(s"$asked\n${schema.row.sql}\n$windowClock $windowSize"), 0L)
}

/** An evaluator with its input and output: events in, match rows out. For one thread.
  *
  * @param unread
  *   columns of the rows that nobody reads
  */
final class Recognizer(plan: Plan, unread: Set[Int] = Set.empty) {
  private val program = Program(plan.query, plan.quantities)
  val evaluator = new Evaluator(
    program,
    values = if (program.comparisons.isEmpty) null else new ComparedValues(plan.comparisons, plan.schema.event.length)
  )
  private val writer = new MatchWriter(plan.schema, program, plan.clock, plan.fingerprint, unread)

  /** The window as a long where that is all it takes to find its bound, or -1. */
  private val window = plan.windowSize.filter(w => plan.windowClock.isWhole && w >= 0).fold(-1L)(_.toLong)

  // The event at hand, and how many of its matches were handed over; no event once there are no more.
  private var event: Event = _
  private var substream: Substream = _
  private var matches: Matches = _
  private var shown = 0L

  /** Reads the substream's next event. If it closes matches that are to be reported, [[next]] then has their rows,
    * which must be taken before another event is read.
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

  /** The row of the next match, good until the next call, or null after the last. */
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

  /** The earliest time at which a match that ends at `time` may start. */
  def bound(time: Long): Long =
    if (window < 0) plan.windowClock.bound(time, plan.windowSize)
    else if (time < Long.MinValue + window) Long.MinValue
    else time - window

  private def tooMany(e: Event) = new CerRuntimeException(
    "CER_TOO_MANY_MATCHES",
    s"The event at ${plan.clock.show(e.time)} closes more than ${plan.maxMatchesPerEvent} matches. " +
      "Use LIMIT, a shorter WITHIN, SELECT NEXT, LAST or COUNT(*), or raise spark.cer.maxMatchesPerEvent."
  )
}
