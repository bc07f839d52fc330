package sparkcer.internal.bind

import scala.util.matching.Regex

import org.apache.spark.sql.{AnalysisException, Column, DataFrame}
import org.apache.spark.sql.catalyst.analysis.{MultiAlias, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, PythonUDF, SubqueryExpression}
import org.apache.spark.sql.catalyst.expressions.{UnresolvedWindowExpression, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.functions.{coalesce, lit, not}
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans, Sessions}
import org.apache.spark.sql.types._

import sparkcer.TypeColumn
import sparkcer.engine.automaton.EventCondition
import sparkcer.engine.ceql.{CeqlException, Formula, Name, Parser, Quantity, Query, SqlCondition, Window}
import sparkcer.engine.evaluate.Program
import sparkcer.internal.output.MatchSchema

/** A query bound to the columns of a DataFrame: every name is found and every type is checked. Errors have the place in
  * the query.
  */
final class Binding(val df: DataFrame, val program: Program, options: Options, val params: ParameterValues) {
  private val query: Query = program.query
  private[sparkcer] val same = Sessions.sameName(df)
  private[sparkcer] val schema = StructType(df.schema.filterNot(Inputs.isStream))
  private val stream: Option[Column] = Inputs.streamOf(df.schema).map(columnOf)

  private val partitionBy = query.partitionBy.map(key)

  /** The columns of PARTITION BY, under the names that they have in the output. */
  val keys: Vector[StructField] = partitionBy.map(_._1)
  val keyColumns: Vector[Column] = partitionBy.map(_._2)
  val time: StructField = timeColumn()
  val order: Option[StructField] = options.order.map(option(_, "order"))
  val clock: Clock = Clock(time.dataType)

  /** The column that WITHIN limits, by default the time column. */
  val windowColumn: StructField = query.within match {
    case Some(Window.Attribute(_, a)) => column(a, "WITHIN")
    case _                            => time
  }
  val windowClock: Clock = Clock(windowColumn.dataType)

  /** The size of the window in the units of the clock, unless WITHIN counts events. */
  val windowSize: Option[BigDecimal] = query.within
    .filterNot(_.isInstanceOf[Window.Events])
    .map(sizeOf(_, withinOffset)._2)

  /** The place of the word WITHIN, or, where it is only implied, of what says so. */
  private def withinOffset = query.withinOffset.getOrElse {
    query.where.subformulas.collectFirst { case a: Formula.Absent => a.offset }.getOrElse(0)
  }

  /** The column that a window of time limits, and its size in the units of that column's clock.
    *
    * @param offset
    *   the place of the word WITHIN
    */
  private[sparkcer] def sizeOf(window: Window, offset: Int): (StructField, BigDecimal) = window match {
    case Window.Attribute(Quantity.Number(n), a) =>
      val limited = column(a, "WITHIN")
      if (!Clock.supports(limited.dataType)) fail(a.offset, "CER_TYPE_MISMATCH.WINDOW_COLUMN", typed(limited): _*)
      (limited, Clock(limited.dataType).units(n))
    case Window.Duration(micros) =>
      (time, clock.duration(micros).getOrElse(fail(offset, "CER_TYPE_MISMATCH.WINDOW_OF_TIME", typed(time): _*)))
    case other => throw new IllegalStateException(s"$other is no window of time")
  }

  /** The type column. Without one, the type of an event is the name of its input in FROM. */
  val typeColumn: Option[StructField] = Types.column(query, options.eventType).flatMap { name =>
    val there = schema.find(f => same(f.name, name))
    if (options.eventType == TypeColumn.Default) there else there.orElse(Some(option(name, "type")))
  }

  private val between = new ComparisonBinding(this)

  /** The measures and HAVING. */
  val measures = new MeasureBinding(this)

