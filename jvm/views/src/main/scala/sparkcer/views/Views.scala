package sparkcer.views

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.cerbridge.{CerException, CerRuntimeException, Sessions}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.internal.bind.Durations
import sparkcer.views.catalog.{CatalogFiles, Dependencies, LostRows, Overview, Part, PartTime, Table}
import sparkcer.views.delta.DeltaTables
import sparkcer.views.maintain._
import sparkcer.views.statement.{DropStatement, SlashTimes, StatementText}
import sparkcer.views.store.{FileErrors, PartColumns, Storage}

/** Tables and views under one folder, which are divided into parts of time, and the maintenance of the views.
  *
  * {{{
  * val v = Views.open(spark, "/data/net")
  * v.createTable("M", "t TIMESTAMP, src STRING, dest STRING, loss INT", time = "t", length = "1 minute")
  * v.sql("CREATE VIEW Helper AS INITIALIZE Helper[i] AS … UPDATE Helper[j] AS … PARTITION LENGTH 60")
  * v.append("M", rows)
  * v.maintain().show()
  * v.read("Helper")
  * }}}
  */
final class Views private (spark: SparkSession, root: Path) {
  private val hadoop = Sessions.session(spark).sessionState.newHadoopConf()
  private val files = new CatalogFiles(root, hadoop)
  private val storage = new Storage(spark, root)
  private val queries = new QueryRunner(spark, storage)
  private val appender = new Appender(files, storage)
  private val delta = new DeltaTables(spark, root, hadoop)

  /** Creates a base table.
    *
    * @param schema
    *   the columns, as in `CREATE TABLE`
    * @param time
    *   the column with the time of a row: a timestamp, a date, or a number of Unix seconds
    * @param length
    *   of a part, such as `1 minute`
    */
  def createTable(name: String, schema: String, time: String, length: String): Unit =
    createTable(name, StructType.fromDDL(schema), time, length)

  def createTable(name: String, schema: StructType, time: String, length: String): Unit = {
    NameChecks.check(name)
    val same = Sessions.sameName(spark)
    val columns = NameChecks.columns(schema, name, same)
    val column = columns
      .find(f => same(f.name, time))
      .getOrElse(
        wrong("NO_TIME_COLUMN", "table" -> name, "column" -> time, "columns" -> columns.fieldNames.mkString(", "))
      )
    if (PartColumns.micros(column.name, column.dataType).isEmpty)
      wrong("TIME_TYPE", "table" -> name, "column" -> column.name, "type" -> column.dataType.sql)
    val seconds = Durations.ofPart(length).getOrElse(wrong("LENGTH", "table" -> name, "length" -> length))
    val table = Table(name, UUID.randomUUID().toString, seconds, columns.json, Some(column.name), None)
    files.commit { (c, _) =>
      c.checkNew(name)
      (c.copy(tables = c.tables :+ table), ())
    }
  }

  /** All of them or none. They can be computed from each other, in any order. */
  private def dropViews(drops: Vector[DropStatement]): Unit = files.commit { (c, _) =>
    val gone = drops.filterNot(d => d.ifExists && c.find(d.name).isEmpty).map(d => c(d.name)).distinctBy(_.id)
    gone.find(!_.isView).foreach(t => wrong("NOT_A_VIEW", "name" -> t.name))
    gone.foreach { t =>
      val left = Dependencies.above(c, t.name).tail.filterNot(n => gone.exists(_.name == n))
      if (left.nonEmpty)
        throw new CerException("CER_VIEW_NEEDED.TABLE", "name" -> t.name, "views" -> left.mkString(", "))
    }
    (if (gone.isEmpty) c else Sweeper.without(c, gone), ())
  }

  /** Runs CREATE VIEW or DROP VIEW statements, or a query over tables and views. For statements, the result has the
    * statements that were executed in a column `statement`.
    *
    * @param backfill
    *   whether views start at the earliest part that can be computed, and not at the newest
    */
  def sql(text: String, backfill: Boolean = false): DataFrame = {
    val statements = StatementText.split(text)
    if (statements.isEmpty) throw new CerException("CER_VIEW_DEFINITION.NO_STATEMENT")
    if (statements.forall(_.isView)) {
      val executed = new ViewCreator(files, queries).create(statements, backfill)
      frame(new StructType().add("statement", StringType), executed.map(Row(_)))
    } else if (statements.forall(_.isDrop)) {
      dropViews(statements.map(DropStatement(_)))
      frame(new StructType().add("statement", StringType), statements.map(s => Row(s.text)))
    } else if (statements.length == 1) queries.adHoc(files.load(), statements.head.text)
    else throw new CerException("CER_VIEW_DEFINITION.SEVERAL")
  }

