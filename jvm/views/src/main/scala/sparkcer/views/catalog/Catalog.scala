package sparkcer.views.catalog

import org.apache.spark.sql.cerbridge.CerException

/** All tables and views of a root folder in one version. It is immutable: a commit writes the next version.
  *
  * @param removed
  *   folders that no part uses any more. They are deleted later, because queries on an older version may still read
  *   them.
  * @param writers
  *   the last version that each writer has written, see [[CatalogFiles]]
  * @param listed
  *   when the folders were last searched for those that interrupted runs left behind, in milliseconds
  */
private[views] final case class Catalog(
    version: Long,
    tables: Vector[Table],
    removed: Vector[RemovedFolder],
    writers: Map[String, Long] = Map.empty,
    listed: Long = 0
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

  /** Notes that a writer has written this version, and forgets writers that wrote nothing for long. */
  def writtenBy(writer: String): Catalog =
    copy(writers = writers.filter(_._2 > version - Catalog.KnownVersions).updated(writer, version))
}

private[views] object Catalog {
  val Empty: Catalog = Catalog(0, Vector.empty, Vector.empty)

  /** After so many versions a catalog forgets a writer. */
  private val KnownVersions = 10000L
}

/** @param since
  *   when it was removed from the catalog, in milliseconds
  */
private[views] final case class RemovedFolder(path: String, since: Long)
