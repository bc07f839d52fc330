package sparkcer.views

import java.time.{Instant, ZoneOffset}
import java.time.format.DateTimeFormatter

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.sparkcer.CerException
import org.apache.spark.sql.types._

/** Parts and times: part n of a length begins n lengths after the Unix epoch. */
private[views] object PartTime {
  private val Micros = 1000000L

  /** The microseconds of a time column since the Unix epoch; numbers are Unix seconds. */
  def micros(c: Column, t: DataType): Option[Column] = t match {
    case TimestampType                                => Some(unix_micros(c))
    case TimestampNTZType                             => Some(unix_micros(to_utc_timestamp(c.cast(TimestampType), current_timezone())))
    case DateType                                     => Some(unix_date(c).cast(LongType) * lit(86400L * Micros))
    case LongType | IntegerType | ShortType | ByteType => Some(c.cast(LongType) * lit(Micros))
    case _                                            => None
  }

  /** The number of the part that a time in microseconds is in, exactly and for times before 1970 too. */
  def part(micros: Column, length: Long): Column = {
    val size = lit(length * Micros)
    call_function("div", micros - pmod(micros, size), size)
  }

  def part(micros: Long, length: Long): Long = Math.floorDiv(micros, length * Micros)

  /** The columns of a table and, if asked for, PART_TIMESTAMP. */
  def stamped(rows: DataFrame, columns: StructType, length: Long, timestamps: Boolean): DataFrame = {
    val own = columns.fieldNames.map(Storage.quoted).toIndexedSeq
    val stamp = timestamp_seconds(col(Storage.PartColumn) * lit(length)).as(References.PartTimestamp)
    rows.select((if (timestamps) own :+ stamp else own): _*)
  }

  def added(columns: StructType): StructType = columns.add(References.PartTimestamp, TimestampType)

  /** The begin of a part, in UTC. */
  def words(index: Long, length: Long): String =
    Format.format(Instant.ofEpochSecond(Math.multiplyExact(index, length)).atOffset(ZoneOffset.UTC))

  private val Format = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss'Z'")

  def missing(table: Table, index: Long): CerException = {
    val there = (table.first, table.newest) match {
      case (Some(a), Some(b)) => s"it has the parts $a to $b"
      case _                  => "it has no parts yet"
    }
    ViewsException.catalog(
      s"There is no part $index (${words(index, table.length)}) of ${table.name}; $there."
    )
  }
}
