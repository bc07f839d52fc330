package sparkcer.internal.bind

import scala.util.matching.Regex

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.analysis.{Star, UnresolvedAttribute, UnresolvedExtractValue}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.cerbridge.{Columns, Plans}
import org.apache.spark.sql.types._

import sparkcer.engine.ceql.{CeqlException, Formula, SelectList}
import sparkcer.engine.evaluate.Program
import sparkcer.internal.output.MatchSchema

/** The measures of a query and its HAVING, as expressions over the columns of a match row. Names are found here, in the
  * expression as Spark has parsed it. Types are resolved by Spark, against DataFrames without rows.
  *
  * They come after everything else, in a projection and a filter of their own, so the engine, its state and the
  * identity of a match do not know them. They only decide which variables are selected and which columns of events are
  * kept.
  */
final private[sparkcer] class MeasureBinding(b: Binding) {
  import MeasureBinding._

  private val program = b.program
  private val query = program.query
  private val variables: Map[String, Program.Column] = program.columns.map(c => c.variable -> c).toMap

  /** Names that stand alone, with the columns of the match row. */
  private val single: Vector[(String, Seq[String])] =
    (if (program.counts) Vector("end", "matches") else Vector("start", "end")).map(n => n -> Seq(n)) ++
      b.keys.map(k => k.name -> Seq(MatchSchema.Key, k.name))

  private var aggregates = Vector.empty[Aggregate]

  private val measures: Vector[(SelectList.Measure, Expression)] =
    query.select.measures.map(m => m -> new Text(m.sql, m.offset, Map.empty, "CER_UNKNOWN_COLUMN.MEASURE").result)

  private val having: Option[Expression] = query.having.map { h =>
    val named = measures.map { case (m, e) => m.name.value -> e }.toMap
    new Text(h.sql, h.offset, named, "CER_UNKNOWN_COLUMN.HAVING").result
  }

  private def texts: Vector[Expression] = measures.map(_._2) ++ having

  /** The columns of events that they read. */
  val columns: Set[String] = {
    def of(e: Expression): Set[String] = e
      .collect { case Named(x +: column +: _) if x != MatchSchema.Key => column }
      .flatMap(c => b.schema.find(f => b.same(f.name, c)).map(_.name))
      .toSet
    val whole = aggregates.exists(a => a.argument.isEmpty && a.function != "count")
    if (whole) b.schema.fieldNames.toSet
    else (texts ++ aggregates.flatMap(_.argument)).flatMap(of).toSet
  }

  // Types

  private lazy val row = Plans.empty(b.df, b.matchSchema.named)
  private lazy val rowOf: Map[String, Attribute] = Plans.planOf(row).output.map(a => a.name -> a).toMap

  /** The columns of a match row and one event, for the arguments of aggregates. */
  private lazy val rowAndEvent =
    Plans.empty(b.df, StructType(StructField(Event, b.kept, nullable = false) +: b.matchSchema.named))

  /** The columns of a match row and the values of all aggregates. */
  private lazy val rowAndValues = {
    val fields = values.zipWithIndex.map { case (e, i) => StructField(value(i), e.dataType, e.nullable) }
    Plans.empty(b.df, StructType(b.matchSchema.named ++ fields))
  }

  private lazy val values: Vector[Expression] = aggregates.map { a =>
    val events = new EventsOf(variables(a.variable), rowOf(a.variable), b.kept)
    def over(e: Expression) = resolved(rowAndEvent, e, a.sql, a.offset).transform {
      case c: Attribute if c.name != Event => rowOf.getOrElse(c.name, c)
    }
    (a.function, a.argument) match {
      case ("count", None)                  => events.count
      case ("first", None)                  => events.first
      case ("last", None)                   => events.last
      case ("first", Some(e))               => events.ofOne(events.first, over(e))
      case ("last", Some(e))                => events.ofOne(events.last, over(e))
      case ("collect", Some(e))             => events.values(over(e))
      case ("count", Some(e)) if a.distinct => events.distinct(over(e))
      case (_, Some(e))                     => events.folded(over(a.call(e)))
      case (other, None)                    => throw new IllegalStateException(s"$other takes no events")
    }
  }

  /** An expression over the columns of a match row. */
  private def typed(e: Expression, sql: String, offset: Int): Expression = {
    val whole = resolved(rowAndValues, e, sql, offset).transform { case a: Attribute =>
      if (a.name.startsWith(Value)) values(a.name.stripPrefix(Value).toInt) else rowOf(a.name)
    }
    resolved(row, whole, sql, offset)
  }

  private def resolved(frame: DataFrame, e: Expression, sql: String, offset: Int): Expression = {
    val found =
      try Columns.resolve(frame, Columns.column(b.params.bind(e)))
      catch {
        case e: AnalysisException =>
          b.fail(offset, "CER_TYPE_MISMATCH.MEASURE", "sql" -> sql, "reason" -> words(b.firstLine(e), sql))
      }
    def refuse(what: String) = b.fail(offset, "CER_UNSUPPORTED.MEASURE", "what" -> what, "sql" -> sql)
    if (!found.references.subsetOf(AttributeSet(Plans.planOf(frame).output)))
      refuse("a function that returns several rows")
    found match {
      case AggregateExpression(f, _, _, _, _) if frame eq rowAndEvent =>
        f.children.flatMap(b.refusal).foreach(r => refuse(r._2))
      case _ =>
        if (found.exists(_.isInstanceOf[AggregateFunction]))
          b.fail(offset, "CER_UNSUPPORTED.AGGREGATE_OF_MATCH", "sql" -> sql)
        b.refusal(found).foreach(r => refuse(r._2))
    }
    found
  }

  /** The message of Spark with the names of the query. */
  private def words(message: String, sql: String): String = {
    val variable = aggregates.find(_.sql == sql).fold("x")(_.variable)
    val named = aggregates.indices.reverse.map(i => value(i) -> aggregates(i).shown) ++
      Seq(Event -> variable, s"${MatchSchema.Key}." -> "")
    named.foldLeft(message) { case (text, (name, shown)) =>
      text.replaceAll(s"`?${Regex.quote(name)}`?", Regex.quoteReplacement(shown))
    }
  }

  /** The measures in order, as expressions over the columns of a match row. */
  lazy val bound: Vector[(SelectList.Measure, Expression)] =
    measures.map { case (m, e) => m -> typed(e, m.sql, m.offset) }

  /** HAVING, as an expression over the columns of a match row. */
  lazy val condition: Option[Expression] = having.map { e =>
    val h = query.having.get
    val found = typed(e, h.sql, h.offset)
    if (found.dataType != BooleanType)
      b.fail(h.offset, "CER_TYPE_MISMATCH.HAVING", "sql" -> h.sql, "type" -> found.dataType.sql)
    found
  }

  /** Fails if one of them does not fit. */
  def check(): Unit = { bound: Unit; condition: Unit }

  // Names

  /** One text, with its names as columns of the match row, and its aggregates as columns of their own.
    *
    * @param named
    *   the measures that it can name
    * @param unknown
    *   the error if it names something that is not there
    */
  final private class Text(sql: String, offset: Int, named: Map[String, Expression], unknown: String) {

    lazy val result: Expression = {
      val parsed = b.parse(sql, s"'$sql'", offset)
      parsed.foreach {
        case _: SubqueryExpression                        => unsupported("a subquery")
        case _: Star                                      => unsupported("'*'")
        case e if e.nodeName.endsWith("WindowExpression") => unsupported("a window function")
        case _                                            => ()
      }
      placed(parsed, Nil)
    }

    private def unsupported(what: String) = b.fail(offset, "CER_UNSUPPORTED.MEASURE", "what" -> what, "sql" -> sql)

    /** @param arguments of the lambda functions around it */
    private def placed(e: Expression, arguments: Seq[String]): Expression = e match {
      case AggregateCall(call) => aggregate(call, None, arguments)
      case UnresolvedExtractValue(AggregateCall(call), Literal(field, StringType))
          if isWhole(call) && call.name != "count" =>
        aggregate(call, Some(field.toString), arguments)
      case UnresolvedAttribute(names)                                => column(names)
      case Lambda(names) if !arguments.exists(b.same(_, names.head)) =>
        column(names) match { case UnresolvedAttribute(at) => UnresolvedNamedLambdaVariable(at); case other => other }
      case f: LambdaFunction => f.copy(function = placed(f.function, arguments ++ argumentsOf(f)))
      case other             => other.mapChildren(placed(_, arguments))
    }

    private def argumentsOf(f: LambdaFunction): Seq[String] = {
      val own = f.arguments.collect { case Lambda(names) => names.head }
      own.find(query.where.variables).foreach { n =>
        b.fail(b.place(n, offset), "CER_UNSUPPORTED.LAMBDA_NAME", "name" -> n)
      }
      own
    }

    private def column(names: Seq[String]): Expression = {
      val (name, path) = (names.head, names.tail)
      if (path.nonEmpty && variables.contains(name)) {
        checkColumn(path.head)
        if (!variables(name).multiplicity.atMostOne)
          b.fail(
            b.place(name, offset),
            "CER_UNSUPPORTED.SEVERAL_EVENTS",
            "variable" -> name,
            "column" -> names.mkString(".")
          )
        UnresolvedAttribute(names)
      } else
        named
          .collectFirst {
            case (n, e) if b.same(n, name) => path.foldLeft(e)((of, f) => UnresolvedExtractValue(of, Literal(f)))
          }
          .orElse(single.collectFirst { case (n, at) if b.same(n, name) => UnresolvedAttribute(at ++ path) })
          .getOrElse(unknownName(name, path))
    }

    private def checkColumn(name: String): Unit =
      if (!b.schema.exists(f => b.same(f.name, name))) b.unknown(name, b.place(name, offset))

    private def unknownName(name: String, path: Seq[String]): Nothing = {
      val bound = query.where.variables.toVector.sorted
      val at = b.place(name, offset)
      val names = single.map(_._1) ++ named.keys.toVector.sorted
      if (program.counts)
        if (bound.contains(name))
          b.fail(at, "CER_UNSUPPORTED.COUNT_HAVING", "name" -> name, "names" -> names.mkString(", "))
        else unknownAmong(name, at, names, "")
      else if (bound.contains(name)) {
        val column =
          b.schema.fieldNames.find(n => n != b.time.name && !b.typeColumn.exists(_.name == n)).getOrElse(b.time.name)
        b.fail(at, "CER_UNSUPPORTED.WHOLE_EVENT", "variable" -> name, "column" -> column)
      } else if (path.nonEmpty)
        b.fail(
          at,
          "CER_UNKNOWN_VARIABLE.MEASURE",
          "name" -> name,
          "variables" -> CeqlException.list(bound),
          "suggestion" -> CeqlException.suggestion(name, bound)
        )
      else unknownAmong(name, at, names, "columns of variables, such as " + example(name) + ", and ")
    }

    private def unknownAmong(name: String, at: Int, names: Vector[String], more: String): Nothing =
      b.fail(
        at,
        unknown,
        "name" -> name,
        "names" -> (more + names.mkString(", ")),
        "suggestion" -> CeqlException.suggestion(name, names)
      )

    /** A column of a variable of the pattern, if possible the one that was probably meant. */
    private def example(name: String): String = {
      val x = query.where.subformulas
        .collectFirst { case Formula.As(_, x) => x.value }
        .getOrElse(query.where.variables.toVector.sorted.headOption.getOrElse("x"))
      s"$x.${b.schema.fieldNames.find(b.same(_, name)).orElse(CeqlException.nearest(name, b.schema.fieldNames)).getOrElse(b.time.name)}"
    }

    // Aggregates

    /** Is its argument a variable, and not a column of one? */
    private def isWhole(call: AggregateCall): Boolean = call.arguments match {
      case Seq(UnresolvedAttribute(Seq(x))) => query.where.variables(x)
      case _                                => false
    }

    /** @param field
      *   of `first(x).a`, which is `first(x.a)`
      */
    private def aggregate(call: AggregateCall, field: Option[String], arguments: Seq[String]): Expression = {
      val at = Seq(call.name, call.name.toUpperCase).map(b.place(_, offset)).max
      def refuse(key: String, parameters: (String, String)*) = b.fail(at, key, ("sql" -> sql) +: parameters: _*)
      call.form.foreach(what => refuse("CER_UNSUPPORTED.AGGREGATE_FORM", "what" -> what))
      if (call.distinct && call.name != "count")
        refuse("CER_UNSUPPORTED.AGGREGATE_FORM", "what" -> s"DISTINCT in ${call.name}")
      val takesEvents = OfEvents(call.name) && !call.distinct
      if (call.arguments.length != 1 || isWhole(call) && !takesEvents) {
        val column = s"${call.name}(${query.where.variables.toVector.sorted.headOption.getOrElse("x")}.${b.time.name})"
        refuse(
          "CER_SYNTAX.AGGREGATE_ARGUMENT",
          "function" -> call.name,
          "argument" -> s"one column or expression, such as $column"
        )
      }
      if (call.arguments.head.exists { case AggregateCall(_) => true; case _ => false })
        refuse("CER_UNSUPPORTED.AGGREGATE_NESTED")
      val (argument, variable) = call.arguments.head match {
        case UnresolvedAttribute(Seq(x)) if isWhole(call) =>
          if (program.counts) column(Seq(x)): Unit
          field.foreach(checkColumn)
          (field.map(f => UnresolvedAttribute(Seq(Event, f))), x)
        case e =>
          val named = e.collect { case Named(x +: _ +: _) if variables.contains(x) => x }.distinct
          if (named.length > 1) refuse("CER_UNSUPPORTED.AGGREGATE_VARIABLES", "variables" -> named.mkString(" and "))
          val placed = inAggregate(e, arguments)
          if (named.isEmpty) {
            val example = s"${call.name}(${query.where.variables.toVector.sorted.headOption
                .getOrElse("x")}${if (OfEvents(call.name)) "" else s".${b.time.name}"})"
            refuse("CER_SYNTAX.AGGREGATE_WITHOUT_VARIABLE", "example" -> example)
          }
          (Some(placed), named.head)
      }
      aggregates :+= Aggregate(call.name, call.distinct, variable, argument, call.call, sql, offset)
      UnresolvedAttribute(Seq(value(aggregates.length - 1)))
    }

    /** The argument of an aggregate, in which the columns of its variable are those of one event. */
    private def inAggregate(e: Expression, arguments: Seq[String]): Expression = {
      def at(names: Seq[String]): Expression =
        if (names.length > 1 && variables.contains(names.head)) {
          checkColumn(names(1))
          UnresolvedAttribute(Event +: names.tail)
        } else column(names)
      e match {
        case UnresolvedAttribute(names)                                => at(names)
        case Lambda(names) if !arguments.exists(b.same(_, names.head)) =>
          at(names) match { case UnresolvedAttribute(n) => UnresolvedNamedLambdaVariable(n); case other => other }
        case f: LambdaFunction => f.copy(function = inAggregate(f.function, arguments ++ argumentsOf(f)))
        case other             => other.mapChildren(inAggregate(_, arguments))
      }
    }
  }
}