  /** The columns that are kept of an event: those that the output shows, those that measures and HAVING read, and those
    * that are compared with columns of other events.
    */
  val kept: StructType = {
    val all = program.columns.exists(_.attributes.isEmpty) || options.lateRows
    val names = program.columns.flatMap(_.attributes.getOrElse(Vector.empty)).map(attribute(_).column)
    StructType(
      schema.filter(f => all || names.contains(f.name) || measures.columns(f.name) || between.columns(f.name))
    )
  }

  val comparisons: BoundComparisons = between.over(kept)

  /** The comparisons over payloads that have these columns, all that are kept among them. */
  def comparisonsOver(columns: StructType): BoundComparisons = between.over(columns)

  val matchSchema: MatchSchema = MatchSchema(StructType(keys), time.dataType, kept, program.columns, program.counts)

  /** A column of an event that SELECT shows, or a field of one: `a` or `a.b` of `x[a, a.b]`. */
  private[sparkcer] def attribute(n: Name): ShownAttribute = {
    val names = path(n).map(_.name)
    ShownAttribute(names.head, names.tail, names.last)
  }

  /** The type column by the rule of format 1 of the state: a column `type` wherever there was one. */
  private[sparkcer] def firstTypeColumn: Option[StructField] = typeColumn.orElse(
    schema.find(f => same(f.name, Types.Usual)).filter(_ => Inputs.streamOf(df.schema).forall(Inputs.hasUnusedType))
  )

  private val eventType: Option[Column] = typeColumn match {
    case Some(f) if f.dataType == StringType => Some(columnOf(f))
    case Some(f)                             => throw new CerException("CER_TYPE_MISMATCH.TYPE_COLUMN", typed(f): _*)
    case None                                => stream
  }

  /** The type of each event, and the name of its input. */
  private[sparkcer] def typeName: Column = eventType.getOrElse(lit(query.from.head.value))
  private[sparkcer] def streamName: Column = stream.getOrElse(lit(query.from.head.value))

  /** The delay of the watermark, if it is on the time column, in the units of the clock. */
  val delay: Option[Long] = Binding.delay(df, time)

  /** How long a key may be without events, in the units of the clock. */
  val idle: Option[Long] = options.idle.map { text =>
    val size = Durations
      .micros(text)
      .flatMap(clock.duration)
      .orElse(scala.util.Try(BigDecimal(text)).toOption.filter(_ => clock.duration(0).isEmpty).map(clock.units))
    size
      .filter(_ >= 0)
      .map(_.toLong)
      .getOrElse(
        throw new CerException("CER_IDLE", typed(time) :+ ("idle" -> text): _*)
      )
  }

  /** What a query needs that ends with `NO … FOR`. */
  val waiting = new Waiting(this, options)

  /** What a query needs that begins with `NO … FOR`. */
  val lookingBack = new LookingBack(this, options)

  checkStreams()
  checkNames()
  measures.check()
  // Of several inputs, this is asked before they are merged.
  if (stream.isEmpty)
    Types.mustBePossible(query, Vector(Input(query.from.head.value, schema, typeColumn.isDefined)))
  if (df.isStreaming) Binding.checkWatermarks(Plans.planOf(df), Binding.WatermarkDelay)

  /** Each condition as a column that is TRUE for the events that meet it. The condition on the type comes first, so
    * that the rest is evaluated for events of that type only.
    */
  lazy val conditions: Seq[Column] = program.conditions.map(condition)

  private def condition(g: EventCondition): Column = {
    val ofType = eventType.fold(lit(g.eventType == query.from.head.value))(_ === lit(g.eventType))
    val kind = g.stream.zip(stream).fold(ofType) { case (name, column) => column === lit(name) && ofType }
    val holds = g.holds.toVector.sortBy(_.sql).map(condition)
    val fails = g.fails.toVector.sortBy(_.sql).map(p => not(coalesce(condition(p), lit(false))))
    val all = (holds ++ fails).foldLeft(kind)(_ && _)
    if (g.negated) not(coalesce(all, lit(false))) else all
  }

  private val checked = scala.collection.mutable.HashSet.empty[SqlCondition]

