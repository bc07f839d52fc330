package sparkcer.views.catalog

import sparkcer.views.statement.{Query, Reference, Statement}

/** Where a view starts. INITIALIZE makes the part of the smallest newest part of the sources; a view whose sources have
  * none yet starts with the first for which they have all that is needed. Starts are settled once, sources first, and a
  * source view counts from its own start on, also before its parts are made.
  */
private[views] object Start {

  /** The first part for which everything exists or is still to come; none while a source has no part and no start. */
  def earliest(catalog: Catalog, d: Statement): Option[Long] =
    over(catalog, d.initialize, _.begin)((r, first) => r.low.firstFrom(first)).map(_.max)

  /** The part of the smallest newest part of the sources, or the first later one that is possible. */
  def newest(catalog: Catalog, d: Statement): Option[Long] =
    for {
      latest <- over(catalog, d.initialize, t => t.newest.orElse(t.begin))((r, newest) => r.high.lastWithin(newest))
      first <- earliest(catalog, d)
    } yield latest.min.max(first)

  def at(catalog: Catalog, view: Table, start: Long): Table = {
    val update = view.definition.get.update
    val possible = update.references.flatMap { r =>
      val first = if (r.to(view.name)) Some(start) else catalog(r.table).begin
      first.map(r.low.firstFrom)
    }
    view.copy(start = Some(start), updates = Some((possible :+ (start + 1)).max))
  }

  private def over(catalog: Catalog, query: Query, bound: Table => Option[Long])(
      limit: (Reference, Long) => Long
  ): Option[Vector[Long]] = {
    val limits = query.references.map(r => bound(catalog(r.table)).map(limit(r, _)))
    if (limits.contains(None)) None else Some(limits.flatten)
  }
}
