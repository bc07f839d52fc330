package sparkcer.views.maintain

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.views.catalog.{Catalog, DataFolder, Dependencies, Part, PartName, PartTime, Table}
import sparkcer.views.statement.PartRange

/** Adds rows that were written to new folders to the catalog. */
private[views] object AppendedRows {

  /** @param sealUntil
    *   the newest part that is complete. Views see the parts up to it; later ones stay open.
    */
  def apply(
      catalog: Catalog,
      table: Table,
      staged: Map[Long, (DataFolder, Long)],
      sealUntil: Long,
      version: Long
  ): Catalog = {
    val now = System.currentTimeMillis()
    def more(p: Part): Part = staged.get(p.index).fold(p) { case (folder, rows) =>
      p.copy(folders = p.folders :+ folder.path, rows = p.rows + rows, changed = version, updated = now)
    }
    val opened = table.open.map(p => p.index -> p).toMap
    def part(index: Long): Part = more(
      opened.getOrElse(index, Part(index, Vector.empty, 0, version, now))
    )
    val news = (staged.keySet ++ table.open.map(_.index)).toVector.sorted
    val known = table.parts.map(more)
    // If all parts of the table were dropped, the next part follows the last of them.
    val first = (news.find(_ <= sealUntil) ++ table.begin).minOption
    val last = table.newest.fold(sealUntil)(_.max(sealUntil))
    val filled = (staged.keySet ++ table.open.map(_.index)).count(n => table.newest.forall(_ < n) && n <= last)
    first.foreach(f => refuseGap(table, table.newest.fold(f)(_ + 1), last, filled.toLong))
    val parts = first.fold(Vector.empty[Part]) { f =>
      val below = table.first.fold(Vector.empty[Part])(t => PartRange(f, t - 1).indexes.map(part).toVector)
      val above = PartRange(table.newest.fold(f)(_ + 1), last).indexes.map(part).toVector
      below ++ known ++ above
    }
    val open = news.filter(_ > last).map(part)
    val arrived = catalog.updated(
      table.copy(parts = parts, open = open, folders = table.folders ++ staged.values.map(_._1))
    )
    val changed = table.parts.filter(p => staged.contains(p.index)).map(p => PartName(table.name, p.index))
    Dependencies.settle(Dependencies.mark(arrived, changed))
  }

  /** The parts from one to another would be new.
    *
    * @param filled
    *   how many of them have rows
    */
  private def refuseGap(table: Table, first: Long, last: Long, filled: Long): Unit =
    if (last >= first && last - first + 1 - filled > MostEmpty) throw emptyParts(table, first, last)

  def emptyParts(table: Table, first: Long, last: Long): CerException = new CerException(
    "CER_VIEW_APPEND.EMPTY_PARTS",
    "table" -> table.name,
    "first" -> PartTime.words(first, table.length),
    "last" -> PartTime.words(last, table.length)
  )

  /** A table that nobody appended to for long goes on, if no clock is wrong: see [[FarAhead]] and [[FarBehind]]. More
    * parts than this would not fit into memory.
    */
  private val MostEmpty = 1000000L
}
