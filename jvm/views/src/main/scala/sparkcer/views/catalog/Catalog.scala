package sparkcer.views.catalog

import org.apache.spark.sql.cerbridge.CerException

/** All tables and views of a root folder in one version. It is immutable: a commit writes the next version.
  *
  * @param removed
  *   folders that no part uses any more. They are deleted later, because queries on an older version may still read
  *   them.
  * @param writers
  *   the last version that each writer has written, see [[CatalogFiles]]
  */
private[views] final case class Catalog(
    version: Long,
    tables: Vector[Table],
    removed: Vector[RemovedFolder],
    writers: Map[String, Long] = Map.empty
) {
  def find(name: String): Option[Table] = tables.find(_.name.equalsIgnoreCase(name))

  def apply(name: String): Table = find(name).getOrElse {
    val names = tables.map(_.name)
    if (names.isEmpty) throw new CerException("CER_VIEW_CATALOG.EMPTY", "name" -> name)
    else throw new CerException("CER_VIEW_CATALOG.NOT_FOUND", "name" -> name, "names" -> names.sorted.mkString(", "))
  }

  /** Fails if there is already a table or view of this name. */
  def checkNew(name: String): Unit =
    if (find(name).isDefined) throw new CerException("CER_VIEW_CATALOG.EXISTS", "name" -> name)

  def updated(table: Table): Catalog = copy(tables = tables.map(t => if (t.id == table.id) table else t))
}

/** @param since
  *   when it was removed from the catalog, in milliseconds
  */
private[views] final case class RemovedFolder(path: String, since: Long)
