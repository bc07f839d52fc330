package org.apache.spark.sql.cerbridge

import org.apache.spark.sql.{Column, DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{Dataset => ClassicDataset, ExpressionUtils, SparkSession => ClassicSession}
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.types.{StringType, StructType}

/** The few places where Spark has a door that is only open to its own packages. */
object Bridge {
  def column(e: Expression): Column = ExpressionUtils.column(e)
  def expression(c: Column): Expression = ExpressionUtils.expression(c)

  /** The column as Spark resolves it against the DataFrame's. */
  def resolve(df: DataFrame, c: Column): Expression =
    df.select(c)
      .queryExecution
      .analyzed
      .expressions
      .head
      .children
      .headOption
      .getOrElse(df.select(c).queryExecution.analyzed.expressions.head)

  /** Columns of a DataFrame as resolved expressions, and the plan that they are resolved against. */
  def resolved(df: DataFrame, columns: Seq[Column]): (Seq[Expression], LogicalPlan) =
    df.select(columns: _*).queryExecution.analyzed match {
      case Project(list, child) => (list.map { case Alias(e, _) => e; case e => e }, child)
      case other                => throw new IllegalStateException(s"not a projection: $other")
    }

  /** The SQL text as an expression that is not resolved yet. */
  def parse(df: DataFrame, sql: String): Expression =
    session(df).sessionState.sqlParser.parseExpression(sql)

  /** Columns of a DataFrame without rows, as expressions that can be evaluated: what the optimizer makes of them, over
    * the DataFrame's own columns.
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
    val plan = session(df).sessionState.optimizer.execute(Project(named, planOf(df)))
    inlined(plan, named.map(_.toAttribute))
  }

  /** A DataFrame of these columns without rows, such that the optimizer cannot know. */
  def empty(df: DataFrame, schema: StructType): DataFrame =
    session(df).createDataFrame(session(df).sparkContext.emptyRDD[Row], schema)

  /** Are strings of this type equal only if their bytes are? */
  def isBinary(t: StringType): Boolean = t.supportsBinaryEquality

  def normalizedFloats(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)

  /** A plan as a DataFrame of the active session or another one, and back. */
  def dataFrame(plan: LogicalPlan): DataFrame = dataFrame(SparkSession.active, plan)
  def dataFrame(session: SparkSession, plan: LogicalPlan): DataFrame =
    ClassicDataset.ofRows(session.asInstanceOf[ClassicSession], plan)
  def planOf(df: DataFrame): LogicalPlan = df.queryExecution.analyzed

  def session(df: DataFrame): ClassicSession = session(df.sparkSession)
  def session(spark: SparkSession): ClassicSession = spark.asInstanceOf[ClassicSession]

  /** A session with the same settings, functions and temporary views, that can be changed by itself. */
  def copy(spark: SparkSession): SparkSession = session(spark).cloneSession()

  /** Tells a listener of the session's streaming queries, once. */
  def listen(spark: SparkSession, listener: StreamingQueryListener): Unit = {
    val streams = session(spark).streams
    streams.synchronized(if (!streams.listListeners().contains(listener)) streams.addListener(listener))
  }

  /** The same columns, each of which may be NULL, at any depth. */
  def nullable(schema: StructType): StructType = schema.asNullable

  /** Is a name the same as another, as this session compares them? */
  def sameName(df: DataFrame): (String, String) => Boolean = sameName(df.sparkSession)
  def sameName(spark: SparkSession): (String, String) => Boolean = session(spark).sessionState.conf.resolver
}
