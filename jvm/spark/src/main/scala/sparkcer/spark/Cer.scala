package sparkcer.spark

import org.slf4j.LoggerFactory

import org.apache.spark.sql.{Column, DataFrame, Dataset, Encoder, Encoders}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.sparkcer.{Bridge, CerException}
import org.apache.spark.sql.types._

import sparkcer.engine.ceql.{CeqlException, Consume, Parser}
import sparkcer.engine.evaluate.Program

/** A query over a DataFrame, batch or stream: events in, a DataFrame of matches out.
  *
  * {{{
  * events ── mask, drop, pack (generated code) ──► shuffle by key ──► Recognizer ──► rows ── unpack ──► matches
  * }}}
  */
object Cer {

  /** The matches over several inputs, each under its name in FROM. */
  def over(inputs: Map[String, DataFrame], query: String, options: Options): DataFrame =
    inWords(apply(Inputs.merge(Parser.parse(query), inputs, options), query, options))

  def apply(df: DataFrame, query: String, options: Options): DataFrame =
    inWords {
      val params = Parameters(df, Parser.parse(query), options.params)
      val binding = new Binding(df, Program(query, params.quantities), options, params)
      val plan = planOf(binding, query, options)
      val events = prepare(binding)
      val rows =
        if (!df.isStreaming) batch(events, binding, plan)
        else {
          warnOfUnboundedState(binding, plan)
          val oneTask = binding.keys.isEmpty || binding.program.query.consumeBy == Consume.Any
          Stream.matches(events, plan, oneTask, df.sparkSession)
        }
      noted(output(rows, binding, plan), binding)
    }

  /** What the engine refuses, as an error of Spark's. */
  def inWords[A](body: => A): A =
    try body
    catch { case e: CeqlException => throw new CerException(e.condition, e.getMessage) }

  /** The name of the time column stays with `start`, for whoever puts the events of a match in order. */
  private def noted(matches: DataFrame, b: Binding): DataFrame =
    if (b.program.counts) matches
    else matches.withMetadata("start", new MetadataBuilder().putString(TimeColumn, b.time.name).build())

  private val TimeColumn = "spark.cer.time"

  private def planOf(b: Binding, query: String, options: Options): Plan = Plan(
    query,
    MatchSchema(StructType(b.keys), b.time.dataType, b.shown, b.program.columns, b.program.counts),
    b.clock,
    b.windowClock,
    b.windowSize,
    b.windowColumn == b.time && !b.program.countsEvents,
    b.df.sparkSession.conf.get(MaxMatches, DefaultMaxMatches.toString).toLong,
    b.delay,
    b.idle,
    options.lateRows,
    s"by ${b.time.name} ${b.time.dataType.sql}${b.order.fold("")(o => s", then ${o.name}")}",
    java.util.UUID.randomUUID().toString,
    f"spark_cer_${31 * s"${query.trim}${b.params.text}".hashCode + b.df.semanticHash()}%08x",
    b.params.quantities,
    b.params.text
  )

  /** Once for each use of a query. */
  private def warnOfUnboundedState(b: Binding, plan: Plan): Unit = {
    val why =
      if (b.program.query.within.isEmpty) Some("there is no WITHIN")
      else if (b.program.countsEvents) Some("WITHIN counts events, and a key that falls silent counts none")
      else if (plan.delay.isEmpty || !plan.windowIsTime) Some("no watermark tells that a window has passed")
      else None
    why.filter(_ => plan.idle.isEmpty && b.keys.nonEmpty || b.program.query.within.isEmpty).foreach { reason =>
      LoggerFactory
        .getLogger("sparkcer")
        .warn(
          s"[CER_UNBOUNDED_STATE] The state of this stream can grow without bound, because $reason. idle='7 days' drops keys that are silent so long."
        )
    }
  }

  private val MaxMatches = "spark.cer.maxMatchesPerEvent"
  private val DefaultMaxMatches = 1000000L

