package sparkcer

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.sparkcer.{Bridge, CerException}

import _root_.sparkcer.spark.{Cer, Options}

/** The table function for SQL, on sessions that are started with `spark.sql.extensions=sparkcer.CerExtension`:
  *
  * {{{
  * SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')
  * }}}
  *
  * Nothing else needs the extension.
  */
final class CerExtension extends (SparkSessionExtensions => Unit) {

  def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectTableFunction(
      (FunctionIdentifier("cer"), new ExpressionInfo(classOf[CerExtension].getName, "cer"), CerExtension.build)
    )
}

private object CerExtension {
  private val usage =
    "cer takes a table and a query: SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')"

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val named = arguments.collect { case NamedArgumentExpression(name, value) =>
      name.toLowerCase -> text(name, value)
    }.toMap
    named.keys
      .find(!Names(_))
      .foreach(n => fail(s"'$n' is not an option; the options are ${Names.toVector.sorted.mkString(", ")}."))
    arguments.filterNot(_.isInstanceOf[NamedArgumentExpression]) match {
      case Seq(table: FunctionTableSubqueryArgumentExpression, query) =>
        val late = named.getOrElse("late", "count")
        if (late != "count" && late != "rows") fail(s"late is 'count' or 'rows', not '$late'.")
        val options =
          Options(named.get("time"), named.get("type"), named.get("order"), late == "rows", named.get("idle"))
        Bridge.planOf(Cer(Bridge.dataFrame(table.plan), text("the query", query), options))
      case _ => fail(usage + ".")
    }
  }

  private val Names = Set("time", "type", "order", "late", "idle")

  private def text(what: String, e: Expression): String =
    if (e.foldable && e.dataType == org.apache.spark.sql.types.StringType) e.eval().toString
    else fail(s"$what must be a string. $usage.")

  private def fail(problem: String): Nothing = throw new CerException("CER_SQL", s"[CER_SQL] $problem")
}
