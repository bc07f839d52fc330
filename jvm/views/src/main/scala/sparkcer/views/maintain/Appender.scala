package sparkcer.views.maintain

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.cerbridge.{Plans, Sessions}
import org.apache.spark.sql.types._

import sparkcer.views.ViewsException
import sparkcer.views.catalog.{Catalog, CatalogFiles, Dependencies, Part, PartName, Piece, Table}
import sparkcer.views.statement.Range
import sparkcer.views.store.Storage

/** Puts rows into the parts of base tables. */
private[views] final class Appender(files: CatalogFiles, storage: Storage) {

  /** All parts up to the newest of the rows are there after it, empty ones where no row is. */
  def append(name: String, rows: DataFrame): Unit = {
    val table = base(files.load(), name)
    val staged = stage(table, rows)
    val numbers = staged.keys.toVector.sorted
    if (numbers.nonEmpty)
      undoing(staged) {
        files.commit { (now, version) =>
          val current = same(now, table)
          dropped(current, numbers).foreach(throw _)
          (Arrival(now, current, staged, numbers.last, version), ())
        }
      }
  }

  def base(catalog: Catalog, name: String): Table = {
    val table = catalog(name)
    if (table.isView)
      throw ViewsException.append(s"$name is a view: rows are appended to tables, and maintain() makes its parts.")
    table
  }

  def same(now: Catalog, table: Table): Table = now
    .find(table.name)
    .filter(_.id == table.id)
    .getOrElse(
      throw ViewsException.catalog(
        s"The table '${table.name}' was dropped while rows were written; nothing was appended."
      )
    )

  /** Writes rows by part. Nothing refers to them yet. */
  def stage(table: Table, rows: DataFrame): Map[Long, (Piece, Long)] = {
    val fitting = fit(table, rows)
    val time = table.time.get
    val micros = PartTime.micros(Storage.quoted(time), table.columns(time).dataType).get
    val staged = storage.writeParts(table.name, fitting, PartTime.part(micros, table.length))
    staged.get(None).foreach { case (_, count) =>
      delete(staged.values)
      throw ViewsException.append(
        s"$count rows for ${table.name} have no time: '$time' is NULL. Nothing was appended; filter them out first."
      )
    }
    staged.collect { case (Some(n), piece) => n -> piece }
  }

  /** What was staged is removed if the body fails. */
  def undoing[A](staged: Map[Long, (Piece, Long)])(body: => A): A =
    try body
    catch {
      case e: Throwable =>
        discard(staged)
        throw e
    }

  def discard(staged: Map[Long, (Piece, Long)]): Unit = delete(staged.values)

  private def delete(pieces: Iterable[(Piece, Long)]): Unit = pieces.foreach(p => storage.delete(p._1.folder))

  private def dropped(table: Table, numbers: Vector[Long]) = {
    val gone = numbers.filter(n => table.floor.exists(n < _))
    if (gone.isEmpty) None
    else
      Some(
        ViewsException.append(
          s"There are rows for parts of ${table.name} that were dropped: ${gone.map(n => s"$n (${PartTime.words(n, table.length)})").mkString(", ")}. Nothing was appended."
        )
      )
  }

  /** The columns of the table, by name. Whole numbers and decimals may be narrower than the table's; nothing else is
    * converted.
    */
  private def fit(table: Table, rows: DataFrame): DataFrame = {
    val same = Sessions.sameName(rows)
    def refuse(problem: String): Nothing =
      throw ViewsException.append(s"The rows do not fit the table ${table.name}: $problem. Nothing was appended.")
    rows.schema.fields.find(f => !table.columns.exists(c => same(c.name, f.name))).foreach { f =>
      refuse(s"it has no column '${f.name}'; its columns are ${table.columns.fieldNames.mkString(", ")}")
    }
    rows.select(table.columns.map { c =>
      rows.schema.fields.filter(f => same(c.name, f.name)) match {
        case Array(f) if f.dataType.asNullableType == c.dataType => Storage.quoted(f.name).as(c.name)
        case Array(f) if widens(f.dataType, c.dataType)          => Storage.quoted(f.name).cast(c.dataType).as(c.name)
        case Array(f)                                            =>
          refuse(s"the column '${c.name}' is ${f.dataType.sql} in the rows and ${c.dataType.sql} in the table; cast it")
        case Array() => refuse(s"they have no column '${c.name}', which is ${c.dataType.sql}")
        case _       => refuse(s"they have more than one column '${c.name}'")
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

/** A catalog after rows have come to parts of a table. */
private[views] object Arrival {

  /** @param sealUntil
    *   the newest part that is complete as far as we know: views see the parts up to it, and later ones stay open
    */
  def apply(
      catalog: Catalog,
      table: Table,
      staged: Map[Long, (Piece, Long)],
      sealUntil: Long,
      version: Long
  ): Catalog = {
    val now = System.currentTimeMillis()
    def more(p: Part): Part = staged.get(p.index).fold(p) { case (piece, rows) =>
      p.copy(pieces = p.pieces :+ piece.folder, rows = p.rows + rows, changed = version, updated = now)
    }
    def part(index: Long): Part = more(
      table.open.find(_.index == index).getOrElse(Part(index, Vector.empty, 0, version, now))
    )
    val news = (staged.keySet ++ table.open.map(_.index)).toVector.sorted
    val known = table.parts.map(more)
    // A table whose parts were all dropped goes on after the last of them.
    val first = (news.filter(_ <= sealUntil).headOption ++ table.begin).minOption
    val last = table.newest.fold(sealUntil)(_.max(sealUntil))
    first.foreach(f => refuseGap(table, f, last))
    val parts = first.fold(Vector.empty[Part]) { f =>
      val below = table.first.fold(Vector.empty[Part])(t => Range(f, t - 1).indexes.map(part).toVector)
      val above = Range(table.newest.fold(f)(_ + 1), last).indexes.map(part).toVector
      below ++ known ++ above
    }
    val open = news.filter(_ > last).map(part)
    val arrived = catalog.updated(
      table.copy(parts = parts, open = open, pieces = table.pieces ++ staged.values.map(_._1))
    )
    val changed = table.parts.filter(p => staged.contains(p.index)).map(p => PartName(table.name, p.index))
    Dependencies.settle(Dependencies.mark(arrived, changed))
  }

  /** A wrong time, such as milliseconds taken for seconds, would make empty parts without end. */
  private def refuseGap(table: Table, first: Long, last: Long): Unit =
    if (last - first - table.parts.length > MostEmpty)
      throw ViewsException.append(
        s"Parts of ${table.name} would go from ${PartTime.words(first, table.length)} to ${PartTime.words(last, table.length)}, most of them empty: are the times right? Nothing was appended."
      )

  private val MostEmpty = 100000L
}
