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

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val options = arguments.collect { case NamedArgumentExpression(name, value) => name.toLowerCase -> value }.toMap
    options.keys
      .find(!Names(_))
      .foreach { n =>
        val known = Names.toVector.sorted.mkString(", ")
        throw new CerException("CER_SQL.UNKNOWN_OPTION", "name" -> n, "options" -> known)
      }
    val named = (options - "params").map {
      case (name @ "type", value) if value.foldable && value.eval() == null => name -> null // there is none
      case (name, value)                                                    => name -> text(name, value)
    }
    arguments.filterNot(_.isInstanceOf[NamedArgumentExpression]) match {
      case Seq(table: FunctionTableSubqueryArgumentExpression, query) =>
        val late = named.getOrElse("late", "count")
        if (late != "count" && late != "rows") throw new CerException("CER_SQL.LATE", "value" -> late)
        val events = Plans.dataFrame(table.plan)
        val params = options.get("params").fold(Map.empty[String, Any])(SqlParameters(events, _))
        Plans.planOf(Cer(events, text("the query", query), Options.named(named, params)))
      case _ => throw new CerException("CER_SQL.USAGE")
    }
  }

  private val Names = Options.Names + "params"

  private def text(what: String, e: Expression): String =
    if (e.foldable && e.dataType == StringType) e.eval().toString
    else throw new CerException("CER_SQL.NOT_A_STRING", "argument" -> what)
}
