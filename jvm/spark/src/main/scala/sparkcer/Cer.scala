package sparkcer

import org.apache.spark.sql.{Column, DataFrame, Encoders}
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.{Bridge, CerException}
import org.apache.spark.sql.types._

import sparkcer.engine.ceql.{CeqlException, Consume, Parser}
import sparkcer.engine.evaluate.Program
import sparkcer.internal.batch.{Planning, Recognize, Spread}
import sparkcer.internal.bind.{Binding, Clock, Inputs, Options, ParameterValues, Upstream}
import sparkcer.internal.output.{MatchSchema, Plan}
import sparkcer.internal.prepare.{AsLong, Event, EventLayout, Mask, Pack, PackRow, Prepare, Slices, Tally, Unpack}
import sparkcer.internal.stream.{FirstFormat, LogAbout, Stream, StreamWarnings}

/** A query over a DataFrame, batch or stream: events in, a DataFrame of matches out.
  *
  * {{{
  * events ── mask, drop, pack (generated code) ──► shuffle by key ──► Recognizer ──► rows ── unpack ──► matches
  * }}}
  */
object Cer {

  /** The matches over several inputs, each under its name in FROM. */
  def over(inputs: Map[String, DataFrame], query: String, options: Options): DataFrame =
    apply(merged(inputs, query, options), query, options)

  /** All inputs as one DataFrame. */
  def merged(inputs: Map[String, DataFrame], query: String, options: Options): DataFrame =
    inWords(Inputs.merge(Parser.parse(query), inputs, options))

  def apply(df: DataFrame, query: String, options: Options): DataFrame =
    inWords {
      val binding = bind(df, query, options)
      val plan = planOf(binding, query, options)
      val matches = if (df.isStreaming) unpacked(stream(binding, plan), plan) else batch(binding, plan)
      noted(output(matches, binding, plan), binding)
    }

  private[sparkcer] def bind(df: DataFrame, query: String, options: Options): Binding = {
    val params = ParameterValues(df, Parser.parse(query), options.params)
    new Binding(df, Program(query, params.quantities), options, params)
  }

  /** What the engine refuses, as an error of Spark's. */
  def inWords[A](body: => A): A =
    try body
    catch { case e: CeqlException => throw new CerException(e) }

  /** The name of the time column stays with `start`, for whoever puts the events of a match in order. */
  private def noted(matches: DataFrame, b: Binding): DataFrame =
    if (b.program.counts) matches
    else matches.withMetadata("start", new MetadataBuilder().putString(TimeColumn, b.time.name).build())

  private val TimeColumn = "spark.cer.time"

  private[sparkcer] def planOf(b: Binding, query: String, options: Options): Plan = Plan(
    query,
    MatchSchema(StructType(b.keys), b.time.dataType, b.kept, b.program.columns, b.program.counts),
    b.clock,
    b.windowClock,
    b.windowSize,
    b.windowColumn == b.time && !b.program.countsEvents,
    b.df.sparkSession.conf.get(MaxMatches, DefaultMaxMatches.toString).toLong,
    b.delay,
    Bridge.planOf(b.df).collect { case w: EventTimeWatermark => w }.length,
    Upstream.keepsState(Bridge.planOf(b.df)),
    b.idle,
    options.lateRows,
    s"by ${b.time.name} ${b.time.dataType.sql}${b.order.fold("")(o => s", then ${o.name}")}",
    LogAbout.types(b.typeColumn),
    b.program.digest,
    FirstFormat(LogAbout.types(b.firstTypeColumn), b.program.asFirst),
    java.util.UUID.randomUUID().toString,
    f"spark_cer_${31 * s"${query.trim}${b.params.text}".hashCode + b.df.semanticHash()}%08x",
    b.params.quantities,
    b.params.text,
    b.comparisons,
    options.snapshots
  )

  private val MaxMatches = "spark.cer.maxMatchesPerEvent"
  private val DefaultMaxMatches = 1000000L

  /** The events of a query, prepared for the shuffle.
    *
    * @param headed
    *   whether payloads get their head here, or where they are read
    */
  private def prepare(b: Binding, slices: Option[Slices], headed: Boolean): (Prepare, EventLayout) = {
    val clocked = b.windowColumn != b.time
    // A stream always has an order: it is a place for a number of the tally.
    val orderColumn = orderOf(b).orElse(if (headed) Some(lit(0L)) else None)
    val clockColumn = if (clocked) Some(longOf(b.columnOf(b.windowColumn))) else None
    val (resolved, child) = Bridge.resolved(
      b.df,
      longOf(b.columnOf(b.time)) +: (clockColumn.toSeq ++ orderColumn ++ b.conditions ++ b.keys.map(b.columnOf) ++
        b.kept.map(b.columnOf))
    )
    val all = resolved.iterator
    val time = all.next()
    val clock = clockColumn.map(_ => all.next())
    val order = orderColumn.map(_ => all.next())
    val conditions = b.conditions.map(_ => all.next())
    val keys = b.keys.map(_ => all.next())
    val shown = all.toVector
    val masks = if (conditions.isEmpty) Seq(Mask(Nil)) else conditions.grouped(64).map(Mask(_)).toSeq
    val payload = if (headed) Pack(Some(time), shown) else PackRow(shown)
    val layout =
      EventLayout(masks.length, slices.isDefined, clocked, order.isDefined, keys.nonEmpty, payload.dataType)
    val prepared = Prepare(
      masks,
      b.program.droppable,
      time,
      if (keys.isEmpty) None else Some(Pack(None, keys)),
      clock,
      order,
      payload,
      slices,
      layout.attributes,
      child
    )
    (prepared.pruned, layout)
  }

  private[sparkcer] def longOf(c: Column): Column = Bridge.column(AsLong(Bridge.expression(c)))

