package sparkcer

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.cerbridge.Columns
import org.apache.spark.sql.types.NumericType

import sparkcer.internal.bind.{Explanation, Options, Types}
import sparkcer.internal.stream.Snapshot
import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.{Diagram, Svg}

/** What the Python package calls. Null stands for None; parameters are columns that `lit` made of their values. */
object PythonEntry {
  def options(
      time: String,
      typeGiven: Boolean,
      eventType: String,
      order: String,
      lateRows: Boolean,
      idle: String,
      snapshots: Boolean,
      params: Params
  ): Options = {
    val column = if (typeGiven) TypeColumn.of(eventType) else TypeColumn.Default
    Options.of(time, column, order, lateRows, idle, snapshots, params.asScala.toMap)
  }

  def transform(df: DataFrame, query: String, options: Options): DataFrame = Cer(df, query, options)

  def over(inputs: java.util.Map[String, DataFrame], query: String, options: Options): DataFrame =
    Cer.over(inputs.asScala.toMap, query, options)

  def snapshot(df: DataFrame, query: String, options: Options, at: Column): DataFrame =
    Snapshot.batch(df, query, options, Option(at))

  def snapshotOf(df: DataFrame, query: String, options: Options, at: Column, checkpoint: String): DataFrame =
    Snapshot.stream(df, query, options, Option(at), checkpoint)

  def merged(inputs: java.util.Map[String, DataFrame], query: String, options: Options): DataFrame =
    Cer.merged(inputs.asScala.toMap, query, options)

  def typesMustOccur(df: DataFrame, query: String, options: Options): Unit = Types.mustOccur(df, query, options)

  type Params = java.util.Map[String, Column]

  def explain(query: String, params: Params): String = Explanation(query, numbers(params))
  def svg(query: String, params: Params): String = Cer.inWords(Svg(Program(query, numbers(params))))
  def mermaid(query: String, params: Params): String =
    Cer.inWords(Diagram.mermaid(Program(query, numbers(params)).cea))

  /** The parameters that are numbers, which is all that the automaton of a query needs of them. */
  private def numbers(params: Params): Map[String, BigDecimal] =
    params.asScala.toMap.view
      .mapValues(Columns.resolve(SparkSession.active.range(0).toDF(), _))
      .collect {
        case (name, Literal(value, _: NumericType)) if value != null => name -> BigDecimal(value.toString)
      }
      .toMap
}
