package sparkcer.views.translate

import org.apache.spark.sql.catalyst.util.quoteIfNeeded

/** A column of a helper view from which aggregates are computed.
  *
  * @param argument
  *   what is aggregated; none for the number of rows
  * @param wide
  *   whether a sum of BIGINT is a DECIMAL
  */
final private[views] case class HelperColumn(
    name: String,
    kind: HelperColumn.Kind,
    argument: Option[SqlExpression],
    wide: Boolean
) {
  def text: String = quoteIfNeeded(name)
}

private[views] object HelperColumn {
  sealed trait Kind

  /** The number of all rows, and the number of rows in which the argument is not NULL. */
  case object Rows extends Kind
  case object Values extends Kind
  case object Sum extends Kind
  case object Min extends Kind
  case object Max extends Kind
}
