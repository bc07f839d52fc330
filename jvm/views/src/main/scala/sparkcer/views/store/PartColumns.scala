package sparkcer.views.store

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.cerbridge.Columns
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

import sparkcer.internal.prepare.AsLong
import sparkcer.views.statement.PartQuery

/** The columns that connect rows with their parts: the time of a row, the number of its part, and PART_TIMESTAMP. */
private[views] object PartColumns {

  /** The column for the number of the part, in files and DataFrames that have rows of several parts. */
  val Number = "_part"

  private val Micros = 1000000L

  def quoted(name: String): Column = col(s"`${name.replace("`", "``")}`")

  /** A time column as microseconds since the Unix epoch; none if the type is not supported. Numbers are Unix seconds,
    * and times without a time zone are in UTC.
    */
  def micros(name: String, t: DataType): Option[Column] = {
    def long = Columns.column(AsLong(Columns.expression(quoted(name))))
    t match {
      case TimestampType | TimestampNTZType              => Some(long)
      case DateType                                      => Some(long * lit(86400L * Micros))
      case LongType | IntegerType | ShortType | ByteType => Some(long * lit(Micros))
      case _                                             => None
    }
  }

  /** The number of the part that a time in microseconds belongs to. It is exact, also for times before 1970. */
  def part(micros: Column, length: Long): Column = {
    val size = lit(length * Micros)
    call_function("div", micros - pmod(micros, size), size)
  }

  /** The columns of a table, and PART_TIMESTAMP if it is asked for, instead of the number of the part. */
  def stamped(rows: DataFrame, columns: StructType, length: Long, timestamps: Boolean): DataFrame = {
    val own = columns.fieldNames.map(quoted).toIndexedSeq
    val stamp = timestamp_seconds(col(Number) * lit(length)).as(PartQuery.TimestampColumn)
    rows.select((if (timestamps) own :+ stamp else own): _*)
  }

  def withTimestamp(columns: StructType): StructType = columns.add(PartQuery.TimestampColumn, TimestampType)
}
