package sparkcer.internal.bind

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{Star, UnresolvedAttribute, UnresolvedExtractValue}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

import sparkcer.engine.ceql.{CeqlException, Formula}
import sparkcer.engine.evaluate.Program
import sparkcer.internal.output.MatchSchema

/** The SQL of a measure or of HAVING, in which names are found but types are not known yet.
  *
  * @param named
  *   the measures that it can name
  * @param first
  *   the number of its first aggregate, among those of all texts
  * @param unknown
  *   the error if it names something that is not there
  */
final private[bind] class MeasureText(
    b: Binding,
    val sql: String,
    val offset: Int,
    named: Map[String, Expression],
    first: Int,
    unknown: String
) {
  import MeasureText._

  private val program = b.program
  private val query = program.query
  private val variables: Map[String, Program.Column] = program.columns.map(c => c.variable -> c).toMap

  /** Names that stand alone, with the columns of the match row. */
  private val single: Vector[(String, Seq[String])] =
    (if (program.counts) Vector("end", "matches") else Vector("start", "end")).map(n => n -> Seq(n)) ++
      b.keys.map(k => k.name -> Seq(MatchSchema.Key, k.name))

  private var found = Vector.empty[Aggregate]

  /** The text, with columns of the match row for names and columns of their own for aggregates. */
  val expression: Expression = {
    val parsed = b.parse(sql, s"'$sql'", offset)
    parsed.foreach {
      case _: SubqueryExpression                        => unsupported("a subquery")
      case _: Star                                      => unsupported("'*'")
      case e if e.nodeName.endsWith("WindowExpression") => unsupported("a window function")
      case f: LambdaFunction                            => checkArguments(f)
      case _                                            => ()
    }
    inMatch(parsed)
  }

  /** Its aggregates, in the order of their numbers. */
  def aggregates: Vector[Aggregate] = found

  private def unsupported(what: String) = b.fail(offset, "CER_UNSUPPORTED.MEASURE", "what" -> what, "sql" -> sql)

  private def checkArguments(f: LambdaFunction): Unit =
    Names.argumentsOf(f).find(query.where.variables).foreach { n =>
      b.fail(b.place(n, offset), "CER_UNSUPPORTED.LAMBDA_NAME", "name" -> n)
    }

  private def inMatch: Names = new Names(b.same, column) {
    override protected def whole(e: Expression, arguments: Seq[String]): Option[Expression] = e match {
      case AggregateCall(call) => Some(aggregate(call, None, arguments))
      case UnresolvedExtractValue(AggregateCall(call), Literal(field, StringType))
          if isWhole(call) && call.name != "count" =>
        Some(aggregate(call, Some(field.toString), arguments))
      case _ => None
    }
  }

  /** For the argument of an aggregate, in which the columns of its variable are those of one event. */
  private def inAggregate: Names = new Names(
    b.same,
    names =>
      if (names.length > 1 && variables.contains(names.head)) {
        checkColumn(names(1))
        UnresolvedAttribute(Event +: names.tail)
      } else column(names)
  )

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
    val at = Seq(call.name, call.name.toUpperCase(Locale.ROOT)).map(b.place(_, offset)).max
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
        val named = e.collect { case Names(x +: _ +: _) if variables.contains(x) => x }.distinct
        if (named.length > 1) refuse("CER_UNSUPPORTED.AGGREGATE_VARIABLES", "variables" -> named.mkString(" and "))
        val placed = inAggregate(e, arguments)
        if (named.isEmpty) {
          val example = s"${call.name}(${query.where.variables.toVector.sorted.headOption
              .getOrElse("x")}${if (OfEvents(call.name)) "" else s".${b.time.name}"})"
          refuse("CER_SYNTAX.AGGREGATE_WITHOUT_VARIABLE", "example" -> example)
        }
        (Some(placed), named.head)
    }
    found :+= Aggregate(call.name, call.distinct, variable, argument, call.call, sql, offset)
    UnresolvedAttribute(Seq(value(first + found.length - 1)))
  }
}

private[bind] object MeasureText {

  /** One event of the variable of an aggregate. */
  val Event = "__cer_event"

  /** The columns for the values of aggregates. */
  val Value = "__cer_value_"
  def value(i: Int): String = s"$Value$i"

  /** Those that take whole events. */
  private val OfEvents = Set("count", "first", "last")

  /** An aggregate over the events of a variable.
    *
    * @param argument
    *   over the columns of an event, or none if it is about whole events
    * @param call
    *   Spark's aggregate of an argument
    */
  final case class Aggregate(
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
}
