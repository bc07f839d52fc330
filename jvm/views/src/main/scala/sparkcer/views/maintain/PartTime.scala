package sparkcer.views.maintain

import java.time.{Instant, ZoneOffset}
import java.time.format.DateTimeFormatter

import scala.util.Try

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.{CerException, Columns}
import org.apache.spark.sql.types._

import sparkcer.internal.prepare.AsLong
import sparkcer.views.ViewsException
import sparkcer.views.catalog.Table
import sparkcer.views.statement.References
import sparkcer.views.store.Storage

/** Parts and times: part n of a length begins n lengths after the Unix epoch. */
private[views] object PartTime {
  private val Micros = 1000000L

  /** The microseconds of a time column since the Unix epoch. Numbers are Unix seconds, times without a zone UTC. */
  def micros(c: Column, t: DataType): Option[Column] = {
    def long = Columns.column(AsLong(Columns.expression(c)))
    t match {
      case TimestampType | TimestampNTZType              => Some(long)
      case DateType                                      => Some(long * lit(86400L * Micros))
      case LongType | IntegerType | ShortType | ByteType => Some(long * lit(Micros))
      case _                                             => None
    }
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

  /** The begin of a part, in UTC; in seconds where it is beyond all calendars. */
  def words(index: Long, length: Long): String =
    Try(Format.format(Instant.ofEpochSecond(Math.multiplyExact(index, length)).atOffset(ZoneOffset.UTC)))
      .getOrElse(s"${BigInt(index) * length} seconds")

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