  /** The texts of all conditions, as columns. */
  private[sparkcer] lazy val unchecked: Vector[(SqlCondition, Column)] =
    program.conditions.flatMap(g => g.holds ++ g.fails).distinct.toVector.map { p =>
      p -> Columns.column(params.bind(parse(p.sql, s"the condition '${p.sql}'", p.offset)))
    }

  /** Takes note that the conditions are as Spark has resolved them, and need not be checked one by one. */
  private[sparkcer] def accept(resolved: Vector[Expression]): Boolean = {
    val fine = resolved.forall(e => e.dataType == BooleanType && refusal(e).isEmpty)
    if (fine) checked ++= unchecked.map(_._1)
    fine
  }

  private def condition(p: SqlCondition): Column = {
    if (checked.add(p)) checkCondition(p)
    Columns.column(params.bind(Columns.parse(df, p.sql)))
  }

  private def checkCondition(p: SqlCondition): Unit = {
    val parsed = parse(p.sql, s"the condition '${p.sql}'", p.offset)
    parsed.foreach {
      case a: UnresolvedAttribute if !schema.exists(f => same(f.name, a.nameParts.head)) =>
        unknown(a.nameParts.head, place(a.nameParts.head, p.offset))
      case AggregateCall(_)                                    => aggregateIn(p)
      case _: WindowExpression | _: UnresolvedWindowExpression =>
        fail(p.offset, "CER_UNSUPPORTED.CONDITION", "sql" -> p.sql, "what" -> "a window function")
      case _ => ()
    }
    val resolved =
      try Columns.resolve(df, Columns.column(params.bind(parsed)))
      catch {
        case e: AnalysisException =>
          fail(p.offset, "CER_TYPE_MISMATCH.CONDITION", "condition" -> p.sql, "reason" -> firstLine(e))
      }
    if (resolved.exists(_.isInstanceOf[AggregateFunction])) aggregateIn(p)
    refusal(resolved).foreach(fail(p.offset, "CER_UNSUPPORTED.CONDITION", "sql" -> p.sql, _))
    mustBeBoolean(resolved, p.sql, p.offset)
  }

  private def aggregateIn(p: SqlCondition): Nothing =
    fail(p.offset, "CER_UNSUPPORTED.AGGREGATE_IN_CONDITION", "sql" -> p.sql)

  private[sparkcer] def mustBeBoolean(e: Expression, sql: String, offset: Int): Unit =
    if (e.dataType != BooleanType)
      fail(offset, "CER_TYPE_MISMATCH.NOT_BOOLEAN", "condition" -> sql, "type" -> e.dataType.sql)

  /** Parses SQL text as Spark does. Spark would accept a word after the expression as an alias, as in a SELECT list;
    * here it is an error.
    */
  private[sparkcer] def parse(sql: String, shown: String, offset: Int): Expression = {
    def named(names: String) = fail(offset, "CER_SYNTAX.NAME_FOR_SQL", "sql" -> shown, "names" -> names)
    val parsed =
      try Columns.parse(df, sql)
      catch {
        case e: AnalysisException => fail(offset, "CER_SYNTAX.SQL", "sql" -> shown, "reason" -> firstLine(e))
      }
    parsed match {
      case Alias(_, name)       => named(name)
      case MultiAlias(_, names) => named(names.mkString(", "))
      case e                    => e
    }
  }

  /** What an expression has that cannot be used, as the parameter of a message. */
  private[sparkcer] def refusal(e: Expression): Option[(String, String)] = {
    val what =
      if (e.exists(_.isInstanceOf[PythonUDF])) Some("a Python UDF")
      else if (e.exists(_.isInstanceOf[SubqueryExpression])) Some("a subquery")
      else if (e.exists(_.isInstanceOf[AggregateFunction])) Some("an aggregate")
      else if (!e.deterministic) Some("a nondeterministic function")
      else None
    what.map("what" -> _)
  }

