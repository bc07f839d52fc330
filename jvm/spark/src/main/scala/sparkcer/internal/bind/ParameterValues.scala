package sparkcer.internal.bind

import org.apache.spark.sql.{AnalysisException, Column, DataFrame}
import org.apache.spark.sql.catalyst.analysis.NamedParameter
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.cerbridge.{CerException, Columns}
import org.apache.spark.sql.types.NumericType

import sparkcer.engine.ceql.{CeqlException, Name, Parameters => Places, Query}

/** The values of a query's `:name` parameters, as typed literals. A value is never inserted into text that is parsed.
  */
final class ParameterValues private (values: Map[String, Literal], val quantities: Map[String, BigDecimal]) {

  /** Replaces the parameters of an expression by their values. */
  def bind(e: Expression): Expression = e.transform { case NamedParameter(name) => values(name) }

  /** All parameters with their values, as text. */
  val text: String = values.toVector.sortBy(_._1).map { case (name, v) => s":$name = ${v.sql}" }.mkString(", ")
}

object ParameterValues {

  /** @param supplied
    *   values as [[org.apache.spark.sql.functions.lit]] takes them, or literal columns
    */
  def apply(df: DataFrame, query: Query, supplied: Map[String, Any]): ParameterValues = {
    val numbers = Places.quantities(query)
    val places = numbers ++ Places.conditions(query).flatMap { p =>
      val names = named(df, p.sql).distinct
      names.map(n => Name(n)(p.offset + math.max(0, p.sql.indexOf(s":$n"))))
    }
    places.find(p => !supplied.contains(p.value)).foreach(missing(query, _, supplied.keySet -- places.map(_.value)))
    supplied.keys.toVector.sorted.find(n => !places.exists(_.value == n)).foreach(unused(_, places))
    val values = supplied.map { case (name, v) => name -> literal(df, name, v) }
    new ParameterValues(values, numbers.map(p => p.value -> number(query, p, values(p.value))).toMap)
  }

  /** The parameters of a condition. If Spark cannot parse it, [[Binding]] reports that. */
  private def named(df: DataFrame, sql: String): Seq[String] =
    try Columns.parse(df, sql).collect { case NamedParameter(name) => name }
    catch { case _: AnalysisException => Nil }

  private def literal(df: DataFrame, name: String, value: Any): Literal = {
    val column = value match { case c: Column => c; case v => lit(v) }
    scala.util.Try(Columns.resolve(df, column)).toOption match {
      case Some(l: Literal) => l
      case _ => throw new CerException("CER_PARAMETER.NOT_A_LITERAL", "name" -> name, "value" -> s"$value")
    }
  }

  private def number(query: Query, p: Name, value: Literal): BigDecimal =
    Some(value)
      .filter(v => v.dataType.isInstanceOf[NumericType] && v.value != null)
      .flatMap(v => scala.util.Try(BigDecimal(v.value.toString)).toOption) // not a NaN
      .getOrElse(
        throw new CeqlException(
          query.text,
          p.offset,
          "CER_PARAMETER.NOT_A_NUMBER",
          "name" -> p.value,
          "value" -> value.sql,
          "type" -> value.dataType.sql
        )
      )

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
