package sparkcer.internal.rules

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.types._

/** The rules of a table with the columns `rule_id` and `query`, and perhaps `params` (MAP<STRING, STRING>) and
  * `enabled` (BOOLEAN), as it is now.
  */
private[sparkcer] object RuleTable {

  def apply(table: DataFrame): Vector[Rule] = {
    Seq("rule_id", "query").find(!table.columns.contains(_)).foreach { missing =>
      throw new CerException("CER_RULES.TABLE", "column" -> missing, "columns" -> table.columns.mkString(", "))
    }
    for (f <- table.schema; wanted <- Types.get(f.name) if !matches(f.dataType, wanted))
      throw new CerException(
        "CER_RULES.COLUMN_TYPE",
        "column" -> f.name,
        "type" -> f.dataType.sql,
        "wanted" -> wanted.sql
      )
    table.collect().toVector.filter(of[Boolean](_, "enabled").getOrElse(true)).map { row =>
      val rule = for (id <- of[String](row, "rule_id"); query <- of[String](row, "query")) yield {
        val params = of[scala.collection.Map[String, String]](row, "params").fold(Map.empty[String, Any])(_.toMap)
        Rule(id, query, params)
      }
      rule.getOrElse(throw new CerException("CER_RULES.ROW", "row" -> row.toString))
    }
  }

  private val Types: Map[String, DataType] = Map(
    "rule_id" -> StringType,
    "query" -> StringType,
    "params" -> MapType(StringType, StringType),
    "enabled" -> BooleanType
  )

  /** A column of NULLs without a type is none at all. */
  private def matches(found: DataType, wanted: DataType): Boolean = (found, wanted) match {
    case (NullType, _)                  => true
    case (_: StringType, StringType)    => true
    case (m: MapType, MapType(k, v, _)) => matches(m.keyType, k) && matches(m.valueType, v)
    case _                              => found == wanted
  }

  /** A value, if there is such a column and it is not NULL. */
  private def of[A](row: Row, column: String): Option[A] =
    if (row.schema.fieldNames.contains(column)) Option(row.getAs[A](column)) else None
}
