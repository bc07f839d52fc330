package sparkcer.views.maintain

import scala.util.control.NonFatal

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.cerbridge.{CerException, CerRuntimeException, Plans, Sessions}
import org.apache.spark.sql.types._

import sparkcer.views.catalog.{Catalog, CatalogFiles, DataFolder, PartTime, Table}
import sparkcer.views.store.{FileErrors, PartColumns, Storage}

/** Appends rows to base tables. */
private[views] final class Appender(files: CatalogFiles, storage: Storage) {

  /** Appends rows. After that, all parts up to the newest one of the rows exist. A part without rows is empty.
    *
    * @param batch
    *   a name for these rows. If rows of this name were appended before, nothing is appended.
    * @return
    *   how many rows were put aside, see [[FarAhead]]
    */
  def append(name: String, rows: DataFrame, far: FarAhead, batch: Option[String]): Long = {
    val table = base(files.load(), name)
    def isDone(t: Table) = batch.exists(t.appended.contains)
    if (isDone(table)) 0
    else {
      val staged = stage(table, rows)
      val limit = far.limit(table)
      val (ahead, kept) = staged.partition(_._1 > limit)
      val numbers = kept.keys.toVector.sorted
      undoing(staged) {
        val repeated = files.commit { (now, version) =>
          val current = same(now, table)
          refuseDropped(current, numbers)
          refuseBehind(current, numbers)
          if (isDone(current)) (now, true)
          else if (staged.isEmpty && batch.isEmpty) (now, false)
          else {
            val noted = far
              .put(current, ahead, version)
              .copy(appended = (current.appended ++ batch).takeRight(KnownBatches))
            val sealUntil = numbers.lastOption.getOrElse(Long.MinValue)
            (AppendedRows(now.updated(noted), noted, kept, sealUntil, version), false)
          }
        }
        if (repeated) discard(staged)
        else far.warn(table, ahead, s"after the part of ${PartTime.words(limit, table.length)}")
        if (repeated) 0L else ahead.values.map(_._2).sum
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
    val staged =
      try storage.writeParts(table.name, fitting, PartColumns.part(micros, table.length))
      catch {
        case NonFatal(e) if !FileErrors.isUnread(e) =>
          throw FileErrors.worded(e)(reason => "ROWS" -> Seq("table" -> table.name, "reason" -> reason))
      }
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

  /** Deletes the staged folders if the body fails. If the catalog could not be written, it is not certain that nothing
    * was: the folders are then left, and deleted later if the catalog does not name them.
    */
  def undoing[A](staged: Map[Long, (DataFolder, Long)])(body: => A): A =
    try body
    catch {
      case e: CerRuntimeException if e.key.startsWith("CER_VIEW_STORAGE") => throw e
      case e: Throwable                                                   =>
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

  private def refuseBehind(table: Table, numbers: Vector[Long]): Unit =
    FarBehind(table, numbers).minOption.foreach { oldest =>
      val last = table.first.orElse(numbers.lastOption).get
      throw AppendedRows.emptyParts(table, oldest, last)
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

  /** So many names of batches are remembered. */
  private val KnownBatches = 1000

  private def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: NumericType, _: NumericType) => org.apache.spark.sql.catalyst.expressions.Cast.canUpCast(from, to)
    case _                                => false
  }

  private implicit class Nullable(t: DataType) {
    def asNullableType: DataType = Plans.nullable(new StructType().add("c", t)).head.dataType
  }
}
