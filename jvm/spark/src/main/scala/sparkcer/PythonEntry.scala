package sparkcer

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.cerbridge.Plans

import sparkcer.internal.bind.{Explanation, Options, ParameterValues, Types}
import sparkcer.internal.rules.{Rule, RuleExplanation}
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
      until: String,
      params: Params
  ): Options = {
    val column = if (typeGiven) TypeColumn.of(eventType) else TypeColumn.Default
    Options.of(time, column, order, lateRows, idle, snapshots, until, params.asScala.toMap)
  }

  def transform(df: DataFrame, query: String, options: Options): DataFrame = Cer(df, query, options)

  def over(inputs: java.util.Map[String, DataFrame], query: String, options: Options): DataFrame =
    Cer.over(inputs.asScala.toMap, query, options)

  def rules(
      df: DataFrame,
      names: java.util.List[String],
      queries: java.util.List[String],
      params: java.util.List[Params],
      options: Options,
      skipInvalid: Boolean
  ): DataFrame = CerRules(df, rulesOf(names, queries, params), options, skipInvalid)

  /** @param inputs
    *   with their names, in the same order
    */
  def rulesOver(
      inputNames: java.util.List[String],
      inputs: java.util.List[DataFrame],
      names: java.util.List[String],
      queries: java.util.List[String],
      params: java.util.List[Params],
      options: Options,
      skipInvalid: Boolean
  ): DataFrame = CerRules.over(
    inputNames.asScala.toSeq.zip(inputs.asScala),
    rulesOf(names, queries, params),
    options,
    skipInvalid
  )

  private def rulesOf(
      names: java.util.List[String],
      queries: java.util.List[String],
      params: java.util.List[Params]
  ): Vector[Rule] = names.asScala
    .lazyZip(queries.asScala)
    .lazyZip(params.asScala)
    .map((name, query, values) => Rule(name, query, values.asScala.toMap))
    .toVector

  /** The same DataFrame, whose files are listed anew. */
  def readAgain(df: DataFrame): DataFrame = Plans.again(df)

  /** What a set of rules will do, in words. */
  def explainRules(
      names: java.util.List[String],
      queries: java.util.List[String],
      params: java.util.List[Params]
  ): String = Cer.inWords(RuleExplanation.of(rulesOf(names, queries, params)))

  def snapshot(df: DataFrame, query: String, options: Options, at: Column): DataFrame =
    Snapshot.batch(df, query, options, Option(at))

  def snapshotOf(df: DataFrame, query: String, options: Options, at: Column, checkpoint: String): DataFrame =
    Snapshot.stream(df, query, options, Option(at), checkpoint)

  def merged(inputs: java.util.Map[String, DataFrame], query: String, options: Options): DataFrame =
    Cer.merged(inputs.asScala.toMap, query, options)

  def typesMustOccur(df: DataFrame, query: String, options: Options): Unit = Types.mustOccur(df, query, options)

  type Params = java.util.Map[String, Column]

  def explain(query: String, params: Params): String = Cer.inWords(Explanation(program(query, params)))
  def svg(query: String, params: Params): String = Cer.inWords(Svg(program(query, params)))
  def mermaid(query: String, params: Params): String = Cer.inWords(Diagram.mermaid(program(query, params).cea))

  private def program(query: String, params: Params): Program =
    Program(query, ParameterValues.quantities(query, params.asScala.toMap))
}
