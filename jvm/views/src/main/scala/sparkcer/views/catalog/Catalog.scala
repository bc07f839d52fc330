package sparkcer.views.catalog

import org.apache.spark.sql.types.{DataType, StructType}

import sparkcer.views.ViewsException
import sparkcer.views.statement.{Query, Range, Statement, StatementParser}

/** All tables and views of a root folder at one version. Immutable; a commit makes the next version.
  *
  * @param removed
  *   folders that no part has any more, and since when: readers of an older version may still be at them
  */
private[views] final case class Catalog(version: Long, tables: Vector[Table], removed: Vector[Removed]) {
  def find(name: String): Option[Table] = tables.find(_.name.equalsIgnoreCase(name))

  def apply(name: String): Table = find(name).getOrElse {
    val names = tables.map(_.name)
    throw ViewsException.catalog(
      s"There is no table or view '$name' here" +
        (if (names.isEmpty) "; create a table first." else s"; there are ${names.sorted.mkString(", ")}.")
    )
  }

  def updated(table: Table): Catalog = copy(tables = tables.map(t => if (t.id == table.id) table else t))
}

private[views] final case class Removed(folder: String, since: Long)

/** A base table, or a view.
  *
  * @param id
  *   tells it from another one of the same name, before or after
  * @param length
  *   of a part, in seconds: part n has the rows from `n * length` to before `(n + 1) * length`, in Unix time
  * @param schema
  *   as JSON
  * @param time
  *   the column that says which part a row of a base table belongs to
  * @param statement
  *   of a view
  * @param start
  *   the first part of a view ever made, as soon as it is settled
  * @param updates
  *   the first part of a view that UPDATE makes: the ones from `start` to before it are made by INITIALIZE, because
  *   UPDATE needs parts from before the sources' or the view's own first
  * @param floor
  *   parts below were dropped
  * @param parts
  *   in order and without gaps
  * @param open
  *   parts that a stream still writes; views do not see them
  * @param aside
  *   rows of a stream that came for dropped parts
  * @param seen
  *   the largest time of a stream's rows, in microseconds
  * @param batches
  *   the last micro-batch of each stream that writes here, by the id of the query
  */
private[views] final case class Table(
    name: String,
    id: String,
    length: Long,
    schema: String,
    time: Option[String],
    statement: Option[String],
    start: Option[Long] = None,
    updates: Option[Long] = None,
    floor: Option[Long] = None,
    parts: Vector[Part] = Vector.empty,
    open: Vector[Part] = Vector.empty,
    aside: Vector[Part] = Vector.empty,
    pieces: Vector[Piece] = Vector.empty,
    seen: Option[Long] = None,
    batches: Map[String, Long] = Map.empty
) {
  lazy val columns: StructType = DataType.fromJson(schema).asInstanceOf[StructType]
  lazy val definition: Option[Statement] = statement.map(Definitions.of)
  lazy val piece: Map[String, Piece] = pieces.map(p => p.folder -> p).toMap

  def isView: Boolean = statement.isDefined
  def first: Option[Long] = parts.headOption.map(_.index)
  def newest: Option[Long] = parts.lastOption.map(_.index)

  def part(index: Long): Option[Part] = parts.headOption.flatMap { head =>
    val at = index - head.index
    if (at < 0 || at >= parts.length) None else Some(parts(at.toInt))
  }

  def between(range: Range): Vector[Part] = first.fold(Vector.empty[Part]) { f =>
    parts.slice((range.first - f).max(0).min(parts.length).toInt, (range.last + 1 - f).max(0).min(parts.length).toInt)
  }

  /** The part that a view makes next, if it is settled. */
  def next: Option[Long] = newest.map(_ + 1).orElse(start.map(s => floor.fold(s)(_.max(s))))

  /** The first part that is there or is to come, as far as it is known. */
  def begin: Option[Long] = first.orElse(if (isView) next else floor)

  def query(index: Long): Query = {
    val d = definition.get
    if (updates.forall(index < _)) d.initialize else d.update
  }

  /** With a part in the place of the one of that number, or after the last. */
  def updated(part: Part): Table =
    first.fold(copy(parts = Vector(part))) { f =>
      val at = (part.index - f).toInt
      copy(parts = if (at == parts.length) parts :+ part else parts.updated(at, part))
    }

  /** Without the pieces that no part has. */
  def swept: Table = {
    val used = (parts.iterator ++ open ++ aside).flatMap(_.pieces).toSet
    if (pieces.forall(p => used(p.folder))) this else copy(pieces = pieces.filter(p => used(p.folder)))
  }
}

/** The rows of one stretch of time.
  *
  * @param changed
  *   the version of the catalog at which its rows were last changed
  * @param updated
  *   the time of that, in milliseconds
  * @param stale
  *   the parts that changed since it was computed
  * @param frozen
  *   whether it stays as it is although a source changed, because other parts that it needs were dropped
  */
private[views] final case class Part(
    index: Long,
    pieces: Vector[String],
    rows: Long,
    changed: Long,
    updated: Long,
    stale: Vector[PartName] = Vector.empty,
    frozen: Boolean = false
)

private[views] final case class PartName(table: String, index: Long) {
  override def toString: String = s"$table[$index]"
}

/** A folder with rows of one part, which is never written again; or, if it was rolled up, of several, which then carry
  * their part's number in a column.
  */
private[views] final case class Piece(folder: String, rolled: Boolean, files: Vector[DataFile])

private[views] final case class DataFile(name: String, size: Long, modified: Long)

/** Statements are read again whenever a catalog is loaded; this keeps what was read. */
private[views] object Definitions {
  private val known = new java.util.concurrent.ConcurrentHashMap[String, Statement]

  def of(text: String): Statement =
    known.computeIfAbsent(text, t => StatementParser.parse(StatementParser.split(t).head))
}
