package sparkcer.views.catalog

import java.util.Locale

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.views.statement.{PartRange, Statement}

/** Which part is computed from which, by the statements of the views. */
private[views] object Dependencies {

  /** The source parts that a part of a view is computed from. */
  def inputs(view: Table, index: Long): Vector[(String, PartRange)] =
    view.query(index).references.map(r => r.table -> r.parts(index)).distinct

  /** The existing parts of views that are computed from a part of a table. */
  def dependents(catalog: Catalog, table: String, index: Long): Vector[PartName] =
    computed(catalog, table, index).filter(isThere(catalog, _))

  /** The parts of views that were computed from a part of a table, also those that were dropped since. */
  private def computed(catalog: Catalog, table: String, index: Long): Vector[PartName] =
    for {
      view <- catalog.tables.filter(_.isView)
      j <- candidates(view, table, index)
      if inputs(view, j).exists { case (name, range) => name.equalsIgnoreCase(table) && range.contains(index) }
    } yield PartName(view.name, j)

  private def candidates(view: Table, table: String, index: Long): Vector[Long] = {
    val definition = view.definition.get
    val ranges = for {
      r <- (definition.initialize.references ++ definition.update.references).filter(_.to(table))
      start <- view.start
      next <- view.next
    } yield PartRange(r.high.firstFrom(index).max(start), r.low.lastWithin(index).min(next - 1))
    ranges.flatMap(_.indexes).distinct.sorted
  }

  private def isThere(catalog: Catalog, name: PartName) = catalog(name.table).part(name.index).isDefined

  /** The stale parts, and all parts that can become stale when these are recomputed. */
  def dirty(catalog: Catalog): Set[PartName] = {
    var all = Set.empty[PartName]
    var front = (for (t <- catalog.tables; p <- t.parts if p.isStale) yield PartName(t.name, p.index)).toSet
    while (front.nonEmpty) {
      all ++= front
      front = front.flatMap(p => dependents(catalog, p.table, p.index)) -- all
    }
    all
  }

  /** Marks the parts that depend on parts whose rows have changed as stale. A part that depends on them through a
    * dropped part is marked too: it cannot be recomputed, and the maintainer freezes it.
    */
  def mark(catalog: Catalog, changed: Seq[PartName]): Catalog =
    changed.foldLeft(catalog) { (c, cause) =>
      reached(c, cause).foldLeft(c) { (d, name) =>
        val view = d(name.table)
        val part = view.part(name.index).get
        if (part.stale.contains(cause)) d else d.updated(view.updated(part.copy(stale = part.stale :+ cause)))
      }
    }

  private def reached(catalog: Catalog, cause: PartName): Set[PartName] = {
    var found = Set.empty[PartName]
    var seen = Set.empty[PartName]
    var front = Set(cause)
    while (front.nonEmpty) {
      val (there, dropped) = front.flatMap(p => computed(catalog, p.table, p.index)).partition(isThere(catalog, _))
      found ++= there
      seen ++= front
      front = dropped -- seen
    }
    found
  }

  /** A table and all views that are computed from it, directly or not. Sources come before the views that read them. */
  def above(catalog: Catalog, name: String): Vector[String] =
    ordered(catalog.tables.flatMap(_.definition)).foldLeft(Vector(name)) { (found, d) =>
      if (d.sources.exists(s => found.exists(_.equalsIgnoreCase(s)))) found :+ d.name else found
    }

  /** Sorts views so that sources come before the views that read them. */
  def ordered(views: Vector[Statement]): Vector[Statement] = {
    val byName = views.map(v => v.name.toLowerCase(Locale.ROOT) -> v).toMap
    var done = Vector.empty[Statement]
    def visit(view: Statement, path: Vector[Statement]): Unit =
      if (path.exists(_.name.equalsIgnoreCase(view.name))) {
        val cycle = path.dropWhile(!_.name.equalsIgnoreCase(view.name)) :+ view
        throw new CerException("CER_VIEW_DEFINITION.CYCLE", "views" -> cycle.map(_.name).mkString(" -> "))
      } else if (!done.contains(view)) {
        view.sources.flatMap(s => byName.get(s.toLowerCase(Locale.ROOT))).foreach(visit(_, path :+ view))
        done :+= view
      }
    views.foreach(visit(_, Vector.empty))
    done
  }

  /** Fixes the start of each view for which that is now possible, see [[ViewStart]]. */
  def settle(catalog: Catalog): Catalog =
    ordered(catalog.tables.flatMap(_.definition)).foldLeft(catalog) { (c, d) =>
      val view = c(d.name)
      if (view.start.isDefined) c
      else ViewStart.earliest(c, d).fold(c)(s => c.updated(ViewStart.at(c, view, s)))
    }
}
