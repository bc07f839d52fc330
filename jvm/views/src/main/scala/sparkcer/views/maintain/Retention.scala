package sparkcer.views.maintain

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.views.catalog.{Catalog, CatalogFiles, Dependencies, Part, PartName, PartTime, Table}
import sparkcer.views.statement.PartRange

/** Drops old parts. Parts that a view still needs, for its next part or for a part that is to be recomputed, are
  * dropped only with `cascade`. Then the view loses the parts that need them and all earlier ones. If its next part
  * cannot be computed then, it loses all its parts and starts again.
  */
private[views] final class Retention(files: CatalogFiles) {

  /** @param before
    *   parts with smaller numbers are dropped
    * @return
    *   the dropped parts of each table and view
    */
  def drop(name: String, before: Long, cascade: Boolean): Vector[String] =
    files.commit { (now, _) =>
      refuseOpen(now(name), before, cascade)
      var dropped = Vector.empty[String]
      // For each table, the number below which parts are dropped.
      var cuts = Map(now(name).name -> before)
      var restarted = Set.empty[String]
      var catalog = now
      while (cuts.nonEmpty) {
        val (table, cut) = cuts.head
        cuts = cuts.tail
        val needed = dependents(catalog, table, cut, restarted(table))
        if (needed.nonEmpty && !cascade) throw refused(table, cut, catalog(table).length, needed)
        val ends = needed.map {
          case NextPart(view, _)      => view -> catalog(view).next.get
          case StalePart(view, index) => view -> (index + 1)
        }
        restarted ++= needed.collect { case NextPart(view, _) => view }
        cuts = ends.foldLeft(cuts) { case (c, (view, end)) => c.updated(view, c.get(view).fold(end)(_.max(end))) }
        val (next, words) = without(catalog, table, cut, restarted(table))
        catalog = next
        dropped ++= words
      }
      if (catalog eq now) (now, dropped) else (Dependencies.settle(catalog), dropped)
    }

  /** The rows of open parts would be lost before any view has seen them, and the views would wait for these parts. */
  private def refuseOpen(table: Table, before: Long, cascade: Boolean): Unit = {
    val open = table.open.filter(_.index < before)
    if (open.nonEmpty && !cascade)
      throw new CerException(
        "CER_VIEW_NEEDED.OPEN",
        "parts" -> PartRange(open.head.index, open.last.index).of(table.name),
        "rows" -> open.map(_.rows).sum.toString,
        "time" -> PartTime.words(before, table.length)
      )
  }

  /** The parts that still need parts of a table below a number. If the table is a view that starts again, these are the
    * next parts of all views that read it.
    */
  private def dependents(catalog: Catalog, table: String, cut: Long, restarts: Boolean): Vector[PartNeed] = {
    val dirty = Dependencies.dirty(catalog)
    val source = catalog(table)
    // Parts that are missing between open ones cannot come any more either.
    val goes =
      PartRange(source.begin.getOrElse(Long.MinValue), gone(source, cut).lastOption.fold(Long.MinValue)(_.index))
    def needs(view: Table, index: Long) = Dependencies.inputs(view, index).exists { case (name, range) =>
      name.equalsIgnoreCase(table) && range.first <= goes.last && goes.first <= range.last
    }
    catalog.tables.filter(_.isView).flatMap { view =>
      // Later parts need no older parts than the next one does, except the first part that UPDATE computes.
      val coming = (view.next ++ view.updates.filter(u => view.next.exists(_ < u))).filter(needs(view, _))
      val own = if (view.name.equalsIgnoreCase(table)) cut else Long.MinValue
      val stale = view.parts.map(_.index).filter(i => i >= own && dirty(PartName(view.name, i)) && needs(view, i))
      val uses = view.definition.get.sources.exists(_.equalsIgnoreCase(table))
      if (coming.nonEmpty) Vector(NextPart(view.name, coming.head))
      else if (restarts && uses) view.next.map(NextPart(view.name, _)).toVector
      else stale.lastOption.map(StalePart(view.name, _)).toVector
    }
  }

  private def refused(table: String, cut: Long, length: Long, needed: Vector[PartNeed]): CerException = {
    val next = needed.collect { case NextPart(view, index) => s"$view[$index]" }.mkString(", ")
    val stale = needed.collect { case StalePart(view, index) => s"$view[$index]" }.mkString(", ")
    val parts = Seq("table" -> table, "time" -> PartTime.words(cut, length))
    if (stale.isEmpty) new CerException("CER_VIEW_NEEDED.PARTS_NEXT", parts :+ "next" -> next: _*)
    else if (next.isEmpty) new CerException("CER_VIEW_NEEDED.PARTS_STALE", parts :+ "stale" -> stale: _*)
    else
      new CerException("CER_VIEW_NEEDED.PARTS_NEXT_AND_STALE", parts ++ Seq("next" -> next, "stale" -> stale): _*)
  }

  private def gone(table: Table, cut: Long): Vector[Part] =
    table.parts.takeWhile(_.index < cut) ++ table.open.filter(_.index < cut)

  /** Drops parts of one table. A view that starts again is then as if it had just been created. */
  private def without(catalog: Catalog, name: String, cut: Long, restarts: Boolean): (Catalog, Vector[String]) = {
    val table = catalog(name)
    val gone = this.gone(table, cut)
    if (gone.isEmpty && !restarts) (catalog, Vector.empty)
    else {
      val floor = (table.floor ++ gone.lastOption.map(_.index + 1)).maxOption
      val left = table.copy(
        parts = table.parts.filterNot(_.index < cut),
        open = table.open.filterNot(_.index < cut),
        failed = if (restarts) Vector.empty else table.failed.filterNot(_.index < cut),
        floor = if (restarts) None else floor,
        start = if (restarts) None else table.start,
        updates = if (restarts) None else table.updates
      )
      val words = gone.headOption.map(p => PartRange(p.index, gone.last.index).of(table.name))
      (Sweeper.drop(catalog, left, System.currentTimeMillis()), words.toVector)
    }
  }
}

/** A part of a view that needs parts that are to be dropped. */
private sealed trait PartNeed
private final case class NextPart(view: String, index: Long) extends PartNeed
private final case class StalePart(view: String, index: Long) extends PartNeed
