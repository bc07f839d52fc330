package sparkcer.views.catalog

import sparkcer.views.statement.{PartQuery, PartReference, Statement}

/** The first part of a view. A new view starts at the newest part that can be computed from all its sources. If a
  * source has no part yet, the view starts at the first part for which its sources have the data. The start is fixed
  * once, for sources before the views that read them. A view that is a source counts from its own start on, also before
  * its parts are computed.
  */
private[views] object ViewStart {

  /** The first part for which all source parts exist or can still arrive; none while a source has no part and no start.
    */
  def earliest(catalog: Catalog, d: Statement): Option[Long] =
    over(catalog, d.initialize, _.begin)((r, first) => r.low.firstFrom(first)).map(_.max)

  /** The newest part that can be computed from all sources, or the first later one that is possible. */
  def newest(catalog: Catalog, d: Statement): Option[Long] =
    for {
      latest <- over(catalog, d.initialize, t => t.newest.orElse(t.begin))((r, newest) => r.high.lastWithin(newest))
      first <- earliest(catalog, d)
    } yield latest.min.max(first)

  /** The part that begins at a time in seconds or after it, but not before the earliest. */
  def since(catalog: Catalog, d: Statement, seconds: Long): Option[Long] =
    earliest(catalog, d).map(_.max(-Math.floorDiv(-seconds, d.length)))

  /** The view with its start, and with the first part that UPDATE can compute. */
  def at(catalog: Catalog, view: Table, start: Long): Table = {
    val update = view.definition.get.update
    val possible = update.references.flatMap { r =>
      val first = if (r.to(view.name)) Some(start) else catalog(r.table).begin
      first.map(r.low.firstFrom)
    }
    view.copy(start = Some(start), updates = Some((possible :+ (start + 1)).max))
  }

  private def over(catalog: Catalog, query: PartQuery, bound: Table => Option[Long])(
      limit: (PartReference, Long) => Long
  ): Option[Vector[Long]] = {
    val limits = query.references.map(r => bound(catalog(r.table)).map(limit(r, _)))
    if (limits.contains(None)) None else Some(limits.flatten)
  }
}
