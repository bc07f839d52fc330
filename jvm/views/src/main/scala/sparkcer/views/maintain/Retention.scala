package sparkcer.views.maintain

import sparkcer.views.ViewsException
import sparkcer.views.catalog.{Catalog, CatalogFiles, Dependencies, PartName, Table}
import sparkcer.views.statement.Range

/** Drops old parts. A part that a view still needs, for its next part or for one that is to be computed anew, is
  * dropped only together with what needs it.
  */
private[views] final class Retention(files: CatalogFiles) {

  /** @param before
    *   parts with smaller numbers go
    * @return
    *   the names and ranges of what was dropped, views that start again among them
    */
  def drop(name: String, before: Long, cascade: Boolean): Vector[String] =
    files.commit { (now, _) =>
      var dropped = Vector.empty[String]
      // What is to go of each table: parts below a number.
      var cuts = Map(now(name).name -> before)
      var restarted = Set.empty[String]
      var catalog = now
      while (cuts.nonEmpty) {
        val (table, cut) = cuts.head
        cuts = cuts.tail
        val needed = dependents(catalog, table, cut, restarted(table))
        if (needed.nonEmpty && !cascade) throw refused(table, cut, catalog(table).length, needed)
        val ends = needed.map {
          case Stuck(view, _)         => view -> catalog(view).next.get
          case StalePart(view, index) => view -> (index + 1)
        }
        restarted ++= needed.collect { case Stuck(view, _) => view }
        cuts = ends.foldLeft(cuts) { case (c, (view, end)) => c.updated(view, c.get(view).fold(end)(_.max(end))) }
        val (next, words) = without(catalog, table, cut, restarted(table))
        catalog = next
        dropped ++= words
      }
      if (catalog eq now) (now, dropped) else (Dependencies.settle(catalog), dropped)
    }

  /** What still needs parts of a table below a number; all that uses it, if it starts again. */
  private def dependents(catalog: Catalog, table: String, cut: Long, restarts: Boolean): Vector[Needs] = {
    val dirty = Dependencies.dirty(catalog)
    def needs(view: Table, index: Long) = Dependencies.inputs(view, index).exists { case (source, range) =>
      source.equalsIgnoreCase(table) && catalog(source).between(Range(range.first, range.last.min(cut - 1))).nonEmpty
    }
    catalog.tables.filter(_.isView).flatMap { view =>
      // A later part needs no older parts than the next one, except where UPDATE takes over from INITIALIZE.
      val coming = (view.next ++ view.updates.filter(u => view.next.exists(_ < u))).filter(needs(view, _))
      val own = if (view.name.equalsIgnoreCase(table)) cut else Long.MinValue
      val stale = view.parts.map(_.index).filter(i => i >= own && dirty(PartName(view.name, i)) && needs(view, i))
      val uses = view.definition.get.sources.exists(_.equalsIgnoreCase(table))
      if (coming.nonEmpty) Vector(Stuck(view.name, coming.head))
      else if (restarts && uses) view.next.map(Stuck(view.name, _)).toVector
      else stale.lastOption.map(StalePart(view.name, _)).toVector
    }
  }

  private def refused(table: String, cut: Long, length: Long, needed: Vector[Needs]) =
    ViewsException.needed(
      s"Parts of $table before ${PartTime.words(cut, length)} are still needed: by " + needed
        .map {
          case Stuck(view, next)      => s"$view[$next], which is not made yet"
          case StalePart(view, index) => s"$view[$index], which is to be computed anew"
        }
        .mkString(
          ", "
        ) + ". Run maintain() first, or drop less; with cascade these views lose their parts too and start again."
    )

  /** A view that starts again is as if it had just been created. */
  private def without(catalog: Catalog, name: String, cut: Long, restarts: Boolean): (Catalog, Vector[String]) = {
    val table = catalog(name)
    val gone = table.parts.takeWhile(_.index < cut) ++ table.open.filter(_.index < cut)
    if (gone.isEmpty && !restarts) (catalog, Vector.empty)
    else {
      val floor = (table.floor ++ gone.lastOption.map(_.index + 1)).maxOption
      val left = table.copy(
        parts = table.parts.filterNot(_.index < cut),
        open = table.open.filterNot(_.index < cut),
        floor = if (restarts) None else floor,
        start = if (restarts) None else table.start,
        updates = if (restarts) None else table.updates
      )
      val words = gone.headOption.map(p => Missing.words(table.name, Range(p.index, gone.last.index)))
      (Sweeper.drop(catalog, left, System.currentTimeMillis()), words.toVector)
    }
  }
}

/** Why parts cannot be dropped. */
private[views] sealed trait Needs { def view: String }
private[views] final case class Stuck(view: String, next: Long) extends Needs
private[views] final case class StalePart(view: String, index: Long) extends Needs