  /** Appends rows to a table. The time of a row decides which part it belongs to. After that, all parts up to the
    * newest one of the rows are complete: views can use them, and rows that arrive for them later are late data.
    *
    * @param batch
    *   a name for these rows. If the call is repeated with the same name, nothing is appended: a program that does not
    *   know whether its call succeeded can repeat it. The last thousand names are remembered.
    * @param ahead
    *   how far the time of a row may be ahead of the later of the newest part and the clock, such as `1 hour`. Rows
    *   that are further ahead are put aside, see [[aside]]. By default it is one day, or 1,440 parts if these are
    *   shorter.
    * @return
    *   how many rows were put aside
    */
  def append(table: String, rows: DataFrame, batch: Option[String] = None, ahead: Option[String] = None): Long =
    appender.append(table, rows, new FarAhead(ahead), batch)

  /** Computes all parts of views that can be computed, recomputes those whose sources have changed, and reports what
    * was done. A part that fails is as it was before, and the next run tries again: the report has its error. If Delta
    * is available in the session, the tables and views are then published as Delta tables.
    */
  def maintain(): DataFrame = report(maintained())

  /** The same, after a table has changed that views read although it is not in the folder. All parts that were computed
    * from it are recomputed first.
    */
  def maintain(changed: String): DataFrame = {
    new OutsideTables(spark, files, queries).changed(changed)
    maintain()
  }

  /** Looks for files that are lost or damaged. Parts of views are computed again if all that they need is there; what
    * cannot be computed again is reported as lost, and keeps the rows that are left. If newer versions of the catalog
    * cannot be read, it goes on from the newest one that can be read. Then it does what [[maintain]] does.
    */
  def repair(): DataFrame = {
    val lost = FileErrors.inWords(everything)(new Repair(files, storage, queries).run())
    report(lost ++ maintained())
  }

  /** The same, after rows that were lost have been appended again to a table. All parts that were computed without them
    * or kept as they were are recomputed.
    */
  def repair(restored: String): DataFrame = {
    new Repair(files, storage, queries).restored(restored)
    repair()
  }

  private def everything = s"the views in $root"

  private def report(parts: Vector[MaintainedPart]): DataFrame = frame(Views.Report, parts.map(Views.reported))

  private def maintained(): Vector[MaintainedPart] = {
    val done = new Maintainer(spark, files, storage, queries, shares = !delta.isOn).run()
    FileErrors.inWords(everything) {
      delta.publish(files.load(), storage)
      new Sweeper(files, storage).run()
    }
    done
  }

  /** The rows of a table or a view, with the start of their part in PART_TIMESTAMP. */
  def read(name: String): DataFrame = {
    val table = files.load()(name)
    queries.rows(table, table.parts)
  }

  /** The rows of one part. */
  def read(name: String, part: Long): DataFrame = {
    val table = files.load()(name)
    queries.rows(table, Seq(table.part(part).getOrElse(throw missing(table, part))))
  }

  private def missing(table: Table, part: Long): Throwable =
    table.failed.find(_.index == part).fold[Throwable](PartTime.missing(table, part)) { f =>
      new CerRuntimeException(
        "CER_VIEW_FAILED",
        "part" -> part.toString,
        "time" -> PartTime.words(part, table.length),
        "view" -> table.name,
        "reason" -> f.error
      )
    }

  /** The rows of the part that a time belongs to. */
  def read(name: String, part: java.sql.Timestamp): DataFrame = read(name, partAt(name, part))

  /** Parses a time, in the time zone of the session. */
  def timestamp(text: String): java.sql.Timestamp = {
    val zone = DateTimeUtils.getZoneId(spark.conf.get("spark.sql.session.timeZone"))
    DateTimeUtils
      .stringToTimestamp(UTF8String.fromString(SlashTimes.time(text)), zone)
      .map(DateTimeUtils.toJavaTimestamp)
      .getOrElse(wrong("NOT_A_TIME", "text" -> text))
  }

  private def partAt(name: String, time: java.sql.Timestamp): Long =
    Math.floorDiv(time.getTime, files.load()(name).length * 1000)

  /** A function for `foreachBatch` of a stream. It appends the rows to a table and maintains the views. A part is
    * complete, and the views see it, when the largest time of the stream is past the end of the part by `delay`. Rows
    * that arrive later are late data, as in [[append]]. Rows for dropped parts, rows that are further ahead than
    * `ahead` and rows that are too far behind are kept aside, see [[aside]]. A view that fails does not stop the
    * stream, see [[maintain]].
    */
  def sink(table: String, delay: String = "0 seconds", ahead: Option[String] = None): TableSink = {
    val micros = Durations
      .micros(delay)
      .filter(_ >= 0)
      .getOrElse(throw new CerException("CER_VIEW_APPEND.DELAY", "delay" -> delay))
    appender.base(files.load(), table)
    new TableSink(files, storage, appender, table, micros, new FarAhead(ahead), () => maintained(): Unit)
  }

  /** The rows that were put aside: those of a stream that arrived for parts that had been dropped or that were too far
    * behind, and those that were too far ahead.
    */
  def aside(table: String): DataFrame = {
    val t = files.load()(table)
    queries.rows(t, t.aside)
  }

