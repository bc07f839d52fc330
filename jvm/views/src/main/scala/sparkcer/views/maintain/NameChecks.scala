package sparkcer.views.maintain

import org.apache.spark.sql.cerbridge.Bridge
import org.apache.spark.sql.types.StructType

import sparkcer.views.ViewsException
import sparkcer.views.statement.PartQuery
import sparkcer.views.store.PartColumns

/** Checks the names of tables, views and columns. */
private[views] object NameChecks {
  def check(name: String): Unit =
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9_]*"))
      throw ViewsException.definition(
        s"'$name' is no name for a table or a view: take letters, digits and underscores."
      )

  /** The columns as they are stored: nullable, and with different names. */
  def columns(schema: StructType, view: String, same: (String, String) => Boolean): StructType = {
    val names = schema.fieldNames
    names.map(n => names.filter(same(_, n))).find(_.length > 1).foreach { several =>
      throw ViewsException.definition(
        s"$view would have ${several.length} columns '${several.head}': give each a name of its own."
      )
    }
    schema.fieldNames
      .find(n => n.equalsIgnoreCase(PartQuery.TimestampColumn) || n.equalsIgnoreCase(PartColumns.Number))
      .foreach { n =>
        throw ViewsException.definition(
          s"$view would have a column '$n', a name that is taken: give it another with AS."
        )
      }
    Bridge.nullable(schema)
  }
}