  /** The message of Spark, without its place, which is relative to the condition and not to the query. */
  private[sparkcer] def firstLine(e: AnalysisException): String =
    e.getMessage.trim.linesIterator
      .next()
      .replaceFirst("( SQLSTATE: \\w+)?( \\(line \\d+, pos \\d+\\)|; line \\d+ pos \\d+;?)?$", "")

  // Columns

  /** The column of a name in the query. */
  private def column(n: Name, clause: String): StructField = {
    val path = ColumnPath(n)
    found(path.whole).getOrElse {
      if (path.parts.length > 1)
        fail(n.offset, "CER_UNSUPPORTED.FIELD", "clause" -> clause, "name" -> n.value)
      else unknown(path.whole, n.offset)
    }
  }

  private def found(name: String): Option[StructField] = schema.find(f => same(f.name, name))

  /** A column of PARTITION BY, which may be a field of a struct, and is then called as the field. */
  private def key(n: Name): (StructField, Column) = {
    val fields = path(n)
    (fields.last, fields.tail.foldLeft(columnOf(fields.head))((column, f) => column.getField(f.name)))
  }

  /** A column, and the fields in it that a name leads through. */
  private def path(n: Name): Vector[StructField] = {
    val path = ColumnPath(n)
    val names = if (found(path.whole).isDefined) Vector(path.whole) else path.parts
    val first = found(names.head).getOrElse(unknown(names.head, n.offset))
    names.tail.foldLeft(Vector(first)) { (above, name) =>
      val in = above.last
      val fields = in.dataType match {
        case s: StructType => s
        case _             => fail(n.offset, "CER_TYPE_MISMATCH.NOT_A_STRUCT", typed(in) :+ ("name" -> name): _*)
      }
      val field = fields.find(f => same(f.name, name)).getOrElse {
        val own = "column" -> in.name
        fail(n.offset, "CER_UNKNOWN_COLUMN.FIELD", own +: among(name, "fields", fields.fieldNames): _*)
      }
      above :+ field.copy(nullable = in.nullable || field.nullable)
    }
  }

  private def option(name: String, which: String): StructField =
    schema
      .find(f => same(f.name, name))
      .getOrElse(
        throw new CerException("CER_UNKNOWN_COLUMN.OPTION", notAmong(name) :+ ("option" -> which): _*)
      )

  private def timeColumn(): StructField = {
    val watermark = schema.find(_.metadata.contains(Binding.WatermarkDelay))
    val fromWindow = query.within.collect { case Window.Attribute(_, a) => column(a, "WITHIN") }
    val field = options.time.map(option(_, "time")).orElse(watermark).orElse(fromWindow).getOrElse {
      // A number is the time only where nothing else can be.
      val (times, numbers) =
        schema.filter(f => Clock.supports(f.dataType)).partition(f => Clock(f.dataType).duration(0).isDefined)
      val candidates = (if (times.isEmpty) numbers else times).map(f => s"time='${f.name}'")
      if (candidates.isEmpty) throw new CerException("CER_NO_TIME.NO_CANDIDATE")
      else throw new CerException("CER_NO_TIME.CANDIDATES", "columns" -> candidates.mkString(" or "))
    }
    if (!Clock.supports(field.dataType)) throw new CerException("CER_TYPE_MISMATCH.TIME_COLUMN", typed(field): _*)
    field
  }

  private def checkStreams(): Unit =
    if (query.from.length > 1 && stream.isEmpty) {
      val inputs = query.from.map(n => s"\"${n.value}\": …")
      fail(query.from(1).offset, "CER_SEVERAL_STREAMS", "inputs" -> inputs.mkString(", "))
    }

