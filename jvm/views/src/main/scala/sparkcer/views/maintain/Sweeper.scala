package sparkcer.views.maintain

import sparkcer.views.catalog.{Catalog, CatalogFiles, Removed, Table}
import sparkcer.views.delta.DeltaLog
import sparkcer.views.store.Storage

/** Removes what no part has any more: pieces that were replaced, and folders that a run left when it was cut short.
  * Both stay for a while, because readers of an older version, or a writer that is not done, may need them.
  */
private[views] final class Sweeper(files: CatalogFiles, storage: Storage) {
  import Sweeper._

  def run(now: Long = System.currentTimeMillis()): Unit = {
    val old = files.load().removed.filter(_.since < now - ReplacedMillis)
    if (old.nonEmpty) {
      old.foreach(r => storage.delete(r.folder))
      files.commit((c, _) => (c.copy(removed = c.removed.diff(old)), ()))
    }
    files.sweep(now - LeftMillis)
    // Listed first: a folder that is committed after that is too young to be here.
    val found = for {
      t <- files.load().tables
      f <- storage.list(t.name) if f.isDirectory && f.getPath.getName != DeltaLog.Folder
    } yield t.name -> f
    val ancient = found.filter(_._2.getModificationTime < now - LeftMillis)
    if (ancient.nonEmpty) {
      val known = files.kept().flatMap(c => c.removed.map(_.folder) ++ c.tables.flatMap(_.pieces.map(_.folder)))
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

  /** The catalog with a table whose unused pieces go to the list of what is to be removed. */
  def drop(catalog: Catalog, table: Table, now: Long): Catalog = {
    val swept = table.swept
    val gone = table.pieces.map(_.folder).diff(swept.pieces.map(_.folder))
    catalog.updated(swept).copy(removed = catalog.removed ++ gone.map(Removed(_, now)))
  }
}
