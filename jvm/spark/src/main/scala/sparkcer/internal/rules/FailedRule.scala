package sparkcer.internal.rules

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.cerbridge.CerRuntimeException

/** Gives an error that comes up while rules read events the names of these rules: one of a thousand is hard to find.
  * Only errors of Spark and of this library are about a rule; any other, such as that of a killed task, stays as it is.
  */
private[rules] object FailedRule {

  /** @param rules see [[names]] */
  def apply(rules: String, e: Throwable): Throwable = e match {
    case _: SparkThrowable => new CerRuntimeException(e, "CER_RULES.FAILED", "rules" -> rules, "reason" -> reason(e))
    case other             => other
  }

  def apply(rule: RulePlan, e: Throwable): Throwable = apply(names(Vector(rule.id)), e)

  /** The names of rules as the error shows them. */
  def names(rules: Vector[String]): String = RuleExplanation.list(rules.map(id => s"'$id'"))

  /** Without the place that Spark adds: it is in a text that the user has not written. */
  private def reason(e: Throwable): String = e match {
    case own: CerRuntimeException => own.getMessage
    case _                        => e.getMessage.trim.linesIterator.next()
  }
}
