package sparkcer.views.maintain

import sparkcer.views.catalog.{Catalog, CatalogFiles, RemovedFolder, Table}
import sparkcer.views.delta.DeltaLog
import sparkcer.views.store.Storage

/** Deletes folders that no part uses: those that were replaced, and those that an interrupted run left behind. They are
  * deleted after some time, because queries on an older version may still read them, or a run may still write them.
  */
private[views] final class Sweeper(files: CatalogFiles, storage: Storage) {
  import Sweeper._

  def run(now: Long = System.currentTimeMillis()): Unit = {
    val old = files.load().removed.filter(_.since < now - ReplacedMillis)
    if (old.nonEmpty) {
      old.foreach(r => storage.delete(r.path))
      files.commit((c, _) => (c.copy(removed = c.removed.diff(old)), ()))
    }
    if (files.load().listed < now - ListedMillis) {
      files.commit((c, _) => (c.copy(listed = now), ()))
      deleteLeft(now - LeftMillis)
    }
  }

  /** Deletes what interrupted runs left behind before a time. It lists a folder for each part, so it is done once an
    * hour.
    */
  private def deleteLeft(before: Long): Unit = {
    files.sweep(before)
    // The folders are listed before the catalog is read. A folder that is committed in between is too new to be deleted.
    val ancient = for {
      t <- files.load().tables
      f <- storage.list(t.name)
      if f.isDirectory && f.getPath.getName != DeltaLog.Folder && f.getModificationTime < before
    } yield s"${t.name}/${f.getPath.getName}"
    if (ancient.nonEmpty) {
      val now = files.load()
      val named = (now.removed.map(_.path) ++ now.tables.flatMap(_.folders.map(_.path))).map(top).toSet
      ancient.filterNot(named).foreach(storage.delete)
    }
  }

  /** The folder directly in that of the table. An append writes one with a folder for each part. */
  private def top(path: String): String = path.split('/').take(2).mkString("/")
}

private[views] object Sweeper {
  private val ReplacedMillis = 3600L * 1000
  private val LeftMillis = 24 * ReplacedMillis
  private val ListedMillis = 3600L * 1000

  /** Removes tables from the catalog, and notes their folders for deletion. */
  def without(catalog: Catalog, tables: Vector[Table]): Catalog = {
    val folders = tables.flatMap(_.folders.map(f => RemovedFolder(f.path, System.currentTimeMillis())))
    val kept = catalog.tables.filterNot(t => tables.exists(_.id == t.id))
    catalog.copy(tables = kept, removed = catalog.removed ++ folders)
  }

  /** Updates a table in the catalog, and notes its folders that are not used any more for deletion. */
  def drop(catalog: Catalog, table: Table, now: Long): Catalog = {
    val swept = table.swept
    if (swept eq table) catalog.updated(table)
    else {
      val kept = swept.folders.map(_.path).toSet
      val gone = table.folders.map(_.path).filterNot(kept)
      catalog.updated(swept).copy(removed = catalog.removed ++ gone.map(RemovedFolder(_, now)))
    }
  }
}