  /** Fails if two columns have the same name, as the session compares names: of a match row, or of the output. */
  private def checkNames(): Unit = {
    val fixed = (if (program.counts) Vector("end", "matches") else Vector("match_id", "start", "end")) ++
      (if (options.lateRows) Vector("late") else Vector.empty)
    def twice(names: Vector[String]) = names.find(n => names.count(same(_, n)) > 1)
    def refuse(names: Vector[String]): Unit = twice(names).foreach { n =>
      val all = names.filter(same(_, n)).distinct
      val isVariable = program.columns.exists(c => same(c.variable, n))
      val key = if (isVariable) "CER_NAME_COLLISION.OUTPUT" else "CER_NAME_COLLISION.OUTPUT_KEY"
      throw new CerException(key, "names" -> all.mkString("'", "' and '", "'"))
    }
    val shown = program.shown.flatMap {
      case v: Program.ShownVariable =>
        val fields = v.attributes.map(_.map(attribute))
        fields.filter(_.exists(_.fields.nonEmpty)).flatMap(all => twice(all.map(_.name))).foreach { n =>
          fail(v.attributes.get.head.offset, "CER_NAME_COLLISION.FIELDS", "name" -> n)
        }
        if (v.flat) fields.fold(kept.fieldNames.toVector)(_.map(_.name)).map(f => s"${v.name}_$f") else Vector(v.name)
      case _: Program.ShownMeasure => Vector.empty
    }
    val others = fixed ++ keys.map(_.name) ++ shown
    refuse(others)
    refuse(fixed ++ program.columns.map(_.variable))
    query.select.measures.zipWithIndex.foreach { case (m, i) =>
      if ((others ++ query.select.measures.take(i).map(_.name.value)).exists(same(_, m.name.value)))
        fail(m.name.offset, "CER_NAME_COLLISION.MEASURE", "name" -> m.name.value)
    }
  }

  /** The first place in the query, from an offset on, that has the name. */
  private[sparkcer] def place(name: String, offset: Int): Int = {
    val named = ("(?U)(?<!\\w)" + Regex.quote(name) + "(?!\\w)").r
    named.findFirstMatchIn(query.text.substring(offset)).fold(offset)(offset + _.start)
  }

  private[sparkcer] def unknown(name: String, offset: Int): Nothing =
    fail(offset, "CER_UNKNOWN_COLUMN.COLUMN", notAmong(name): _*)

  // Parameters of messages

  private def notAmong(name: String): Seq[(String, String)] = among(name, "columns", schema.fieldNames)

  private def among(name: String, what: String, names: Array[String]): Seq[(String, String)] =
    Seq("name" -> name, what -> names.mkString(", "), "suggestion" -> CeqlException.suggestion(name, names))

  private[bind] def typed(f: StructField): Seq[(String, String)] = Seq("column" -> f.name, "type" -> f.dataType.sql)

  private[sparkcer] def fail(offset: Int, key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(query.text, offset, key, parameters: _*)

  def columnOf(f: StructField): Column = Columns.named(df, f.name)
}

/** A column of an event that SELECT shows, with the path to a field of it, under the last name. */
final private[sparkcer] case class ShownAttribute(column: String, fields: Vector[String], name: String)

private[sparkcer] object Binding {

  /** Binds the text of a query, with the values of its parameters, to a DataFrame. */
  def of(df: DataFrame, query: String, options: Options): Binding = {
    val params = ParameterValues(df, Parser.parse(query), options.params)
    new Binding(df, Program(query, params.quantities), options, params)
  }

  /** The key under which Spark stores the delay of a watermark in the metadata of a column, in milliseconds. */
  val WatermarkDelay: String = EventTimeWatermark.delayKey

  /** The delay of a stream's watermark, if it is on the time column, in the units of its clock. */
  def delay(df: DataFrame, time: StructField): Option[Long] =
    if (df.isStreaming && time.metadata.contains(WatermarkDelay)) Some(time.metadata.getLong(WatermarkDelay) * 1000)
    else None

  /** Fails if Spark stores a watermark elsewhere: it would be overlooked, and events would be read in arrival order. */
  def checkWatermarks(plan: LogicalPlan, key: String): Unit = plan.foreach {
    case w: EventTimeWatermark if !w.output.exists(_.metadata.contains(key)) =>
      throw new CerException("CER_WATERMARK.METADATA", "column" -> w.eventTime.name, "key" -> key)
    case _ => ()
  }
}
