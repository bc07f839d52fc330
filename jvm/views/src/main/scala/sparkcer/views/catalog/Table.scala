package sparkcer.views.catalog

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.types.{DataType, StructType}

import sparkcer.views.statement.{PartQuery, PartRange, Statement, StatementParser, StatementText}

/** A base table or a view.
  *
  * @param id
  *   distinguishes it from an earlier or later table of the same name
  * @param length
  *   of a part, in seconds: part n has the rows from `n * length` to before `(n + 1) * length`, in Unix time
  * @param schema
  *   as JSON
  * @param time
  *   the column that decides which part a row belongs to; only base tables have one
  * @param statement
  *   of a view
  * @param start
  *   the number of the first part of a view. It is fixed once, as soon as the sources allow it, see [[ViewStart]].
  * @param updates
  *   the first part of a view that UPDATE computes. INITIALIZE computes the parts from `start` to before it, because
  *   for these parts UPDATE would need parts from before the start of the view or of a source.
  * @param floor
  *   all parts with a smaller number were dropped
  * @param parts
  *   in order and without gaps
  * @param open
  *   parts that a stream still writes; views do not see them
  * @param aside
  *   rows that arrived for dropped parts, or too far ahead of the newest part and the clock
  * @param folders
  *   all folders that `parts`, `open` and `aside` name
  * @param seen
  *   the largest time of the rows of streams, in microseconds
  * @param batches
  *   the last micro-batch of each stream that writes to the table, by the id of the streaming query
  * @param appended
  *   the names of the last batches that were appended by name, so that a batch that is appended again is known
  * @param failed
  *   the parts of a view whose last computation failed
  * @param told
  *   the tables outside of the folder whose change was told, with the version of the catalog in which it was told
  * @param helper
  *   whether it is the helper view of the view that was translated with it
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
    folders: Vector[DataFolder] = Vector.empty,
    seen: Option[Long] = None,
    batches: Map[String, Long] = Map.empty,
    appended: Vector[String] = Vector.empty,
    failed: Vector[FailedPart] = Vector.empty,
    told: Map[String, Long] = Map.empty,
    helper: Boolean = false
) {
  lazy val columns: StructType = DataType.fromJson(schema).asInstanceOf[StructType]
  lazy val definition: Option[Statement] = statement.map(StatementCache.of)
  lazy val folder: Map[String, DataFolder] = folders.map(f => f.path -> f).toMap

  def isView: Boolean = statement.isDefined
  def first: Option[Long] = parts.headOption.map(_.index)
  def newest: Option[Long] = parts.lastOption.map(_.index)

  def part(index: Long): Option[Part] = parts.headOption.flatMap { head =>
    val at = index - head.index
    if (at < 0 || at >= parts.length) None else Some(parts(at.toInt))
  }

  /** The existing parts of a range. */
  def between(range: PartRange): Vector[Part] = first.fold(Vector.empty[Part]) { f =>
    parts.slice((range.first - f).max(0).min(parts.length).toInt, (range.last + 1 - f).max(0).min(parts.length).toInt)
  }

  /** The number of the part that a view computes next, if the start of the view is known. */
  def next: Option[Long] = newest.map(_ + 1).orElse(start.map(s => floor.fold(s)(_.max(s))))

  /** The number of the first part that exists or can still arrive, if it is known. */
  def begin: Option[Long] = first.orElse(if (isView) next else floor)

  /** The query that computes a part of a view. */
  def query(index: Long): PartQuery = {
    val d = definition.get
    if (updates.forall(index < _)) d.initialize else d.update
  }

  /** Replaces the part of that number, or adds the part after the last one. */
  def updated(part: Part): Table =
    first.fold(copy(parts = Vector(part))) { f =>
      val at = (part.index - f).toInt
      copy(parts = if (at == parts.length) parts :+ part else parts.updated(at, part))
    }

  /** Without the folders that no part names. */
  def swept: Table = {
    val used = (parts.iterator ++ open ++ aside).flatMap(_.folders).toSet
    if (folders.forall(f => used(f.path))) this else copy(folders = folders.filter(f => used(f.path)))
  }
}

/** A catalog has the text of a statement. Each text is parsed once, and not each time that a catalog is loaded. */
private object StatementCache {
  private val known = new ConcurrentHashMap[String, Statement]

  def of(text: String): Statement =
    known.computeIfAbsent(text, t => StatementParser.parse(StatementText.split(t).head))
}
