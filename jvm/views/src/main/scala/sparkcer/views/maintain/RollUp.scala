package sparkcer.views.maintain

import sparkcer.views.catalog.{CatalogFiles, Part, Table}
import sparkcer.views.store.Storage

/** Combines the files of many small parts. The parts keep their numbers and their rows. */
private[views] final class RollUp(files: CatalogFiles, storage: Storage) {

  /** @param before
    *   only parts with smaller numbers are rolled up
    * @param size
    *   how many parts have a folder together
    * @return
    *   how many parts were rolled up
    */
  def run(name: String, before: Long, size: Long): Long = {
    val table = files.load()(name)
    val blocks = table.parts
      .filter(_.index < before)
      .groupBy(p => Math.floorDiv(p.index, size))
      .toVector
      .sortBy(_._1)
      .collect { case (n, parts) if (n + 1) * size <= before && parts.flatMap(_.folders).distinct.length > 1 => parts }
    blocks.map(parts => roll(table, parts)).sum
  }

  private def roll(table: Table, parts: Vector[Part]): Long = {
    val filled = parts.filter(_.rows > 0)
    val folder = storage.writeRolled(table.name, storage.scan(table, parts)).copy(parts = filled.length.toLong)
    val rolled = files.commit { (now, _) =>
      val current = now.find(table.name).filter(_.id == table.id)
      val same = parts.filter(p => current.flatMap(_.part(p.index)).exists(_.folders == p.folders))
      // Late rows have arrived since. The next roll-up includes them.
      if (same.length < parts.length) (now, 0L)
      else {
        val whole = current.get.copy(folders = current.get.folders :+ folder)
        val placed = filled.foldLeft(whole) { (t, p) =>
          t.updated(t.part(p.index).get.copy(folders = Vector(folder.path)))
        }
        (Sweeper.drop(now, placed, System.currentTimeMillis()), parts.length.toLong)
      }
    }
    if (rolled == 0) storage.delete(folder.path)
    rolled
  }
}