  /** What happens before the shuffle: one mask for all predicates, events that cannot matter dropped, the rest packed.
    */
  private def prepare(b: Binding): Dataset[Event] = {
    val guards = b.guards.map(Bridge.expression)
    val words = guards.grouped(64).map(g => Bridge.column(Mask(g))).toVector match {
      case Vector() => Vector(lit(0L))
      case some     => some
    }
    val masks = words.indices.map(i => s"mask$i")
    val time = longOf(b.columnOf(b.time))
    val clock = longOf(b.columnOf(b.windowColumn))
    val masked = b.df.select(
      Vector(
        packed(None, b.keys.map(b.columnOf)).as("key"),
        lit(0L).as("slice"),
        time.as("time"),
        coalesce(clock, lit(0L)).as("clock"),
        clock.isNotNull.as("timed"),
        orderOf(b).as("order"),
        Bridge.column(Arrival()).as("arrival"),
        packed(Some(time), b.shown.map(b.columnOf)).as("payload"),
        b.keys.map(k => b.columnOf(k).isNotNull).foldLeft(time.isNotNull)(_ && _).as("placed")
      ) ++ words.zip(masks).map { case (word, name) => word.as(name) }: _*
    )
    // A condition with a lambda would leave generated code, and every event be packed before it is dropped.
    val placed = masked.where("placed")
    val matter = if (!b.program.droppable) placed else placed.where(masks.map(m => s"$m != 0").mkString(" OR "))
    val more = if (words.length > 1) array(masks.tail.map(col): _*) else lit(null).cast(ArrayType(LongType))
    matter
      .withColumns(Map("mask" -> col(masks.head), "more" -> more))
      .drop("placed" +: masks: _*)
      .as[Event](Encoders.product[Event])
  }

  private def packed(time: Option[Column], columns: Seq[Column]): Column =
    Bridge.column(Pack(time.map(Bridge.expression), columns.map(Bridge.expression)))

  private def longOf(c: Column): Column = Bridge.column(AsLong(Bridge.expression(c)))

  private def orderOf(b: Binding): Column = b.order match {
    case None                                  => lit(0L)
    case Some(f) if Clock.supports(f.dataType) => coalesce(longOf(b.columnOf(f)), lit(Long.MinValue))
    case Some(f)                               =>
      throw new CerException(
        "CER_TYPE_MISMATCH",
        s"[CER_TYPE_MISMATCH] The order column '${f.name}' is ${f.dataType.sql}, and must be a number or a time."
      )
  }

  /** In a batch no state is needed: sorted by key (or slice) and time, one substream comes after the other. */
  private def batch(events: Dataset[Event], b: Binding, plan: Plan): DataFrame = {
    val order = Seq("time", "order", "arrival").map(col)
    implicit val bytes: Encoder[Array[Byte]] = Encoders.BINARY
    val consume = b.program.query.consumeBy
    val slices = if (b.keys.isEmpty) Slices.of(plan, consume != Consume.None) else None
    def recognized(parts: Dataset[Event], by: Seq[String], grouped: Boolean) =
      parts
        .sortWithinPartitions(by.map(col) ++ order: _*)
        .mapPartitions(new Batch(plan, grouped, slices))
    // In time order the sort is cheaper than by key and time, and a window tells which keys can be forgotten.
    val inTime = plan.windowIsTime && plan.windowSize.isDefined
    val rows =
      if (slices.isDefined) recognized(slices.get.cut(events).repartition(col("slice")), Seq("slice"), grouped = true)
      else if (b.keys.isEmpty || consume == Consume.Any) recognized(events.repartition(1), Nil, grouped = false)
      else if (inTime) recognized(events.repartition(col("key")), Nil, grouped = false)
      else recognized(events.repartition(col("key")), Seq("key"), grouped = true)
    rows.toDF("row").withColumns(Map("late" -> lit(null).cast(BinaryType), "end" -> lit(null)))
  }

  /** Typed columns from the bytes of match rows and of late events. In event time `end` is the column that Spark knows
    * to carry the watermark, so that a windowed aggregation over matches works.
    */
  private def output(rows: DataFrame, b: Binding, plan: Plan): DataFrame = {
    val unpacked = rows.select(
      unpack(col("row"), plan.schema.row, always = !plan.lateRows).as("m"),
      unpack(col("late"), plan.schema.event, always = false).as("late"),
      col("end")
    )
    def field(name: String): Column = col("m").getField(name).as(name)
    val keys = b.keys.map(k => col("m").getField("key").getField(k.name).as(k.name))
    val end = if (plan.delay.isDefined) col("end") else field("end")
    val columns =
      if (b.program.counts) keys ++ Vector(end, field("matches"))
      else
        Vector(field("match_id")) ++ keys ++ Vector(field("start"), end) ++
          b.program.columns.map { c =>
            val whole = field(c.variable)
            b.attributes(c).fold(whole)(fields => narrowed(whole, c, fields.map(_.name)).as(c.variable))
          }
    unpacked.select(columns ++ (if (plan.lateRows) Vector(col("late")) else Vector.empty): _*)
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
