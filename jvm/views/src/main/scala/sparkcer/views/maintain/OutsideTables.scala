package sparkcer.views.maintain

import java.util.Locale

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.cerbridge.{CerException, Sessions}

import sparkcer.views.catalog.{CatalogFiles, Table}

/** Tables that views read although they are not in the folder, such as dimension tables. Nobody tells when they change,
  * so parts that were computed before a change stay as they are until the user says that the table has changed. The
  * catalog notes when this was: a part that another process was computing meanwhile is then stale at once.
  */
private[views] final class OutsideTables(spark: SparkSession, files: CatalogFiles, queries: QueryRunner) {

  /** Marks all parts that were computed from an outside table as stale. */
  def changed(name: String): Unit = {
    val wanted = Sessions.session(spark).sessionState.sqlParser.parseMultipartIdentifier(name)
    files.commit { (now, version) =>
      val views = now.tables.filter(_.isView)
      val all =
        views.flatMap(v => Vector(v.definition.get.initialize, v.definition.get.update)).flatMap(queries.outside)
      if (!all.exists(isSame(_, wanted))) throw unread(name, all)
      val marked = views.foldLeft(now)((c, v) => c.updated(outdated(v, wanted, name, version)))
      (marked, ())
    }
  }

  private def outdated(view: Table, wanted: Seq[String], name: String, version: Long): Table = {
    val d = view.definition.get
    val readers = Vector(d.initialize, d.update).filter(queries.outside(_).exists(isSame(_, wanted)))
    if (readers.isEmpty) view
    else
      view.copy(
        parts = view.parts.map { p =>
          if (readers.exists(_ eq view.query(p.index)))
            p.copy(reasons = (p.reasons :+ OutsideTables.reason(name)).distinct)
          else p
        },
        told = view.told.updated(name, version)
      )
  }

  /** `dim` and `db.dim` are the same: which database is current may have changed. */
  private def isSame(a: Seq[String], b: Seq[String]): Boolean = {
    val (shorter, longer) = if (a.length < b.length) (a, b) else (b, a)
    longer.takeRight(shorter.length).map(_.toLowerCase(Locale.ROOT)) == shorter.map(_.toLowerCase(Locale.ROOT))
  }

  private def unread(name: String, all: Vector[Seq[String]]): CerException = {
    val names = all.map(_.mkString(".")).distinct.sorted
    if (names.isEmpty) new CerException("CER_VIEW_CATALOG.NOTHING_OUTSIDE", "name" -> name)
    else new CerException("CER_VIEW_CATALOG.NOT_READ", "name" -> name, "names" -> names.mkString(", "))
  }
}

private[views] object OutsideTables {
  private def reason(name: String) = s"$name changed"

  /** The reasons why a part is stale that was computed from an older version of the catalog. If only INITIALIZE or only
    * UPDATE reads the table, a part of the other may be recomputed in vain.
    */
  def since(version: Long, view: Table): Vector[String] =
    view.told.collect { case (name, told) if told > version => reason(name) }.toVector.sorted
}
