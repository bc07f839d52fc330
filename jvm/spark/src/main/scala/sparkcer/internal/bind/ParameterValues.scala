package sparkcer.internal.bind

import scala.util.Try

import org.apache.spark.sql.{AnalysisException, Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.NamedParameter
import org.apache.spark.sql.catalyst.expressions.{CreateArray, Expression, In, Literal}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.functions.{array, lit}
import org.apache.spark.sql.cerbridge.{CerException, Columns}
import org.apache.spark.sql.types.{ArrayType, CalendarIntervalType, DataType, DayTimeIntervalType, NumericType}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import sparkcer.engine.ceql.{CeqlException, Name, Parameters => Places, Parser, Query}

/** The values of a query's `:name` parameters, as typed literals. A value is never inserted into text that is parsed.
  */
final class ParameterValues private (
    values: Map[String, Literal],
    val quantities: Map[String, BigDecimal],
    ofOutput: Set[String]
) {

  /** Replaces the parameters of an expression by their values. In the list of IN, an array stands for its elements. */
  def bind(e: Expression): Expression = e.transform {
    case In(value, list) =>
      val all = list.flatMap {
        case p @ NamedParameter(name) => ParameterValues.elements(values(name)).getOrElse(Seq(p))
        case other                    => Seq(other)
      }
      if (all.isEmpty) Literal.FalseLiteral else In(value, all)
    case NamedParameter(name) => values(name)
  }

  /** All parameters with their values, as text. */
  val text: String = shown(values)

  /** The same without those that only measures and HAVING have. */
  val recognized: String = shown(values -- ofOutput)

  private def shown(some: Map[String, Literal]) =
    some.toVector.sortBy(_._1).map { case (name, v) => s":$name = ${v.sql}" }.mkString(", ")
}

object ParameterValues {

  /** @param supplied
    *   values as [[org.apache.spark.sql.functions.lit]] takes them, sequences and sets of them, or literal columns
    */
  def apply(df: DataFrame, query: Query, supplied: Map[String, Any]): ParameterValues = {
    def in(e: Expression, offset: Int) =
      e.collect { case NamedParameter(name) => name }.distinct.map { n =>
        Name(n)(math.max(offset, query.text.indexOf(s":$n", offset)))
      }
    val conditions = Places.conditions(query).flatMap(p => parsed(df, p.sql).map(p.offset -> _))
    val ofMatches = Places.ofMatches(query).flatMap { case (sql, offset) => parsed(df, sql).map(offset -> _) }
    val inConditions = conditions.flatMap { case (offset, e) => in(e, offset) }
    val inMatches = ofMatches.flatMap { case (offset, e) => in(e, offset) }
    val recognized = Places.quantities(query) ++ Places.lengths(query) ++ inConditions
    val places = recognized ++ inMatches
    places.find(p => !supplied.contains(p.value)).foreach(missing(query, _, supplied.keySet -- places.map(_.value)))
    supplied.keys.toVector.sorted.find(n => !places.exists(_.value == n)).foreach(unused(_, places))
    val values = supplied.map { case (name, v) => name -> literal(df, name, v) }
    val listed = (conditions ++ ofMatches).flatMap(_._2.collect { case In(_, list) => list }.flatten).toSet
    (inConditions ++ inMatches)
      .filter(p => listed(NamedParameter(p.value)) && elements(values(p.value)).exists(_.exists(_.value == null)))
      .foreach(p => throw new CeqlException(query.text, p.offset, "CER_PARAMETER.NULL_IN_LIST", "name" -> p.value))
    new ParameterValues(values, quantities(query, values), values.keySet -- recognized.map(_.value))
  }

  /** The numbers and lengths of time of a query that is shown without events. Parameters may be missing, and those that
    * the query does not name are left out.
    */
  def quantities(text: String, supplied: Map[String, Any]): Map[String, BigDecimal] = {
    val query = Parser.parse(text)
    val named = (Places.quantities(query) ++ Places.lengths(query)).map(_.value).toSet
    lazy val df = SparkSession.active.range(0).toDF()
    quantities(query, supplied.collect { case (name, v) if named(name) => name -> literal(df, name, v) })
  }

  private def quantities(query: Query, values: Map[String, Literal]): Map[String, BigDecimal] = {
    def of(places: Vector[Name], value: (Name, Literal) => BigDecimal) =
      places.flatMap(p => values.get(p.value).map(v => p.value -> value(p, v)))
    (of(Places.quantities(query), number(query, _, _)) ++ of(Places.lengths(query), micros(query, _, _))).toMap
  }

  /** An SQL text, unless Spark cannot parse it, which [[Binding]] reports. */
  private def parsed(df: DataFrame, sql: String): Option[Expression] =
    try Some(Columns.parse(df, sql))
    catch { case _: AnalysisException => None }

  private def literal(df: DataFrame, name: String, value: Any): Literal = {
    def isLiteral(e: Expression) = e.collectLeaves().forall(_.isInstanceOf[Literal])
    Try(Columns.resolve(df, column(value))).toOption
      .flatMap {
        case l: Literal                                     => Some(l)
        case a: CreateArray if a.children.forall(isLiteral) => Try(Literal(a.eval(), a.dataType)).toOption
        case _                                              => None
      }
      .getOrElse(throw new CerException("CER_PARAMETER.NOT_A_LITERAL", "name" -> name, "value" -> s"$value"))
  }

  /** The elements of a set are in an order that does not depend on how it was made: they are part of the query. */
  private def column(value: Any): Column = value match {
    case c: Column => c
    case s: Seq[_] => array(s.map(lit): _*)
    case s: Set[_] => array(s.toVector.sortBy(String.valueOf).map(lit): _*)
    case v         => lit(v)
  }

  private def elements(value: Literal): Option[Seq[Literal]] = value match {
    case Literal(all: ArrayData, ArrayType(t, _)) => Some(all.toSeq[Any](t).map(Literal(_, t)))
    case _                                        => None
  }

  private def number(query: Query, p: Name, value: Literal): BigDecimal =
    Some(value)
      .filter(v => v.value != null && isNumber(v.dataType))
      .flatMap(v => Try(BigDecimal(v.value.toString)).toOption) // not a NaN
      .getOrElse {
        val isLength = value.dataType match {
          case _: DayTimeIntervalType | CalendarIntervalType => true
          case _                                             => false
        }
        val key = if (isLength && Places.ofWindows(query).contains(p)) "LENGTH_WITH_UNIT" else "NOT_A_NUMBER"
        refuse(query, p, key, value)
      }

  /** A number may be text: all parameters of a table of rules are. */
  private def isNumber(t: DataType): Boolean = t.isInstanceOf[NumericType] || t.isInstanceOf[StringType]

  /** A length of time: a DAY TO SECOND interval of any kind, or a text as in WITHIN. */
  private def micros(query: Query, p: Name, value: Literal): BigDecimal = {
    val found = (value.value, value.dataType) match {
      case (n: Long, _: DayTimeIntervalType)           => Some(n)
      case (i: CalendarInterval, CalendarIntervalType) => Durations.fixed(i)
      case (text: UTF8String, _: StringType)           => Parser.micros(text.toString)
      case _                                           => None
    }
    found.fold[BigDecimal](refuse(query, p, "NOT_A_LENGTH", value))(BigDecimal(_))
  }

  private def refuse(query: Query, p: Name, key: String, value: Literal): Nothing = {
    val shown = Seq("name" -> p.value, "value" -> value.sql)
    val typed = if (key == "LENGTH_WITH_UNIT") shown else shown :+ ("type" -> value.dataType.sql)
    throw new CeqlException(query.text, p.offset, s"CER_PARAMETER.$key", typed: _*)
  }

  private def missing(query: Query, p: Name, others: Set[String]): Unit =
    if (others.isEmpty) throw new CeqlException(query.text, p.offset, "CER_PARAMETER.MISSING", "name" -> p.value)
    else
      throw new CeqlException(
        query.text,
        p.offset,
        "CER_PARAMETER.MISSING_AMONG",
        "name" -> p.value,
        "others" -> others.toVector.sorted.mkString(", "),
        "suggestion" -> CeqlException.suggestion(p.value, others)
      )

  private def unused(name: String, places: Seq[Name]): Unit = {
    val known = places.map(_.value).distinct
    if (known.isEmpty) throw new CerException("CER_PARAMETER.UNUSED_ALL", "name" -> name)
    else throw new CerException("CER_PARAMETER.UNUSED", "name" -> name, "parameters" -> known.mkString(":", ", :", ""))
  }
}
