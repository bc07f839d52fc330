package sparkcer.views.maintain

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.cerbridge.{CerException, Plans, Sessions}
import org.apache.spark.sql.types._

import sparkcer.views.catalog.{Catalog, CatalogFiles, DataFolder, PartTime, Table}
import sparkcer.views.store.{PartColumns, Storage}

/** Appends rows to base tables. */
private[views] final class Appender(files: CatalogFiles, storage: Storage) {

  /** Appends rows. After that, all parts up to the newest one of the rows exist. A part without rows is empty. */
  def append(name: String, rows: DataFrame): Unit = {
    val table = base(files.load(), name)
    val staged = stage(table, rows)
    val numbers = staged.keys.toVector.sorted
    if (numbers.nonEmpty)
      undoing(staged) {
        files.commit { (now, version) =>
          val current = same(now, table)
          refuseDropped(current, numbers)
          (AppendedRows(now, current, staged, numbers.last, version), ())
        }
      }
  }

  def base(catalog: Catalog, name: String): Table = {
    val table = catalog(name)
    if (table.isView) throw new CerException("CER_VIEW_APPEND.VIEW", "name" -> name)
    table
  }

  def same(now: Catalog, table: Table): Table = now
    .find(table.name)
    .filter(_.id == table.id)
    .getOrElse(throw new CerException("CER_VIEW_CATALOG.DROPPED", "table" -> table.name))

  /** Writes rows to new folders by part. The catalog does not name these folders yet. */
  def stage(table: Table, rows: DataFrame): Map[Long, (DataFolder, Long)] = {
    val fitting = fit(table, rows)
    val time = table.time.get
    val micros = PartColumns.micros(time, table.columns(time).dataType).get
    val staged = storage.writeParts(table.name, fitting, PartColumns.part(micros, table.length))
    staged.get(None).foreach { case (_, count) =>
      delete(staged.values)
      throw new CerException(
        "CER_VIEW_APPEND.NO_TIME",
        "count" -> count.toString,
        "table" -> table.name,
        "column" -> time
      )
    }
    staged.collect { case (Some(n), written) => n -> written }
  }

  /** Deletes the staged folders if the body fails. */
  def undoing[A](staged: Map[Long, (DataFolder, Long)])(body: => A): A =
    try body
    catch {
      case e: Throwable =>
        discard(staged)
        throw e
    }

  def discard(staged: Map[Long, (DataFolder, Long)]): Unit = delete(staged.values)

  private def delete(staged: Iterable[(DataFolder, Long)]): Unit = staged.foreach(s => storage.delete(s._1.path))

  private def refuseDropped(table: Table, numbers: Vector[Long]): Unit = {
    val gone = numbers.filter(n => table.floor.exists(n < _))
    if (gone.nonEmpty)
      throw new CerException(
        "CER_VIEW_APPEND.DROPPED_PARTS",
        "table" -> table.name,
        "parts" -> gone.map(n => s"$n (${PartTime.words(n, table.length)})").mkString(", ")
      )
  }

  /** The columns of the table, by name. A number may have a narrower type than the table has; nothing else is
    * converted.
    */
  private def fit(table: Table, rows: DataFrame): DataFrame = {
    val same = Sessions.sameName(rows)
    def refuse(error: String, column: String, more: (String, String)*): Nothing =
      throw new CerException(s"CER_VIEW_APPEND.$error", Seq("table" -> table.name, "column" -> column) ++ more: _*)
    rows.schema.fields.find(f => !table.columns.exists(c => same(c.name, f.name))).foreach { f =>
      refuse("UNKNOWN_COLUMN", f.name, "columns" -> table.columns.fieldNames.mkString(", "))
    }
    rows.select(table.columns.map { c =>
      rows.schema.fields.filter(f => same(c.name, f.name)) match {
        case Array(f) if f.dataType.asNullableType == c.dataType => PartColumns.quoted(f.name).as(c.name)
        case Array(f) if widens(f.dataType, c.dataType) => PartColumns.quoted(f.name).cast(c.dataType).as(c.name)
        case Array(f) => refuse("COLUMN_TYPE", c.name, "type" -> f.dataType.sql, "expected" -> c.dataType.sql)
        case Array()  => refuse("MISSING_COLUMN", c.name, "type" -> c.dataType.sql)
        case _        => refuse("DUPLICATE_COLUMN", c.name)
      }
    }: _*)
  }

  private def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: NumericType, _: NumericType) => org.apache.spark.sql.catalyst.expressions.Cast.canUpCast(from, to)
    case _                                => false
  }

  private implicit class Nullable(t: DataType) {
    def asNullableType: DataType = Plans.nullable(new StructType().add("c", t)).head.dataType
  }
}
