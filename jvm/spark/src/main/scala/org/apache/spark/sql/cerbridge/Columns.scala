package org.apache.spark.sql.cerbridge

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, CurrentCatalog, CurrentDatabase}
import org.apache.spark.sql.catalyst.expressions.{CurrentTimeZone, CurrentUser, Expression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.classic.ExpressionUtils
import org.apache.spark.sql.types.StringType

/** Columns and their expressions. These objects are in a package of Spark because the methods that they call are open
  * to Spark's own packages only.
  */
object Columns {
  def column(e: Expression): Column = ExpressionUtils.column(e)
  def expression(c: Column): Expression = ExpressionUtils.expression(c)

  /** The column of this very name. */
  def named(df: DataFrame, name: String): Column = df("`" + name.replace("`", "``") + "`")

  /** The SQL text as an unresolved expression. */
  def parse(df: DataFrame, sql: String): Expression =
    Sessions.session(df).sessionState.sqlParser.parseExpression(sql)

  /** The column as Spark resolves it against the columns of the DataFrame. */
  def resolve(df: DataFrame, c: Column): Expression = {
    val resolved = df.select(c).queryExecution.analyzed.expressions.head
    resolved.children.headOption.getOrElse(resolved)
  }

  /** Columns of a DataFrame as resolved expressions, and the plan that they are resolved against. */
  def resolved(df: DataFrame, columns: Seq[Column]): (Seq[Expression], LogicalPlan) =
    df.select(columns: _*).queryExecution.analyzed match {
      case Project(list, child) => (list.map { case Alias(e, _) => e; case e => e }, child)
      case other                => throw new IllegalStateException(s"not a projection: $other")
    }

  /** The same, if the columns are plain expressions of one row, and not aggregates, window functions or the like. */
  def plainlyResolved(df: DataFrame, columns: Seq[Column]): Option[Seq[Expression]] =
    df.select(columns: _*).queryExecution.analyzed match {
      case Project(list, child) if child.output == Plans.planOf(df).output =>
        Some(list.map { case Alias(e, _) => e; case e => e })
      case _ => None
    }

  /** Columns of a DataFrame without rows as expressions that can be evaluated: in the form that the optimizer gives
    * them, over the columns of the DataFrame.
    */
  def evaluable(df: DataFrame, columns: Seq[Expression]): Seq[Expression] = {
    val named = columns.zipWithIndex.map { case (e, i) => Alias(e, s"value$i")() }
    def inlined(plan: LogicalPlan, list: Seq[Expression]): Seq[Expression] = plan match {
      case Project(below, child) =>
        val aliases = below.collect { case a: Alias => a.toAttribute -> a.child }
        val values = AttributeMap(aliases)
        inlined(child, list.map(_.transform { case a: Attribute => values.getOrElse(a, a) }))
      case _ => list
    }
    val plan = Sessions.session(df).sessionState.optimizer.execute(Project(named, Plans.planOf(df)))
    inlined(plan, named.map(_.toAttribute))
  }

  /** Does the value depend on when it is evaluated, as that of `current_date()`? [[evaluable]] makes a constant of it.
    */
  def isOfNow(e: Expression): Boolean = e match {
    case _: CurrentDatabase | _: CurrentCatalog | _: CurrentUser | _: CurrentTimeZone => false
    case other if other.children.isEmpty => other.containsPattern(TreePattern.CURRENT_LIKE)
    case other                           => other.children.exists(isOfNow)
  }

  /** Are strings of this type equal only if their bytes are? */
  def isBinary(t: StringType): Boolean = t.supportsBinaryEquality

  def normalizedFloats(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)
}
