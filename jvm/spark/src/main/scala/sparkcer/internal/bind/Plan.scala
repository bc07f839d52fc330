package sparkcer.internal.bind

import java.util.UUID

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.cerbridge.Plans
import org.apache.spark.sql.types.StructField
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.ceql.RecognizedQuery
import sparkcer.engine.evaluate.Program
import sparkcer.internal.output.MatchSchema
import sparkcer.internal.stream.{FirstFormat, LogAbout}

/** A query that is bound to the columns of its events: all that a task needs to turn events into match rows. It is sent
  * to tasks as it is; each task compiles the engine from it.
  *
  * @param clock
  *   of the time column
  * @param maxMatchesPerEvent
  *   an event that closes more matches fails the query
  */
final case class Plan(
    query: PlannedQuery,
    schema: MatchSchema,
    clock: Clock,
    window: PlannedWindow,
    maxMatchesPerEvent: Long,
    stream: PlannedStream
) {

  /** Two plans with the same fingerprint find the same matches in the same events. It is part of every `match_id`, so
    * the text that is hashed must not change.
    */
  def fingerprint: Long =
    XXH64.hashUTF8String(
      UTF8String.fromString(s"${query.asked}\n${schema.row.sql}\n${window.clock} ${window.size}"),
      0L
    )
}

/** The text of a query with all that the call adds to it. Measures and HAVING are not part of it, see
  * [[sparkcer.engine.ceql.RecognizedQuery]].
  *
  * @param quantities
  *   the values of the parameters in LIMIT and WITHIN
  * @param parameters
  *   the values of its parameters, as text
  */
final case class PlannedQuery(
    text: String,
    quantities: Map[String, BigDecimal] = Map.empty,
    parameters: String = "",
    comparisons: BoundComparisons = BoundComparisons.None
) {
  def program: Program = Program(text, quantities)

  /** The text with the values of its parameters. */
  def asked: String = if (parameters.isEmpty) text.trim else s"${text.trim}\nwith $parameters"
}

/** WITHIN over a column. A window that counts events is the engine's own affair, and has no size here.
  *
  * @param clock
  *   of the column that WITHIN limits
  * @param size
  *   in the units of the clock, if there is a WITHIN
  * @param ofTime
  *   whether the column is the time column
  * @param waits
  *   for how long matches wait after their last event, in the units of the clock, if the query ends with `NO … FOR`
  * @param looksBack
  *   how long before a match some event must not have come, in the units of the clock of the time column, for each
  *   `NO … FOR` at the beginning of the query
  */
final case class PlannedWindow(
    clock: Clock,
    size: Option[BigDecimal],
    ofTime: Boolean,
    waits: Vector[Long] = Vector.empty,
    looksBack: Vector[BigDecimal] = Vector.empty
) {

  /** Does the passing of time end the window? */
  def endsInTime: Boolean = ofTime && size.isDefined

  /** For how long after its last event a key can matter, where time ends the window. */
  def lastsFor: Option[BigDecimal] = size.map(s => (s +: looksBack).max)

  /** How far before its end the events of a match may lie, with those that must not have come, where time ends the
    * window.
    */
  def reach: Option[BigDecimal] = size.map(_ + looksBack.maxOption.getOrElse(BigDecimal(0)))
}

/** What only a stream needs.
  *
  * @param idle
  *   how long a key may be without events before its state is dropped, in the units of the clock
  * @param lateRows
  *   whether late events are rows of the result
  * @param snapshots
  *   whether the state keeps what a [[sparkcer.internal.stream.Snapshot]] needs
  * @param operator
  *   a name that no other use of a query has
  * @param metrics
  *   the name of the metrics: the same in every run, and another one for every query and input, as Spark requires
  */
final case class PlannedStream(
    watermark: Option[Watermark],
    idle: Option[Long],
    lateRows: Boolean,
    snapshots: Boolean,
    operator: String,
    metrics: String,
    state: StateMeaning
)

/** The watermark on the time column.
  *
  * @param delay
  *   in the units of the clock
  * @param inputs
  *   how many inputs have a watermark
  * @param chained
  *   whether the events come from another stateful operator, which then decides when they come
  */
final case class Watermark(delay: Long, inputs: Int, chained: Boolean)

/** What the bytes in a checkpoint mean, to be compared with what they meant when they were written.
  *
  * @param ordering
  *   the time and order columns, as text
  * @param types
  *   the type column, as text
  * @param digest
  *   of the compiled query
  * @param first
  *   the same for checkpoints of format 1
  */
final case class StateMeaning(ordering: String, types: String, digest: String, first: FirstFormat)

object Plan {
  private val MaxMatches = "spark.cer.maxMatchesPerEvent"
  private val DefaultMaxMatches = 1000000L

  def of(b: Binding, query: String, options: Options): Plan = Plan(
    PlannedQuery(RecognizedQuery(query), b.params.quantities, b.params.recognized, b.comparisons),
    b.matchSchema,
    b.clock,
    PlannedWindow(
      b.windowClock,
      b.windowSize,
      b.windowColumn == b.time && !b.program.countsEvents,
      b.waiting.lengths,
      b.lookingBack.lengths
    ),
    b.df.sparkSession.conf.get(MaxMatches, DefaultMaxMatches.toString).toLong,
    PlannedStream(
      watermark(b.df, b.time),
      b.idle,
      options.lateRows,
      options.snapshots,
      operator = UUID.randomUUID().toString,
      metrics = f"spark_cer_${31 * s"${query.trim}${b.params.text}".hashCode + b.df.semanticHash()}%08x",
      StateMeaning(
        s"by ${b.time.name} ${b.time.dataType.sql}${b.order.fold("")(o => s", then ${o.name}")}",
        LogAbout.types(b.typeColumn),
        b.program.digest,
        FirstFormat(LogAbout.types(b.firstTypeColumn), b.program.asFirst)
      )
    )
  )

  /** The watermark of a stream, if it is on the time column. */
  private[sparkcer] def watermark(df: DataFrame, time: StructField): Option[Watermark] =
    Binding.delay(df, time).map { delay =>
      val plan = Plans.planOf(df)
      Watermark(delay, plan.collect { case w: EventTimeWatermark => w }.length, Upstream.keepsState(plan))
    }
}
