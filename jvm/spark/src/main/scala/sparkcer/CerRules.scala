package sparkcer

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.cerbridge.{Plans, Sessions}

import sparkcer.internal.batch.Planning
import sparkcer.internal.bind.Options
import sparkcer.internal.rules.{BoundRules, Rule, RuleInputs, RuleStream}

/** Many queries over one DataFrame, or over several inputs, in one pass: events are read once, each condition is
  * evaluated once, whichever queries have it, and all queries with the same PARTITION BY share a shuffle. The result
  * has a row for each match of each query.
  */
object CerRules {

  /** @param skipInvalid
    *   whether a rule that is wrong is left out with a warning, instead of being an error
    */
  def apply(df: DataFrame, rules: Seq[Rule], options: Options, skipInvalid: Boolean): DataFrame =
    matches(RuleInputs(df), rules, options, skipInvalid)

  /** @param inputs
    *   each under the name that rules have for it in FROM. A stream must have them in the same order each time that it
    *   is started
    */
  def over(
      inputs: Seq[(String, DataFrame)],
      rules: Seq[Rule],
      options: Options,
      skipInvalid: Boolean
  ): DataFrame = matches(Cer.inWords(RuleInputs(inputs, options)), rules, options, skipInvalid)

  private def matches(inputs: RuleInputs, rules: Seq[Rule], options: Options, skipInvalid: Boolean): DataFrame =
    Cer.inWords {
      val bound = new BoundRules(inputs, rules.toVector, options, skipInvalid)
      val (events, set) = bound.planned
      val spark = inputs.all.sparkSession
      Planning.on(Sessions.session(spark))
      if (inputs.all.isStreaming) RuleStream(spark, events, set, bound)
      else Plans.dataFrame(spark, bound.recognized(events, set))
    }
}