  /** The parts of a table or a view, also the open ones of a stream and those that failed: the number of rows, when
    * they last changed, why the part is stale, and the error of a part that failed or which lost rows it lacks.
    */
  def parts(name: String): DataFrame = {
    val t = files.load()(name)
    val failed = t.failed.map(f => f.index -> f).toMap
    def state(p: Part) =
      if (failed.contains(p.index)) "failed"
      else if (p.isStale) "stale"
      else if (p.lost > 0) "lost"
      else if (p.without.nonEmpty) "incomplete"
      else if (p.frozen) "frozen"
      else "complete"
    val never = t.failed.filter(f => t.part(f.index).isEmpty).map(f => Part(f.index, Vector.empty, 0, 0, f.since))
    val all = t.parts.map(p => p -> state(p)) ++ never.map(_ -> "failed") ++ t.open.map(_ -> "open") ++
      t.aside.map(_ -> "aside")
    frame(
      Views.Parts,
      all.map { case (p, state) =>
        Row(
          p.index,
          Views.timestamp(p.index, t.length),
          state,
          p.rows,
          new java.sql.Timestamp(p.updated),
          p.because.mkString(", "),
          if (state == "failed") failed(p.index).error else if (p.without.nonEmpty) LostRows.words(Vector(p)) else null
        )
      }
    )
  }

  /** Drops the parts that end before a time. It is an error if a view still needs them.
    *
    * @param cascade
    *   whether to drop the parts of these views too. They lose the parts that need the dropped ones, and all earlier
    *   parts. A view whose next part then cannot be computed loses all its parts and starts again.
    * @return
    *   the dropped parts of each table and view
    */
  def dropParts(name: String, before: java.sql.Timestamp, cascade: Boolean = false): Seq[String] =
    new Retention(files).drop(name, partAt(name, before), cascade)

  /** Combines the files of small parts that end before a time. The parts keep their numbers and their rows.
    *
    * @param length
    *   the time that the parts in one file cover
    * @return
    *   how many parts were rolled up
    */
  def rollUp(name: String, before: java.sql.Timestamp, length: String): Long = {
    if (delta.isOn) wrong("ROLL_UP_DELTA", "table" -> name)
    val own = files.load()(name).length
    val seconds = Durations
      .ofPart(length)
      .filter(_ % own == 0)
      .getOrElse(wrong("ROLL_UP_LENGTH", "table" -> name, "own" -> Durations.words(own), "length" -> length))
    FileErrors
      .inWords(files.load()(name).name)(new RollUp(files, storage).run(name, partAt(name, before), seconds / own))
  }

  /** Drops a table or a view. It is an error if views are computed from it.
    *
    * @param cascade
    *   whether to drop these views too
    * @return
    *   the names of the dropped tables and views
    */
  def drop(name: String, cascade: Boolean = false): Seq[String] = files.commit { (c, _) =>
    val gone = Dependencies.above(c, c(name).name)
    if (gone.length > 1 && !cascade)
      throw new CerException("CER_VIEW_NEEDED.TABLE", "name" -> gone.head, "views" -> gone.tail.mkString(", "))
    (Sweeper.without(c, c.tables.filter(t => gone.contains(t.name))), gone)
  }

  private[views] def isView(name: String): Boolean = files.load().find(name).exists(_.isView)

  /** Describes all tables and views: their lengths and parts, which part of each view is computed next and what it
    * waits for, and which parts are stale.
    */
  def explain(): String = Overview.text(files.loaded())

  /** The graph of which view is computed from which sources, as `mermaid` or `dot`. */
  def diagram(kind: String): String = kind match {
    case "mermaid" => Overview.mermaid(files.load())
    case "dot"     => Overview.dot(files.load())
    case other     => wrong("DIAGRAM", "kind" -> other)
  }

  private def wrong(error: String, parameters: (String, String)*): Nothing =
    throw new CerException(s"CER_VIEW_CATALOG.$error", parameters: _*)

  private def frame(schema: StructType, rows: Seq[Row]): DataFrame = spark.createDataFrame(rows.asJava, schema)
}

object Views {
  def open(spark: SparkSession, root: String): Views = {
    val path = new Path(root)
    new Views(spark, path.getFileSystem(Sessions.session(spark).sessionState.newHadoopConf()).makeQualified(path))
  }

  private val Report = new StructType()
    .add("view", StringType)
    .add("part", LongType)
    .add("part_timestamp", TimestampType)
    .add("action", StringType)
    .add("because", StringType)
    .add("rows", LongType)
    .add("rows_read", LongType)
    .add("ms", LongType)
    .add("parts", LongType)
    .add("error", StringType)

  private def reported(d: MaintainedPart): Row = Row(
    d.view,
    d.index,
    if (d.length > 0) timestamp(d.index, d.length) else null,
    d.action,
    d.because,
    d.rows,
    d.rowsRead,
    d.millis,
    d.parts,
    d.error.orNull
  )

  private val Parts = new StructType()
    .add("part", LongType)
    .add("part_timestamp", TimestampType)
    .add("state", StringType)
    .add("rows", LongType)
    .add("changed", TimestampType)
    .add("stale_because", StringType)
    .add("error", StringType)

  private def timestamp(index: Long, length: Long) = new java.sql.Timestamp(index * length * 1000)
}
