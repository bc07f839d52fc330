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
    files.sweep(now - LeftMillis)
    // The folders are listed before the catalog is read. A folder that is committed in between is too new to be deleted.
    val found = for {
      t <- files.load().tables
      f <- storage.list(t.name) if f.isDirectory && f.getPath.getName != DeltaLog.Folder
    } yield t.name -> f
    val ancient = found.filter(_._2.getModificationTime < now - LeftMillis)
    if (ancient.nonEmpty) {
      val known = files.kept().flatMap(c => c.removed.map(_.path) ++ c.tables.flatMap(_.folders.map(_.path)))
      ancient
        .map { case (t, f) => s"$t/${f.getPath.getName}" }
        .filterNot(f => known.exists(k => k == f || k.startsWith(s"$f/")))
        .foreach(storage.delete)
    }
  }
}

private[views] object Sweeper {
  private val ReplacedMillis = 3600L * 1000
  private val LeftMillis = 24 * ReplacedMillis

  /** Updates a table in the catalog, and notes its folders that are not used any more for deletion. */
  def drop(catalog: Catalog, table: Table, now: Long): Catalog = {
    val swept = table.swept
    val gone = table.folders.map(_.path).diff(swept.folders.map(_.path))
    catalog.updated(swept).copy(removed = catalog.removed ++ gone.map(RemovedFolder(_, now)))
  }
}
