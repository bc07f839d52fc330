package sparkcer

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.{FunctionIdentifier, InternalRow}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.cerbridge.{Bridge, CerException}
import org.apache.spark.sql.types.{StringType, StructType}

import sparkcer.spark.{Cer, Options}
import sparkcer.views.ViewsSql

/** The table function for SQL, on sessions that are started with `spark.sql.extensions=sparkcer.CerExtension`:
  *
  * {{{
  * SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')
  * }}}
  *
  * And `CREATE VIEW v AS INITIALIZE …` in `spark.sql`, for the views under `spark.cer.views.path`. Nothing else needs
  * the extension.
  */
final class CerExtension extends (SparkSessionExtensions => Unit) {

  def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectTableFunction(
      (FunctionIdentifier("cer"), new ExpressionInfo(classOf[CerExtension].getName, "cer"), CerExtension.build)
    )
    extensions.injectParser((_, parser) => ViewsSql.parser(parser))
  }
}

private object CerExtension {
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
        val all = Options.named(named, options.get("params").fold(Map.empty[String, Any])(params))
        Bridge.planOf(Cer(Bridge.dataFrame(table.plan), text("the query", query), all))
      case _ => fail(usage + ".")
    }
  }

  private val Names = Options.Names + "params"

  /** Values of several types: the fields of a struct. */
  private def params(e: Expression): Map[String, Any] = e.dataType match {
    case s: StructType if e.foldable =>
      val row = e.eval().asInstanceOf[InternalRow]
      s.fields.zipWithIndex.map { case (f, i) =>
        f.name -> Bridge.column(Literal(if (row.isNullAt(i)) null else row.get(i, f.dataType), f.dataType))
      }.toMap
    case _ => fail("params must be a struct of values: params => named_struct('least', 20).")
  }

  private def text(what: String, e: Expression): String =
    if (e.foldable && e.dataType == StringType) e.eval().toString
    else fail(s"$what must be a string. $usage.")

  private def fail(problem: String): Nothing = throw new CerException("CER_SQL", s"[CER_SQL] $problem")
}
