package sparkcer.views.catalog

/** What a version changes in the version before it. Its size is that of the change, and does not grow with the catalog.
  *
  * @param version
  *   the version that it leads to
  * @param writer
  *   who has written it
  * @param dropped
  *   the ids of tables
  */
private[views] final case class CatalogChange(
    version: Long,
    writer: String,
    listed: Long,
    added: Vector[Table],
    dropped: Vector[String],
    changed: Vector[TableChange],
    removed: ListChange[RemovedFolder]
) {

  /** Fails if the catalog is not the version before. */
  def of(before: Catalog): Catalog = {
    require(before.version + 1 == version, s"version $version does not follow ${before.version}")
    val gone = dropped.toSet
    val byId = changed.map(c => c.id -> c).toMap
    require(changed.forall(c => before.tables.exists(_.id == c.id)), "it changes a table that does not exist")
    val tables = before.tables.filterNot(t => gone(t.id)).map(t => byId.get(t.id).fold(t)(_.of(t))) ++ added
    Catalog(version, tables, removed.of(before.removed)(_.path), before.writers, listed).writtenBy(writer)
  }
}

private[views] object CatalogChange {
  def between(before: Catalog, after: Catalog, writer: String): CatalogChange = {
    val known = before.tables.map(t => t.id -> t).toMap
    val left = after.tables.map(_.id).toSet
    CatalogChange(
      after.version,
      writer,
      after.listed,
      after.tables.filterNot(t => known.contains(t.id)),
      before.tables.map(_.id).filterNot(left),
      after.tables.filter(t => known.get(t.id).exists(_ ne t)).map(t => TableChange.between(known(t.id), t)),
      ListChange.between(before.removed, after.removed)(_.path)
    )
  }
}

/** What can change in a table besides its lists. */
private[views] final case class TableSettings(
    start: Option[Long],
    updates: Option[Long],
    floor: Option[Long],
    seen: Option[Long],
    batches: Map[String, Long],
    failed: Vector[FailedPart],
    told: Map[String, Long]
) {
  def to(t: Table): Table = t.copy(
    start = start,
    updates = updates,
    floor = floor,
    seen = seen,
    batches = batches,
    failed = failed,
    told = told
  )
}

private[views] object TableSettings {
  def of(t: Table): TableSettings =
    TableSettings(t.start, t.updates, t.floor, t.seen, t.batches, t.failed, t.told)
}

/** What a version changes in a table. All else stays as it was when the table was created. */
private[views] final case class TableChange(
    id: String,
    settings: TableSettings,
    parts: ListChange[Part],
    open: ListChange[Part],
    aside: ListChange[Part],
    folders: ListChange[DataFolder],
    appended: ListChange[String]
) {
  def of(before: Table): Table = settings.to(
    before.copy(
      parts = parts.of(before.parts)(TableChange.number).sortBy(_.index),
      open = open.of(before.open)(TableChange.number).sortBy(_.index),
      aside = aside.of(before.aside)(TableChange.place),
      folders = folders.of(before.folders)(_.path),
      appended = appended.of(before.appended)(identity)
    )
  )
}

private[views] object TableChange {
  private def number(p: Part): String = p.index.toString

  /** Rows can be put aside several times for the same part, each time in a folder of their own. */
  private def place(p: Part): String = p.folders.mkString(" ")

  def between(before: Table, after: Table): TableChange = TableChange(
    after.id,
    TableSettings.of(after),
    ListChange.between(before.parts, after.parts)(number),
    ListChange.between(before.open, after.open)(number),
    ListChange.between(before.aside, after.aside)(place),
    ListChange.between(before.folders, after.folders)(_.path),
    ListChange.between(before.appended, after.appended)(identity)
  )
}

/** What changes in a list whose elements have different keys: the keys that are gone, and the elements that are new or
  * different. New elements come last.
  */
private[views] final case class ListChange[A](gone: Vector[String], set: Vector[A]) {
  def isEmpty: Boolean = gone.isEmpty && set.isEmpty

  def of(before: Vector[A])(key: A => String): Vector[A] =
    if (isEmpty) before
    else {
      val dropped = gone.toSet
      val fresh = set.map(a => key(a) -> a).toMap
      val old = before.map(a => key(a) -> a).filterNot(k => dropped(k._1))
      val known = if (fresh.isEmpty) Set.empty[String] else old.iterator.map(_._1).filter(fresh.contains).toSet
      old.map { case (k, a) => fresh.getOrElse(k, a) } ++ set.filterNot(a => known(key(a)))
    }
}

private[views] object ListChange {
  def none[A]: ListChange[A] = ListChange(Vector.empty, Vector.empty)

  /** Elements that are the same object at the start and at the end of both lists are not even compared: a commit
    * changes a few parts of thousands.
    */
  def between[A <: AnyRef](before: Vector[A], after: Vector[A])(key: A => String): ListChange[A] =
    if (before eq after) none
    else {
      val shorter = before.length.min(after.length)
      var head = 0
      while (head < shorter && (before(head) eq after(head))) head += 1
      var tail = 0
      while (tail < shorter - head && (before(before.length - 1 - tail) eq after(after.length - 1 - tail))) tail += 1
      val old = before.slice(head, before.length - tail).map(a => key(a) -> a).toMap
      val now = after.slice(head, after.length - tail)
      val keys = now.map(key).toSet
      ListChange(old.keysIterator.filterNot(keys).toVector, now.filterNot(a => old.get(key(a)).contains(a)))
    }
}
