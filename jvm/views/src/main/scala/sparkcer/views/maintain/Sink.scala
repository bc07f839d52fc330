package sparkcer.views.maintain

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.max

import sparkcer.views.ViewsException
import sparkcer.views.catalog.{CatalogFiles, Part, Piece, Table}
import sparkcer.views.store.Storage

/** Takes the micro-batches of a stream into a table. A part is complete when the largest time seen is so much past its
  * end; before, its rows are stored and views do not see them. Rows for parts that were dropped are kept aside. The
  * number of the micro-batch is in the same commit as its rows, so one that Spark runs again changes nothing. After
  * each the views are maintained.
  */
final class Sink private[views] (
    files: CatalogFiles,
    storage: Storage,
    appender: Appender,
    name: String,
    delay: Long,
    maintain: () => Unit
) extends ((DataFrame, Long) => Unit) {

  def apply(rows: DataFrame, batch: Long): Unit = take(rows, batch)

  /** The same under a name that Python can call. */
  def take(rows: DataFrame, batch: Long): Unit = {
    store(rows, batch)
    maintain()
  }

  private def store(rows: DataFrame, batch: Long): Unit = {
    val query = Sink.queryOf(rows)
    val table = appender.base(files.load(), name)
    def isDone(t: Table) = t.batches.get(query).exists(_ >= batch)
    if (!isDone(table)) {
      val staged = appender.stage(table, rows)
      appender.undoing(staged) {
        val largest = staged.keys.maxOption.map(n => latest(table, n, staged(n)._1))
        val late = files.commit { (now, version) =>
          val current = appender.same(now, table)
          if (isDone(current)) (now, true)
          else {
            val (dropped, kept) = staged.partition { case (n, _) => current.floor.exists(n < _) }
            val seen = (current.seen ++ largest).maxOption
            val aside = dropped.map { case (n, (piece, count)) =>
              Part(n, Vector(piece.folder), count, version, System.currentTimeMillis())
            }
            val noted = current.copy(
              seen = seen,
              batches = current.batches.updated(query, batch),
              aside = current.aside ++ aside,
              pieces = current.pieces ++ dropped.values.map(_._1)
            )
            val complete = seen.map(s => PartTime.part(s - delay, current.length) - 1).getOrElse(Long.MinValue)
            (Arrival(now.updated(noted), noted, kept, complete, version), false)
          }
        }
        if (late) appender.discard(staged)
      }
    }
  }

  /** The largest time of a piece, in microseconds. */
  private def latest(table: Table, index: Long, piece: Piece): Long = {
    val only = table.copy(pieces = Vector(piece))
    val rows = storage.scan(only, Seq(Part(index, Vector(piece.folder), 0, 0, 0)))
    val time = table.time.get
    rows.agg(max(PartTime.micros(Storage.quoted(time), table.columns(time).dataType).get)).head().getLong(0)
  }
}

private[views] object Sink {

  /** Where Spark says which query a micro-batch belongs to. */
  val QueryId = "sql.streaming.queryId"

  /** The id of a query is in its checkpoint: it tells streams apart, and a restart from a new stream. Without it the
    * micro-batches of one would pass for those of another.
    */
  private def queryOf(rows: DataFrame): String =
    Option(rows.sparkSession.sparkContext.getLocalProperty(QueryId)).getOrElse(
      throw ViewsException.append(
        s"A sink takes the micro-batches of a stream, by foreachBatch, and these rows are of none: Spark names no query in '$QueryId'."
      )
    )
}
