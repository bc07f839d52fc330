package sparkcer.views.maintain

import org.apache.spark.internal.Logging
import org.apache.spark.sql.cerbridge.CerException

import sparkcer.engine.error.Errors
import sparkcer.internal.bind.Durations
import sparkcer.views.catalog.{DataFolder, Part, PartTime, Table}

/** Rows with a wrong clock. Views compute all parts up to the newest, so a row that is far ahead would make many empty
  * parts, and all rows until then late data. Such rows are put aside.
  *
  * @param ahead
  *   how far a row may be ahead of the later of the newest part and the clock; if it is not given, one day, or 1,440
  *   parts if these are shorter
  */
private[views] final class FarAhead(ahead: Option[String]) extends Logging {
  private val micros = ahead.map { text =>
    Durations.micros(text).filter(_ >= 0).getOrElse(throw new CerException("CER_VIEW_APPEND.AHEAD", "ahead" -> text))
  }

  /** The number of the last part that takes rows. */
  def limit(table: Table): Long = {
    val now = PartTime.part(System.currentTimeMillis() * 1000, table.length)
    val newest = (table.newest ++ table.open.lastOption.map(_.index)).maxOption
    val second = 1000000L
    val parts = micros.fold((86400L / table.length).max(1).min(MostParts))(m =>
      Math.floorDiv(m + table.length * second - 1, table.length * second)
    )
    newest.fold(now)(_.max(now)) + parts
  }

  /** The table with rows that are put aside. */
  def put(table: Table, rows: Map[Long, (DataFolder, Long)], version: Long): Table = {
    val parts = rows.toVector.sortBy(_._1).map { case (n, (folder, count)) =>
      Part(n, Vector(folder.path), count, version, System.currentTimeMillis())
    }
    table.copy(aside = table.aside ++ parts, folders = table.folders ++ rows.values.map(_._1))
  }

  /** @param when
    *   the times of the rows, in words
    */
  def warn(table: Table, rows: Map[Long, (DataFolder, Long)], when: String): Unit = if (rows.nonEmpty)
    logWarning(
      Errors.print(
        "CER_VIEW_ASIDE",
        "rows" -> rows.values.map(_._2).sum.toString,
        "table" -> table.name,
        "when" -> when
      )
    )

  private val MostParts = 1440L
}
