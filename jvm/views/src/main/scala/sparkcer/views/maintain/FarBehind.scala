package sparkcer.views.maintain

import scala.annotation.tailrec

import sparkcer.views.catalog.Table

/** Rows with a clock that is far behind. A table has no gaps, so a row from long before its first part would make a
  * huge number of empty parts.
  */
private[views] object FarBehind {

  /** The parts, of those that rows are for, that would make so many empty ones. Rows that lead back to the first part
    * without such a gap are not far behind, however old they are. If the table has no parts yet, the newest row counts
    * as its first.
    */
  def apply(table: Table, parts: Iterable[Long]): Set[Long] = {
    val first = (table.first ++ table.floor ++ table.open.headOption.map(_.index)).minOption.orElse(parts.maxOption)
    first.fold(Set.empty[Long])(f => beyond(f, parts.filter(_ < f).toList.sorted(Ordering.Long.reverse), 0).toSet)
  }

  /** @param parts
    *   before the first, the newest first
    */
  @tailrec
  private def beyond(first: Long, parts: List[Long], empty: Long): List[Long] = parts match {
    case part :: older if empty + (first - part - 1) <= MostEmpty => beyond(part, older, empty + (first - part - 1))
    case rest                                                     => rest
  }

  /** Parts that are empty take some hundred bytes of the catalog each. */
  private val MostEmpty = 100000L
}
