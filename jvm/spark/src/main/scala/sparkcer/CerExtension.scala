package sparkcer

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.cerbridge.{CerException, Plans}
import org.apache.spark.sql.types.StringType

import sparkcer.internal.bind.{Options, SqlParameters}

/** The table function for SQL:
  *
  * {{{
  * SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')
  * }}}
  *
  * Every session that starts with the jar on its class path has it, because META-INF/services names it; to name it in
  * `spark.sql.extensions` as well does no harm. Nothing else needs the extension.
  */
final class CerExtension extends SparkSessionExtensionsProvider {

  def apply(extensions: SparkSessionExtensions): Unit = extensions.injectTableFunction(CerExtension.function)
}

private[sparkcer] object CerExtension {

  /** One object, by which Spark sees that a second registration is the same and need not warn. */
  private val function = (
    FunctionIdentifier("cer"),
    new ExpressionInfo(classOf[CerExtension].getName, "cer"),
    (arguments: Seq[Expression]) => build(arguments)
  )

  private val usage =
    "cer takes a table and a query: SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')"

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val options = arguments.collect { case NamedArgumentExpression(name, value) => name.toLowerCase -> value }.toMap
    options.keys
      .find(!Names(_))
      .foreach(n => fail(s"'$n' is not an option; the options are ${Names.toVector.sorted.mkString(", ")}."))
    val named = (options - "params").map {
      case (name @ "type", value) if value.foldable && value.eval() == null => name -> null // there is none
      case (name, value)                                                    => name -> text(name, value)
    }
    arguments.filterNot(_.isInstanceOf[NamedArgumentExpression]) match {
      case Seq(table: FunctionTableSubqueryArgumentExpression, query) =>
        val late = named.getOrElse("late", "count")
        if (late != "count" && late != "rows") fail(s"late is 'count' or 'rows', not '$late'.")
        val events = Plans.dataFrame(table.plan)
        val params = options.get("params").fold(Map.empty[String, Any])(SqlParameters(events, _))
        Plans.planOf(Cer(events, text("the query", query), Options.named(named, params)))
      case _ => fail(usage + ".")
    }
  }

  private val Names = Options.Names + "params"

  private def text(what: String, e: Expression): String =
    if (e.foldable && e.dataType == StringType) e.eval().toString
    else fail(s"$what must be a string. $usage.")

  def fail(problem: String): Nothing = throw new CerException("CER_SQL", s"[CER_SQL] $problem")
}
