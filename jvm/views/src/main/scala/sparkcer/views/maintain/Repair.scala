package sparkcer.views.maintain

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.views.catalog._
import sparkcer.views.store.Storage

/** Finds files that are lost or have another size than when they were written. Parts of views are computed again, if
  * all that they need is there. What cannot be computed again keeps the rows that are left, and the number of lost rows
  * is noted: parts that were computed from it are never computed again from less.
  */
private[views] final class Repair(files: CatalogFiles, storage: Storage, queries: QueryRunner) {

  /** Notes that the lost rows of a table have been appended again. What was computed without them becomes stale. */
  def restored(name: String): Unit = files.commit { (now, version) =>
    val table = now(name)
    if (table.isView) throw new CerException("CER_VIEW_APPEND.VIEW", "name" -> name)
    if ((table.parts ++ table.open ++ table.aside).forall(_.lost == 0))
      throw new CerException("CER_VIEW_CATALOG.NOTHING_LOST", "table" -> table.name)
    (LostRows.restored(now, table, version), ())
  }

  /** Makes the catalog name only files that exist. The maintainer then computes the parts that can be computed.
    *
    * @return
    *   what was lost
    */
  def run(): Vector[MaintainedPart] = {
    val versions = files.reset().map { case (first, last) =>
      val what = if (first == last) s"version $first" else s"versions $first to $last"
      MaintainedPart("_catalog", first, 0, "lost", s"$what of the catalog cannot be read", 0, 0, 0, last - first + 1)
    }
    val broken =
      (for (t <- files.sound().tables; f <- t.folders; left = storage.left(f) if left != f) yield f.path -> left)
    if (broken.isEmpty) versions.toVector
    else versions.toVector ++ files.commit((now, _) => marked(now, broken.toMap))
  }

  private def marked(now: Catalog, left: Map[String, DataFolder]): (Catalog, Vector[MaintainedPart]) = {
    val views = Dependencies.ordered(now.tables.flatMap(_.definition)).map(_.name)
    val names = now.tables.filterNot(_.isView).map(_.name) ++ views
    names.foldLeft((now, Vector.empty[MaintainedPart])) { case ((catalog, report), name) =>
      of(catalog, name, left, report)
    }
  }

  private def of(catalog: Catalog, name: String, left: Map[String, DataFolder], report: Vector[MaintainedPart]) = {
    val table = catalog(name)
    val mended = table.copy(folders = table.folders.map(f => left.getOrElse(f.path, f)))
    var told = report
    def isBroken(p: Part) = p.folders.exists(left.contains)
    def kept(p: Part): Part = {
      val rest = p.copy(folders = p.folders.filter(f => mended.folder(f).files.nonEmpty))
      val rows = queries.rows(mended, Seq(rest)).count()
      val lost = p.rows - rows
      told :+= MaintainedPart(name, p.index, table.length, "lost", s"$lost rows were lost with their files", rows, 0, 0)
      rest.copy(rows = rows, lost = p.lost + lost)
    }
    // A part of a view can need an earlier one, so they are decided in their order.
    val parts = table.parts.foldLeft(mended.copy(parts = Vector.empty)) { (t, p) =>
      val part =
        if (!isBroken(p)) p
        else if (table.isView && isThere(catalog.updated(t), table, p.index))
          p.copy(folders = Vector.empty, rows = 0, reasons = (p.reasons :+ "its files were lost").distinct)
        else kept(p)
      t.copy(parts = t.parts :+ part)
    }
    def mend(p: Part) = if (isBroken(p)) kept(p) else p
    val whole = parts.copy(open = table.open.map(mend), aside = table.aside.map(mend))
    (Sweeper.drop(catalog, whole, System.currentTimeMillis()), told)
  }

  /** Is all that a part of a view is computed from there, or will be computed again? */
  private def isThere(catalog: Catalog, view: Table, index: Long): Boolean =
    Dependencies.inputs(view, index).forall { case (name, range) =>
      val source = catalog(name)
      MissingParts(source, range).isEmpty && source.between(range).forall(_.lost == 0)
    }
}
