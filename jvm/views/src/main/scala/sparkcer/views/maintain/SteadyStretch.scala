package sparkcer.views.maintain

import sparkcer.views.catalog.{Catalog, MissingParts, Part, Table}
import sparkcer.views.statement.{PartRange, PartReference}

/** Parts that follow each other and are computed from the same rows. In a gap of the data all that they read is empty;
  * a view over a view can read a stretch of its source. UPDATE then computes the same rows for all of them, so its
  * query runs once, and all parts of the stretch name the folder with these rows.
  */
private[views] object SteadyStretch {

  /** Can the query of a part tell it from the next one only by the rows that it reads? */
  def isSteady(view: Table, index: Long, isDeterministic: Boolean): Boolean =
    isDeterministic && view.updates.exists(_ <= index)

  /** The number of the last part of the stretch that begins with a part.
    *
    * @param catalog
    *   in which the part does not exist yet
    * @param made
    *   its rows, see [[rows]]
    */
  def last(catalog: Catalog, view: Table, index: Long, made: Vector[String]): Long = {
    val references = view.query(index).references
    def reads(at: Long) = references.map(rows(catalog, view, index, made, _, at))
    val first = reads(index)
    if (first.contains(None)) index
    else Iterator.iterate(index + 1)(_ + 1).takeWhile(reads(_) == first).foldLeft(index)((_, at) => at)
  }

  /** What tells the rows of a part: its folders, and the lost rows that it lacks. */
  def rows(part: Part): Vector[String] = part.folders ++ part.without.map(_.toString)

  /** Would the parts after a part be the same, if it had the rows of the part before? This is so for a running total in
    * a gap of the data. A view that does not read its own parts does not need the rows of the part before.
    */
  def rests(catalog: Catalog, view: Table, index: Long, before: Part): Boolean =
    before.rows > 0 && view.query(index).references.exists(_.to(view.name)) &&
      last(catalog, view, index, rows(before)) > index

  /** The rows that a reference of a part stands for: two parts read the same rows if these are the same. None if that
    * cannot be told, or if a part is missing or will be computed again.
    */
  private def rows(
      catalog: Catalog,
      view: Table,
      index: Long,
      made: Vector[String],
      reference: PartReference,
      at: Long
  ): Option[Vector[String]] = {
    val source = catalog(reference.table)
    val range = reference.parts(at)
    val isOwn = reference.to(view.name)
    // The own parts from the beginning of the stretch on do not exist yet.
    val there = if (isOwn) PartRange(range.first, range.last.min(index - 1)) else range
    val parts = source.between(there)
    // With PART_TIMESTAMP, a query can tell the rows of one part from the same rows of another.
    def isKnown = parts.forall(p =>
      p.lost == 0 && !p.isStale &&
        p.folders.forall(f => !view.query(index).timestamps && !source.folder(f).rolled)
    )
    if (there.first <= there.last && MissingParts(source, there).nonEmpty || !isKnown) None
    else {
      val own = if (isOwn) (range.last - range.first.max(index) + 1).max(0).toInt else 0
      if (own > 0 && made.nonEmpty && view.query(index).timestamps) None
      else Some((parts.flatMap(rows) ++ Vector.fill(own)(made).flatten).sorted)
    }
  }
}
