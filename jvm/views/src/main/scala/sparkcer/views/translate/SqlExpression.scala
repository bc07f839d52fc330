package sparkcer.views.translate

import java.util.Locale

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal, SubqueryExpression}
import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, ParseException}
import org.apache.spark.sql.types.{DataType, StructType}

import sparkcer.views.statement.{SqlSpan, SqlToken}

/** An expression of Spark SQL in a statement, with the places of its columns and aggregates. Translations edit the text
  * and do not print an expression tree, so that they read like what the user wrote.
  */
final private[views] class SqlExpression(val span: SqlSpan) {
  if (span.isEmpty) span.fail("CER_SYNTAX.VIEW_EXPRESSION")

  private val parsed: Expression = SqlExpression.parse(span)
  if (parsed.exists(_.isInstanceOf[SubqueryExpression])) span.fail("CER_UNSUPPORTED.VIEW_SUBQUERY")

  private def place(e: Expression): SqlSpan = {
    val (from, until) = (e.origin.startIndex.get, e.origin.stopIndex.get + 1)
    val text = span.text
    span.part(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, until))
  }

  /** The columns that it names. */
  lazy val attributes: Vector[SqlExpression.ColumnReference] =
    parsed.collect { case a: UnresolvedAttribute => SqlExpression.ColumnReference(a.nameParts, place(a)) }.toVector

  lazy val aggregates: Vector[SqlExpression.Aggregate] = parsed.collect {
    case f: UnresolvedFunction
        if f.nameParts.length == 1 && Aggregates.Names(f.nameParts.head.toLowerCase(Locale.ROOT)) =>
      aggregate(f)
  }.toVector

  /** The columns that are named outside of aggregates. */
  lazy val outside: Vector[SqlExpression.ColumnReference] =
    attributes.filterNot(a => aggregates.exists(g => g.span.start <= a.span.start && a.span.end <= g.span.end))

  private def aggregate(f: UnresolvedFunction): SqlExpression.Aggregate = {
    val whole = place(f)
    val name = f.nameParts.head.toLowerCase(Locale.ROOT)
    if (f.isDistinct || f.filter.isDefined) whole.fail("CER_UNSUPPORTED.VIEW_DISTINCT_OR_FILTER", "function" -> name)
    f.arguments match {
      case Seq(_: Literal) if name == "count" => SqlExpression.Aggregate(name, None, whole)
      case Seq(_)                             =>
        val inside = SqlToken.of(whole)
        val argument = new SqlExpression(SqlSpan(span.statement, inside(1).span.end, inside.last.span.start))
        if (argument.aggregates.nonEmpty) argument.span.fail("CER_SYNTAX.VIEW_NESTED_AGGREGATE")
        SqlExpression.Aggregate(if (name == "mean") "avg" else name, Some(argument), whole)
      case _ => whole.fail("CER_UNSUPPORTED.VIEW_ARGUMENTS", "function" -> name)
    }
  }

  def isAggregate: Boolean = aggregates.exists(_.span == SqlToken.trimmed(span))

  /** Its text, in which some places are replaced. */
  def edited(edits: Seq[(SqlSpan, String)]): String =
    edits.sortBy(-_._1.start).foldLeft(span.text) { case (text, (where, by)) =>
      text.substring(0, where.start - span.start) + by + text.substring(where.end - span.start)
    }

  /** The type of its value, for rows of this schema. */
  def dataType(schema: StructType): DataType = SqlExpression.dataType(span.text, schema, span)
}

private[views] object SqlExpression {
  final case class ColumnReference(path: Seq[String], span: SqlSpan)

  /** A call of count, sum, avg, min or max. `count(*)` has no argument. */
  final case class Aggregate(name: String, argument: Option[SqlExpression], span: SqlSpan)

  private def parse(span: SqlSpan): Expression =
    try CatalystSqlParser.parseExpression(span.text)
    catch { case e: ParseException => span.fail("CER_SYNTAX.VIEW_SQL", "reason" -> reason(e)) }

  /** Does it end with an alias? */
  def isNamed(span: SqlSpan): Boolean = parse(span).isInstanceOf[Alias]

  def dataType(sql: String, schema: StructType, span: SqlSpan): DataType =
    try
      SparkSession.active
        .createDataFrame(java.util.List.of[org.apache.spark.sql.Row](), schema)
        .selectExpr(sql)
        .schema
        .head
        .dataType
    catch { case e: AnalysisException => span.fail("CER_TYPE_MISMATCH.VIEW_SQL", "reason" -> reason(e)) }

  /** The message of Spark, without error condition, SQLSTATE and plan. */
  def reason(e: AnalysisException): String =
    e.getSimpleMessage.trim.linesIterator.next().replaceFirst("^\\[[A-Z_.]*\\] ", "").replaceFirst(" SQLSTATE.*", "")
}
