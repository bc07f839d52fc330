package sparkcer.internal.rules

import org.apache.spark.sql.{Column, SparkSession}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.cerbridge.{Columns, Plans}
import org.apache.spark.sql.functions.{coalesce, col, expr, lit, max}
import org.apache.spark.sql.types.{ArrayType, LongType, StringType, StructType}

import sparkcer.internal.stream.RuleTally

/** The metrics that a set of rules has beside those of a query: how many rules were left out, what the costliest of the
  * others did, and which have lost their saved state.
  */
private[sparkcer] object RuleMetrics {

  /** @param ids
    *   of the rules, in the order of their numbers
    */
  def apply(spark: SparkSession, leftOut: Int, ids: Seq[String]): Seq[Column] = {
    val number = lit(leftOut.toLong)
    def together(a: Expression, b: Expression) = Concat(Seq(a, b))
    Seq(
      coalesce(max(number), number).as("skipped"),
      metric("rules", added, costliest(spark, ids)).as("rules"),
      metric("begunAnew", together, names).as("begunAnew"),
      metric("gone", together, names).as("gone")
    )
  }

  private def metric(column: String, both: (Expression, Expression) => Expression, told: Expression => Expression) =
    Columns.column(ArrayMetric(Columns.expression(col(column)), both, told).toAggregateExpression())

  /** Number by number. */
  private def added(a: Expression, b: Expression): Expression = {
    def number(name: String) = NamedLambdaVariable(name, LongType, nullable = true)
    val (x, y) = (number("x"), number("y"))
    ZipWith(a, b, LambdaFunction(Add(x, y), Seq(x, y)))
  }

  /** Each once, in order. */
  private def names(all: Expression): Expression =
    SortArray(ArrayDistinct(Coalesce(Seq(all, Literal.create(Seq.empty[String], Names)))), Literal(true))

  /** What the rules that took the most time did, the costliest first. The others are not shown: a thousand rules would
    * fill the progress of a query. A rule that did nothing took no time.
    */
  private def costliest(spark: SparkSession, ids: Seq[String]): Expression => Expression = {
    def number(i: Int) = s"sums[${RuleTally.Size} * i + $i]"
    val did = RuleTally.Names.indices.map(i => s"'${RuleTally.Names(i)}', ${number(i)}").mkString(", ")
    val rules = s"transform(ids, (id, i) -> named_struct('before', -${number(RuleTally.Nanos)}, 'rule_id', id, $did))"
    val chosen = s"slice(sort_array(filter($rules, r -> r.before < 0)), 1, $Most)"
    val shown = RuleTally.Names.map(n => s"'$n', r.$n").mkString(", ")
    val text = s"transform($chosen, r -> named_struct('rule_id', r.rule_id, $shown, 'ms', -r.before DIV 1000000))"
    val columns = Plans.empty(spark.emptyDataFrame, StructType.fromDDL("ids ARRAY<STRING>, sums ARRAY<BIGINT>"))
    val resolved = Columns.evaluable(columns, Seq(Columns.resolve(columns, expr(text)))).head
    sums =>
      resolved.transform {
        case a: Attribute if a.name == "ids"  => Literal.create(ids, Names)
        case a: Attribute if a.name == "sums" => sums
      }
  }

  private val Names = ArrayType(StringType)

  /** How many rules are shown. */
  private val Most = 20
}
