package sparkcer.views.maintain

import org.apache.spark.sql.cerbridge.{CerException, Plans}
import org.apache.spark.sql.types.StructType

import sparkcer.views.statement.PartQuery
import sparkcer.views.store.PartColumns

/** Checks the names of tables, views and columns. */
private[views] object NameChecks {
  def check(name: String): Unit =
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9_]*"))
      throw new CerException("CER_VIEW_DEFINITION.NAME", "name" -> name)

  /** The columns as they are stored: nullable, and with different names. */
  def columns(schema: StructType, table: String, same: (String, String) => Boolean): StructType = {
    val names = schema.fieldNames
    names.map(n => names.filter(same(_, n))).find(_.length > 1).foreach { several =>
      throw new CerException(
        "CER_VIEW_DEFINITION.DUPLICATE_COLUMN",
        "name" -> table,
        "count" -> several.length.toString,
        "column" -> several.head
      )
    }
    schema.fieldNames
      .find(n => n.equalsIgnoreCase(PartQuery.TimestampColumn) || n.equalsIgnoreCase(PartColumns.Number))
      .foreach { n =>
        throw new CerException("CER_VIEW_DEFINITION.RESERVED_COLUMN", "name" -> table, "column" -> n)
      }
    Plans.nullable(schema)
  }
}