  private def orderOf(b: Binding): Option[Column] = b.order.map { f =>
    if (!Clock.supports(f.dataType))
      throw new CerException(
        "CER_TYPE_MISMATCH",
        s"[CER_TYPE_MISMATCH] The order column '${f.name}' is ${f.dataType.sql}, and must be a number or a time."
      )
    coalesce(longOf(b.columnOf(f)), lit(Long.MinValue))
  }

  private def batch(b: Binding, plan: Plan): DataFrame = {
    val consume = b.program.query.consumeBy
    val spread =
      if (consume == Consume.Any) Spread.OneTask("CONSUME BY ANY orders all keys")
      else if (b.keys.nonEmpty) Spread.ByKey(plan.windowIsTime && plan.windowSize.isDefined)
      else
        Slices.of(plan, consume != Consume.None) match {
          case Some(s) => Spread.BySlice(s)
          case None    => Spread.OneTask(s"there is no PARTITION BY and ${whyNotSliced(b, plan)}")
        }
    val slices = Some(spread).collect { case Spread.BySlice(s) => s }
    val (events, layout) = prepare(b, slices, headed = false)
    val columns = plan.schema.named.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    Planning.on(Bridge.session(b.df))
    Bridge.dataFrame(b.df.sparkSession, Recognize(plan, layout, spread, Set.empty, columns, events))
  }

  private def whyNotSliced(b: Binding, plan: Plan): String =
    if (b.program.query.consumeBy != Consume.None) "CONSUME BY orders all events"
    else if (b.program.query.within.isEmpty) "no WITHIN"
    else if (b.program.countsEvents) "WITHIN counts events"
    else if (!plan.windowIsTime) "WITHIN is about another column than the time"
    else if (!plan.clock.isWhole) "the time is a floating-point number"
    else "the window is too long to slice"

  private def stream(b: Binding, plan: Plan): DataFrame = {
    StreamWarnings.atStart(b, plan)
    val oneTask = b.keys.isEmpty || b.program.query.consumeBy == Consume.Any
    val (prepared, layout) = prepare(b, None, headed = true)
    Planning.on(Bridge.session(b.df))
    val rows = Bridge.dataFrame(b.df.sparkSession, Tally(prepared))
    def or(there: Boolean, name: String, other: Column) = (if (there) col(name) else other).as(name)
    val more =
      if (layout.masks > 1) array((1 until layout.masks).map(i => col(s"mask$i")): _*)
      else lit(null).cast(ArrayType(LongType))
    val events = rows
      .select(
        or(layout.keyed, "key", lit(EventLayout.NoKey)),
        col("time"),
        (if (layout.clocked) coalesce(col("clock"), lit(0L)) else col("time")).as("clock"),
        (if (layout.clocked) col("clock").isNotNull else lit(true)).as("timed"),
        or(layout.ordered, "order", lit(0L)),
        col("arrival"),
        col("mask0").as("mask"),
        more.as("more"),
        col("payload")
      )
      .as[Event](Encoders.product[Event])
    Stream.matches(events, plan, oneTask, b.df.sparkSession)
  }

  /** Typed columns from the bytes of match rows and of late events. In event time `end` is the column that Spark knows
    * to carry the watermark, so that a windowed aggregation over matches works.
    */
  private def unpacked(rows: DataFrame, plan: Plan): DataFrame = {
    val columns = plan.schema.named.fieldNames.toVector.filterNot(_ == "end" && plan.delay.isDefined)
    rows
      .select(
        unpack(col("row"), plan.schema.named, always = !plan.lateRows).as("m"),
        unpack(col("late"), plan.schema.event, always = false).as("late"),
        col("end")
      )
      .select(
        columns.map(n => col("m").getField(n).as(n)) ++
          (if (plan.delay.isDefined) Seq(col("end")) else Nil) ++ (if (plan.lateRows) Seq(col("late")) else Nil): _*
      )
  }

  /** The same of rows that are all matches, those that end at `from` or later. */
  private[sparkcer] def unpackedMatches(rows: DataFrame, plan: Plan, from: Column): DataFrame =
    rows
      .select(unpack(col("row"), plan.schema.named, always = true).as("m"), from.as("from"))
      .where(longOf(col("m").getField("end")) >= col("from"))
      .select("m.*")

  /** The columns as users see them, each under a new name, so that a result can be joined with itself. */
  private[sparkcer] def output(rows: DataFrame, b: Binding, plan: Plan): DataFrame = {
    def field(name: String): Column = col(s"`${name.replace("`", "``")}`").as(name)
    val keys = b.keys.map(k => col(MatchSchema.Key).getField(k.name).as(k.name))
    val end = if (plan.delay.isDefined) col("end") else field("end")
    val columns =
      if (b.program.counts) keys ++ Vector(end, field("matches"))
      else
        Vector(field("match_id")) ++ keys ++ Vector(field("start"), end) ++
          b.program.columns.map { c =>
            val whole = field(c.variable)
            b.attributes(c).fold(whole)(fields => narrowed(whole, c, fields.map(_.name)).as(c.variable))
          }
    rows.select(columns ++ (if (plan.lateRows) Vector(col("late")) else Vector.empty): _*)
  }

  private def narrowed(whole: Column, c: Program.Column, names: Vector[String]): Column = {
    def pick(e: Column): Column = struct(names.map(n => e.getField(n).as(n)): _*)
    if (!c.multiplicity.atMostOne) org.apache.spark.sql.functions.transform(whole, pick(_))
    else if (c.multiplicity.atLeastOne) pick(whole)
    else when(whole.isNotNull, pick(whole))
  }

  private def unpack(c: Column, schema: StructType, always: Boolean): Column =
    Bridge.column(Unpack(Bridge.expression(c), schema, always))
}
