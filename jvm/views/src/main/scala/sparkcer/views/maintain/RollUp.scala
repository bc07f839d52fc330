package sparkcer.views.maintain

import sparkcer.views.catalog.{CatalogFiles, Part, Table}
import sparkcer.views.store.Storage

/** Puts the rows of many small parts into few files. Parts keep their numbers and their rows. */
private[views] final class RollUp(files: CatalogFiles, storage: Storage) {

  /** @param before
    *   only stretches that end before this part
    * @param size
    *   how many parts go together
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
      .collect { case (n, parts) if (n + 1) * size <= before && parts.flatMap(_.pieces).distinct.length > 1 => parts }
    blocks.map(parts => roll(table, parts)).sum
  }

  private def roll(table: Table, parts: Vector[Part]): Long = {
    val piece = storage.writeRolled(table.name, storage.scan(table, parts))
    val rolled = files.commit { (now, _) =>
      val current = now.find(table.name).filter(_.id == table.id)
      val same = parts.filter(p => current.flatMap(_.part(p.index)).exists(_.pieces == p.pieces))
      // Late rows came meanwhile: the next roll-up takes them too.
      if (same.length < parts.length) (now, 0L)
      else {
        val whole = current.get.copy(pieces = current.get.pieces :+ piece)
        val placed = parts.filter(_.rows > 0).foldLeft(whole) { (t, p) =>
          t.updated(t.part(p.index).get.copy(pieces = Vector(piece.folder)))
        }
        (Sweeper.drop(now, placed, System.currentTimeMillis()), parts.length.toLong)
      }
    }
    if (rolled == 0) storage.delete(piece.folder)
    rolled
  }
}