private[sparkcer] object MeasureBinding {

  /** One event of the variable of an aggregate. */
  private[bind] val Event = "__cer_event"

  private val Value = "__cer_value_"
  private def value(i: Int): String = s"$Value$i"

  /** Those that take whole events. */
  private val OfEvents = Set("count", "first", "last")

  /** An aggregate over the events of a variable.
    *
    * @param argument
    *   over the columns of an event, or none if it is about whole events
    * @param call
    *   Spark's aggregate of an argument
    */
  final private case class Aggregate(
      function: String,
      distinct: Boolean,
      variable: String,
      argument: Option[Expression],
      call: Expression => Expression,
      sql: String,
      offset: Int
  ) {

    /** For messages of Spark, which have no better name for it. */
    def shown: String = argument match {
      case Some(UnresolvedAttribute(Seq(_, column))) => s"$function($variable.$column)"
      case Some(_)                                   => s"$function($variable. …)"
      case None                                      => s"$function($variable)"
    }
  }

  /** A name anywhere. */
  private object Named {
    def unapply(e: Expression): Option[Seq[String]] = e match {
      case UnresolvedAttribute(names) => Some(names)
      case other                      => Lambda.unapply(other)
    }
  }

  /** A name in the body of a lambda function. */
  private object Lambda {
    def unapply(e: Expression): Option[Seq[String]] = e match {
      case UnresolvedNamedLambdaVariable(names) => Some(names)
      case _                                    => None
    }
  }
}
