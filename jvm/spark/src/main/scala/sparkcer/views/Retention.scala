package sparkcer.views

/** Drops old parts. A part that a view still needs, for its next part or for one that is to be computed anew, is dropped
  * only together with what needs it.
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
      // What is dropped of each table: parts below a number.
      var cuts = Map(now(name).name -> before)
      var catalog = now
      while (cuts.nonEmpty) {
        val (table, cut) = cuts.head
        cuts = cuts.tail
        val needed = dependents(catalog, table, cut)
        if (needed.nonEmpty && !cascade) throw refused(table, cut, catalog(table).length, needed)
        val (next, words) = without(catalog, table, cut)
        catalog = next
        dropped ++= words
        needed.foreach {
          case Stuck(view, _) =>
            // Nothing can follow its last part: it begins anew, and what was made of it goes with it.
            val end = catalog(view).next.get
            cuts = cuts.updated(view, cuts.get(view).fold(end)(_.max(end)))
          case StalePart(view, index) =>
            cuts = cuts.updated(view, cuts.get(view).fold(index + 1)(_.max(index + 1)))
        }
      }
      if (dropped.isEmpty) (now, dropped) else (Dependencies.settle(catalog), dropped)
    }

  /** What still needs parts of a table below a number. */
  private def dependents(catalog: Catalog, table: String, cut: Long): Vector[Needs] = {
    val dirty = Dependencies.dirty(catalog)
    def needs(view: Table, index: Long) = Dependencies.inputs(view, index).exists { case (source, range) =>
      source.equalsIgnoreCase(table) && catalog(source).between(Range(range.first, range.last.min(cut - 1))).nonEmpty
    }
    catalog.tables.filter(_.isView).flatMap { view =>
      // A later part needs no older parts than the next one, except where UPDATE takes over from INITIALIZE.
      val coming = (view.next ++ view.updates.filter(u => view.next.exists(_ < u))).filter(needs(view, _))
      val own = if (view.name.equalsIgnoreCase(table)) cut else Long.MinValue
      val stale = view.parts.map(_.index).filter(i => i >= own && dirty(PartName(view.name, i)) && needs(view, i))
      if (coming.nonEmpty) Vector(Stuck(view.name, coming.head))
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
        .mkString(", ") + ". Run maintain() first, or drop less; with cascade these views lose their parts too and start again."
    )

  private def without(catalog: Catalog, name: String, cut: Long): (Catalog, Vector[String]) = {
    val table = catalog(name)
    val gone = table.parts.takeWhile(_.index < cut)
    val open = table.open.filter(_.index < cut)
    if (gone.isEmpty && open.isEmpty) (catalog, Vector.empty)
    else {
      val kept = table.parts.drop(gone.length)
      val left = table.copy(
        parts = kept,
        open = table.open.diff(open),
        floor = Some(table.floor.fold(cut)(_.max(cut))),
        // A view without parts starts anew.
        start = if (kept.isEmpty) None else table.start,
        updates = if (kept.isEmpty) None else table.updates
      )
      val words = Missing.words(table.name, Range((gone ++ open).head.index, (gone ++ open).last.index))
      (Sweeper.drop(catalog, left, System.currentTimeMillis()), Vector(words))
    }
  }
}

/** Why parts cannot be dropped. */
private sealed trait Needs { def view: String }
private final case class Stuck(view: String, next: Long) extends Needs
private final case class StalePart(view: String, index: Long) extends Needs
