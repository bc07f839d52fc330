package sparkcer.views.maintain

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.functions.max

import sparkcer.views.catalog.{CatalogFiles, DataFolder, Part, PartTime, Table}
import sparkcer.views.store.{PartColumns, Storage}

/** Appends the micro-batches of a stream to a table, and maintains the views after each. A part is complete when the
  * largest time seen is past the end of the part by `delay`. Until then its rows are stored, but views do not see them.
  * Rows for parts that were dropped are kept aside, and so are rows that are too far ahead, see [[FarAhead]], or too
  * far behind, see [[FarBehind]]. The number of the micro-batch is committed together with its rows, so a micro-batch
  * that Spark runs again changes nothing.
  *
  * @param delay
  *   in microseconds
  */
final class TableSink private[views] (
    files: CatalogFiles,
    storage: Storage,
    appender: Appender,
    name: String,
    delay: Long,
    far: FarAhead,
    maintain: () => Unit
) extends ((DataFrame, Long) => Unit) {

  def apply(rows: DataFrame, batch: Long): Unit = take(rows, batch)

  /** The same as `apply`, under a name that Python can call. */
  def take(rows: DataFrame, batch: Long): Unit = {
    store(rows, batch)
    maintain()
  }

  private def store(rows: DataFrame, batch: Long): Unit = {
    val query = TableSink.queryOf(rows)
    val table = appender.base(files.load(), name)
    def isDone(t: Table) = t.batches.get(query).exists(_ >= batch)
    if (!isDone(table)) {
      val staged = appender.stage(table, rows)
      appender.undoing(staged) {
        val limit = far.limit(table)
        val (ahead, timely) = staged.partition(_._1 > limit)
        val largest = timely.keys.maxOption.map(n => latest(table, n, timely(n)._1))
        val (repeated, behind) = files.commit { (now, version) =>
          val current = appender.same(now, table)
          if (isDone(current)) (now, true -> none)
          else {
            val (dropped, there) = timely.partition { case (n, _) => current.floor.exists(n < _) }
            val behind = FarBehind(current, there.keys)
            val (old, kept) = there.partition { case (n, _) => behind(n) }
            val seen = (current.seen ++ largest).maxOption
            val noted = far
              .put(current, dropped ++ old ++ ahead, version)
              .copy(seen = seen, batches = current.batches.updated(query, batch))
            val complete = seen.map(s => PartTime.part(s - delay, current.length) - 1).getOrElse(Long.MinValue)
            (AppendedRows(now.updated(noted), noted, kept, complete, version), false -> old)
          }
        }
        if (repeated) appender.discard(staged)
        else {
          far.warn(table, ahead, s"after the part of ${PartTime.words(limit, table.length)}")
          far.warn(table, behind, "too long before the first part")
        }
      }
    }
  }

  private def none = Map.empty[Long, (DataFolder, Long)]

  /** The largest time in a folder, in microseconds. */
  private def latest(table: Table, index: Long, folder: DataFolder): Long = {
    val only = table.copy(folders = Vector(folder))
    val rows = storage.scan(only, Seq(Part(index, Vector(folder.path), 0, 0, 0)))
    val time = table.time.get
    rows.agg(max(PartColumns.micros(time, table.columns(time).dataType).get)).head().getLong(0)
  }
}

private[views] object TableSink {

  /** The local property in which Spark has the id of the streaming query that a micro-batch belongs to. */
  val QueryId = "sql.streaming.queryId"

  /** The id of a streaming query is in its checkpoint. It distinguishes streams, and a new stream from a restarted one.
    * Without it, a micro-batch could be taken for one of another stream that was stored already.
    */
  private def queryOf(rows: DataFrame): String =
    Option(rows.sparkSession.sparkContext.getLocalProperty(QueryId)).getOrElse(
      throw new CerException("CER_VIEW_APPEND.NOT_A_STREAM", "property" -> QueryId)
    )
}
