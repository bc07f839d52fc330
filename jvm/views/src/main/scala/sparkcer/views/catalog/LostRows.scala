package sparkcer.views.catalog

/** Rows that were lost with their files, and the parts that were computed without them. */
private[views] object LostRows {

  /** The parts whose lost rows a part would lack if it was computed now. */
  def under(catalog: Catalog, view: Table, index: Long): Vector[PartName] = (for {
    (name, range) <- Dependencies.inputs(view, index)
    source = catalog(name)
    part <- source.between(range) if !part.isWhole
    lost <- (if (part.lost > 0) Vector(PartName(source.name, part.index)) else Vector.empty) ++ part.without
  } yield lost).distinct

  /** The catalog in which the lost rows of a table are there again. All parts that were computed without them, or that
    * were not computed again because of them, are stale.
    */
  def restored(catalog: Catalog, table: Table, version: Long): Catalog = {
    val now = System.currentTimeMillis()
    val names = table.parts.filter(_.lost > 0).map(p => PartName(table.name, p.index))
    def whole(p: Part) = if (p.lost > 0) p.copy(lost = 0, changed = version, updated = now) else p
    val mended = catalog.updated(
      table.copy(parts = table.parts.map(whole), open = table.open.map(whole), aside = table.aside.map(whole))
    )
    val marked = Dependencies.mark(mended, names)
    marked.copy(tables = marked.tables.map { t =>
      val parts = t.parts.map { p =>
        val lacked = p.without.filter(n => names.contains(n) && !p.stale.contains(n))
        if (lacked.isEmpty) p else p.copy(stale = p.stale ++ lacked)
      }
      if (parts.corresponds(t.parts)(_ eq _)) t else t.copy(parts = parts)
    })
  }

  /** `computed without the lost rows of M[7]` */
  def words(parts: Vector[Part]): String =
    parts.flatMap(_.without).distinct.mkString("computed without the lost rows of ", ", ", "")
}
