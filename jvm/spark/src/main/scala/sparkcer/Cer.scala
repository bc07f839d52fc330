package sparkcer

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.cerbridge.CerException

import sparkcer.engine.ceql.{CeqlException, Parser}
import sparkcer.internal.batch.BatchQuery
import sparkcer.internal.bind.{Binding, Inputs, Options, Plan}
import sparkcer.internal.output.MatchColumns
import sparkcer.internal.stream.StreamQuery

/** A query over a DataFrame, batch or stream: events in, a DataFrame of matches out. All entry points for one query
  * lead here; those for a set of rules lead to [[CerRules]].
  *
  * {{{
  * bind ──► prepare: mask, drop, pack (generated code) ──► shuffle by key ──► batch or stream: recognize ──► output
  * }}}
  */
object Cer {

  /** The matches over several inputs, each under its name in FROM. */
  def over(inputs: Map[String, DataFrame], query: String, options: Options): DataFrame =
    apply(merged(inputs, query, options), query, options)

  /** All inputs as one DataFrame. */
  def merged(inputs: Map[String, DataFrame], query: String, options: Options): DataFrame =
    inWords(Inputs.merge(Parser.parse(query), inputs, options))

  def apply(df: DataFrame, query: String, options: Options): DataFrame = inWords {
    val binding = Binding.of(df, query, options)
    val plan = Plan.of(binding, query, options)
    val rows =
      if (df.isStreaming) MatchColumns.unpacked(StreamQuery(binding, plan), plan) else BatchQuery(binding, plan)
    shown(rows, binding, plan)
  }

  /** The matches in a batch of events that are complete up to a time, where matches wait for a deadline. */
  private[sparkcer] def batch(df: DataFrame, query: String, options: Options, until: Option[Expression]): DataFrame = {
    val binding = Binding.of(df, query, options)
    val plan = Plan.of(binding, query, options)
    shown(BatchQuery(binding, plan, until), binding, plan)
  }

  private def shown(rows: DataFrame, binding: Binding, plan: Plan): DataFrame =
    MatchColumns.withTimeNoted(MatchColumns(rows, binding, plan), binding)

  /** Turns an error of the engine into one of Spark. */
  def inWords[A](body: => A): A =
    try body
    catch { case e: CeqlException => throw new CerException(e) }
}
