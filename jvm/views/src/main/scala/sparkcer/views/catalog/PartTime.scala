package sparkcer.views.catalog

import java.time.{Instant, ZoneOffset}
import java.time.format.DateTimeFormatter

import scala.util.Try

import org.apache.spark.sql.cerbridge.CerException

/** Parts and times: part n begins n lengths after the Unix epoch. */
private[views] object PartTime {

  /** The number of the part that a time in microseconds belongs to. */
  def part(micros: Long, length: Long): Long = Math.floorDiv(micros, length * 1000000L)

  /** The start of a part in UTC, or in seconds if it is outside the calendar. */
  def words(index: Long, length: Long): String =
    Try(Format.format(Instant.ofEpochSecond(Math.multiplyExact(index, length)).atOffset(ZoneOffset.UTC)))
      .getOrElse(s"${BigInt(index) * length} seconds")

  private val Format = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss'Z'")

  def missing(table: Table, index: Long): CerException = {
    val part = Seq("table" -> table.name, "part" -> s"$index", "time" -> words(index, table.length))
    (table.first, table.newest) match {
      case (Some(a), Some(b)) =>
        new CerException("CER_VIEW_CATALOG.NO_PART", part ++ Seq("first" -> s"$a", "last" -> s"$b"): _*)
      case _ => new CerException("CER_VIEW_CATALOG.NO_PARTS", part: _*)
    }
  }
}
