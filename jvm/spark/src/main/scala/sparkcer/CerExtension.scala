package sparkcer

import java.util.Locale

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.cerbridge.{CerException, Plans}
import org.apache.spark.sql.types.StringType

import sparkcer.internal.bind.{Options, SqlParameters}
import sparkcer.internal.rules.RuleTable

/** The table functions for SQL:
  *
  * {{{
  * SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')
  * SELECT * FROM cer_rules(TABLE(events), TABLE(rules), time => 'ts')
  * }}}
  *
  * Every session that starts with the jar on its class path has it, because META-INF/services names it; to name it in
  * `spark.sql.extensions` as well does no harm. Nothing else needs the extension.
  */
final class CerExtension extends SparkSessionExtensionsProvider {

  def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectTableFunction(CerExtension.function)
    extensions.injectTableFunction(CerExtension.rulesFunction)
  }
}

private[sparkcer] object CerExtension {

  /** One object, by which Spark sees that a second registration is the same and need not warn. */
  private val function = (
    FunctionIdentifier("cer"),
    new ExpressionInfo(classOf[CerExtension].getName, "cer"),
    (arguments: Seq[Expression]) => build(arguments)
  )

  private val rulesFunction = (
    FunctionIdentifier("cer_rules"),
    new ExpressionInfo(classOf[CerExtension].getName, "cer_rules"),
    (arguments: Seq[Expression]) => buildRules(arguments)
  )

  /** The arguments with a name, and those without. */
  private def split(arguments: Seq[Expression], names: Set[String]): (Map[String, Expression], Seq[Expression]) = {
    val options = arguments.collect { case NamedArgumentExpression(name, value) =>
      name.toLowerCase(Locale.ROOT) -> value
    }.toMap
    options.keys.find(!names(_)).foreach { n =>
      throw new CerException("CER_SQL.UNKNOWN_OPTION", "name" -> n, "options" -> names.toVector.sorted.mkString(", "))
    }
    (options, arguments.filterNot(_.isInstanceOf[NamedArgumentExpression]))
  }

  private def texts(options: Map[String, Expression]): Map[String, String] = options.map {
    case (name @ "type", value) if value.foldable && value.eval() == null => name -> null // there is none
    case (name, value)                                                    => name -> text(name, value)
  }

  /** Fails if an option has another value than one of two. */
  private def mustBe(named: Map[String, String], option: String, one: String, other: String): Unit =
    named.get(option).filterNot(Set(one, other)).foreach { value =>
      throw new CerException("CER_SQL.VALUE", "option" -> option, "one" -> one, "other" -> other, "value" -> value)
    }

  private def buildRules(arguments: Seq[Expression]): LogicalPlan = {
    val (options, others) = split(arguments, RuleNames)
    others match {
      case Seq(events: FunctionTableSubqueryArgumentExpression, rules: FunctionTableSubqueryArgumentExpression) =>
        val named = texts(options)
        mustBe(named, "late", "count", "rows")
        mustBe(named, "invalid", "fail", "skip")
        val all = RuleTable(Plans.dataFrame(rules.plan))
        val skip = named.get("invalid").contains("skip")
        Plans.planOf(CerRules(Plans.dataFrame(events.plan), all, Options.named(named - "invalid", Map.empty), skip))
      case _ => throw new CerException("CER_SQL.RULES_USAGE")
    }
  }

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val (options, others) = split(arguments, Names)
    val named = texts(options - "params")
    others match {
      case Seq(table: FunctionTableSubqueryArgumentExpression, query) =>
        mustBe(named, "late", "count", "rows")
        val events = Plans.dataFrame(table.plan)
        val params = options.get("params").fold(Map.empty[String, Any])(SqlParameters(events, _))
        Plans.planOf(Cer(events, text("the query", query), Options.named(named, params)))
      case _ => throw new CerException("CER_SQL.USAGE")
    }
  }

  private val Names = Options.Names + "params"
  private val RuleNames = Options.Names - "snapshots" + "invalid"

  private def text(what: String, e: Expression): String =
    if (e.foldable && e.dataType == StringType) e.eval().toString
    else throw new CerException("CER_SQL.NOT_A_STRING", "argument" -> what)
}
