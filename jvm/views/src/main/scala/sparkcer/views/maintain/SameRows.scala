package sparkcer.views.maintain

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.functions._

import sparkcer.views.store.PartColumns

/** Do two DataFrames with the same columns have the same rows, each the same number of times? The comparison is exact
  * and costs one shuffle of both. Rows with maps or variants cannot be compared, and count as different.
  */
private[views] object SameRows {
  def apply(a: DataFrame, b: DataFrame): Boolean =
    if (!a.schema.forall(f => RowOrdering.isOrderable(f.dataType))) false
    else {
      val columns = a.columns.map(PartColumns.quoted).toIndexedSeq
      val sign = "_sign"
      a.select(columns :+ lit(1L).as(sign): _*)
        .unionAll(b.select(columns :+ lit(-1L).as(sign): _*))
        .groupBy(columns: _*)
        .agg(sum(sign).as(sign))
        .where(col(sign) =!= 0)
        .isEmpty
    }
}
