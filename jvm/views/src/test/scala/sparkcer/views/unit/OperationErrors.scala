package sparkcer.views.unit

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.cerbridge.Sessions
import org.apache.spark.sql.functions.{current_timestamp, lit, udf}

import sparkcer.engine.error.Errors
import sparkcer.engine.testkit.ErrorCase
import sparkcer.views.Views
import sparkcer.views.maintain.TableSink
import sparkcer.views.testkit.{CrashFileSystem, Network}
import sparkcer.views.testkit.Network.{rows, Begin, Helper, Schema, View2}

/** Errors of tables and views that exist: when rows are appended, when parts are read, computed, dropped and rolled up.
  */
final class OperationErrors(spark: SparkSession) {
  private def error(key: String, message: => String)(body: => Any): ErrorCase =
    new ErrorCase(key, s"[${Errors.condition(key)}] $message", body)

  private def minute(n: Long) = new java.sql.Timestamp((Begin + n) * 60000)

  private def view(name: String, initialize: String, update: String) =
    s"CREATE VIEW $name AS INITIALIZE $name[i] AS $initialize UPDATE $name[j] AS $update PARTITION LENGTH 60"

  private def copyOf(name: String, source: String) =
    view(name, s"SELECT src FROM $source[i]", s"SELECT src FROM $source[j]")

  /** A table M, and H with parts of an hour. Nothing is appended to H. */
  private lazy val v: Views = {
    val v = Network.open(spark)
    v.createTable("H", "t TIMESTAMP, a INT", "t", "1 hour")
    v
  }

  private def append(key: String, sql: String, message: String): ErrorCase =
    error(s"CER_VIEW_APPEND.$key", message) {
      try v.append("H", spark.sql(sql))
      finally assert(v.parts("H").isEmpty, "something was appended")
    }

  private val appends = Vector(
    append(
      "COLUMN_TYPE",
      "SELECT now() AS t, 'x' AS a",
      "The column 'a' is STRING in the rows and INT in the table H. Nothing was appended. Cast the column."
    ),
    error("CER_VIEW_APPEND.DELAY", "The delay 'soon' is not a length of time. Write for example '30 seconds'.")(
      v.sink("M", "soon")
    ),
    error(
      "CER_VIEW_APPEND.DROPPED_PARTS",
      s"There are rows for parts of M that were dropped: ${Begin + 1} (2015-01-01 00:01:00Z). Nothing was appended."
    ) {
      val w = Network.open(spark)
      w.append("M", rows(spark, (0, "s", 1), (3, "s", 1)))
      w.dropParts("M", minute(2))
      w.append("M", rows(spark, (1, "s", 1), (4, "s", 1)))
    },
    append(
      "DUPLICATE_COLUMN",
      "SELECT now() AS t, 1 AS a, 2 AS a",
      "The rows have more than one column 'a', but the table H has only one. Nothing was appended."
    ),
    error("CER_VIEW_APPEND.AHEAD", "'soon' is not a length of time that rows may be ahead. Write for example '1 day'.")(
      v.append("M", rows(spark, (0, "s", 20)), ahead = Some("soon"))
    ),
    append(
      "EMPTY_PARTS",
      "SELECT explode(array(timestamp'1915-01-01T00:00:00Z', timestamp'2015-01-01T00:00:00Z')) AS t, 1 AS a",
      "The rows for H would create parts from 1915-01-01 00:00:00Z to 2015-01-01 00:00:00Z, and most of these would be empty. Nothing was appended. Check the times of the rows."
    ),
    append(
      "MISSING_COLUMN",
      "SELECT now() AS t",
      "The rows have no column 'a', which is INT in the table H. Nothing was appended."
    ),
    error(
      "CER_VIEW_APPEND.NOT_A_STREAM",
      "A sink takes the micro-batches of a stream in foreachBatch, but these rows belong to no streaming query: the local property 'sql.streaming.queryId' is not set."
    )(v.sink("M")(rows(spark, (0, "s", 20)), 0)),
    append(
      "NO_TIME",
      "SELECT if(id > 0, now(), NULL) AS t, 1 AS a FROM range(3)",
      "1 rows for H have no time: 't' is NULL. Nothing was appended. Filter these rows out first."
    ),
    append(
      "UNKNOWN_COLUMN",
      "SELECT now() AS t, 1 AS a, 2 AS b",
      "The rows have a column 'b', but the table H has no such column. Nothing was appended. The columns of the table are t, a."
    ),
    error("CER_VIEW_APPEND.VIEW", "A is a view. Append rows to a table; maintain() computes the parts of views.") {
      val w = Network.open(spark)
      w.sql(copyOf("A", "M"))
      w.append("A", rows(spark, (0, "s", 1)))
    }
  )

  private def catalog(key: String, message: String)(body: => Any) = error(s"CER_VIEW_CATALOG.$key", message)(body)

  private val catalogs = Vector(
    catalog("DIAGRAM", "A diagram is 'mermaid' or 'dot', not 'svg'.")(v.diagram("svg")),
    catalog("DROPPED", "The table 'M' was dropped while rows were written. Nothing was appended.") {
      val w = Network.open(spark)
      OperationErrors.interruption = () => w.drop("M"): Unit
      val lossWhileDropping = udf(() => OperationErrors.interrupt()).asNondeterministic()
      w.append(
        "M",
        spark
          .range(1)
          .select(
            current_timestamp().as("t"),
            lit("s").as("src"),
            lit("d").as("dest"),
            lossWhileDropping().as("loss")
          )
      )
    },
    catalog("EMPTY", "There is no table or view 'M' here. Create a table first.")(
      Views.open(spark, Network.folder()).read("M")
    ),
    catalog("EXISTS", "There is already a table or view 'h'. Drop it first, or use another name.")(
      v.createTable("h", Schema, "t", "60")
    ),
    catalog("EXISTS", "There is already a table or view 'H'. Drop it first, or use another name.")(
      v.sql(copyOf("H", "M"))
    ),
    catalog("EXISTS", "There is already a table or view 'A'. Drop it first, or use another name.")(
      v.sql(s"${copyOf("A", "M")}; ${copyOf("A", "M")}")
    ),
    catalog(
      "LENGTH",
      "The length of the parts of T is '1 month', which is not a whole number of seconds. Write for example '1 minute' or '60'."
    )(v.createTable("T", Schema, "t", "1 month")),
    catalog("NOTHING_LOST", "No rows of H were lost. repair() without a name looks for lost files.")(
      v.repair(restored = "h")
    ),
    catalog("NOT_A_TIME", "'soon' is not a time. Write for example '2015-01-01 00:00'.")(v.timestamp("soon")),
    catalog("NOT_A_VIEW", "'H' is a table and not a view. drop() drops a table.")(v.sql("DROP VIEW H")),
    catalog(
      "NOTHING_OUTSIDE",
      "No view reads 'dim'. The views read only tables and views of their folder, and changes in these need not be named."
    )(v.maintain(changed = "dim")),
    catalog("NOT_READ", "No view reads 'dim'. The tables outside of the folder that views read are places.") {
      spark.sql("SELECT 's' AS src").createOrReplaceTempView("places")
      val w = Network.open(spark)
      w.sql(view("A", "SELECT src FROM M[i] JOIN places USING (src)", "SELECT src FROM M[j] JOIN places USING (src)"))
      w.maintain(changed = "dim")
    },
    catalog("NOT_FOUND", "There is no table or view 'Nope' here. There are H, M.")(v.read("Nope")),
    catalog(
      "NO_FOLDER",
      "No folder is set for views. Run SET spark.cer.views.path=… first, with the folder of the tables."
    )(spark.sql(Helper)),
    catalog(
      "NO_PART",
      s"M has no part ${Begin + 1} (2015-01-01 00:01:00Z). It has the parts ${Begin + 3} to ${Begin + 4}."
    ) {
      val w = Network.open(spark)
      w.append("M", rows(spark, (3, "s", 1), (4, "s", 1)))
      w.read("M", Begin + 1)
    },
    catalog("NO_PARTS", s"M has no part $Begin (2015-01-01 00:00:00Z). It has no parts yet.")(v.read("M", minute(0))),
    catalog(
      "NO_TIME_COLUMN",
      "The table T has no column 'at' for the time. Its columns are t, src, dest, loss."
    )(v.createTable("T", Schema, "at", "60")),
    catalog(
      "REPLACED",
      "'M' was replaced by another table or view while the view was created. Create the view again."
    ) {
      val w = Network.open(spark)
      OperationErrors.interruption = () => {
        w.drop("M")
        w.createTable("M", Schema, "t", "60")
      }
      // Spark calls it when it analyzes the query of the view.
      Sessions
        .session(spark)
        .sessionState
        .functionRegistry
        .createOrReplaceTempFunction("replacing", _ => Literal(OperationErrors.interrupt()), "scala_udf")
      w.sql(view("A", "SELECT loss FROM M[i]", "SELECT replacing() FROM M[j]"))
    },
    catalog(
      "ROLL_UP_LENGTH",
      "Parts of M can be rolled up to a multiple of their length, which is 1 minute, but '90 seconds' is not one."
    )(v.rollUp("M", minute(8), "90 seconds")),
    catalog(
      "TIME_TYPE",
      "The time column 'a' of T is STRING, but it must be a timestamp, a date or a whole number of seconds."
    )(v.createTable("T", "a STRING", "a", "60"))
  )

  private def filled(): Views = {
    val w = Network.open(spark)
    w.sql(s"$Helper; $View2")
    w.append("M", rows(spark, (0 to 7).map(m => (m.toLong, "s", 20)): _*))
    w.maintain()
    w
  }

  private val maintenance = Vector(
    error(
      "CER_VIEW_FAILED",
      s"Part $Begin (2015-01-01 00:00:00Z) of view A could not be computed, and is as it was before: [USER_RAISED_EXCEPTION] broken SQLSTATE: P0001"
    ) {
      val w = Network.open(spark)
      w.sql(view("A", "SELECT CAST(raise_error('broken') AS STRING) AS x FROM M[i]", "SELECT src FROM M[j]"))
      w.append("M", rows(spark, (0, "s", 20)))
      w.maintain()
      w.read("A", minute(0))
    },
    error(
      "CER_VIEW_NEEDED.OPEN",
      s"M[${Begin + 1}..${Begin + 2}] before 2015-01-01 00:03:00Z are open: a stream still writes them, and no view has seen their 3 rows. Drop them when the stream has gone on, or drop fewer parts. With cascade, these rows are lost, and the views that wait for them lose all their parts and start again."
    ) {
      val w = Network.open(spark)
      spark.sparkContext.setLocalProperty(TableSink.QueryId, "q")
      try w.sink("M", "1 minute")(rows(spark, (0, "s", 1), (1, "s", 1), (1, "x", 1), (2, "s", 1)), 0)
      finally spark.sparkContext.setLocalProperty(TableSink.QueryId, null)
      w.dropParts("M", minute(3))
    },
    error(
      "CER_VIEW_NEEDED.PARTS_NEXT",
      s"Parts of Helper before 2015-01-01 00:08:00Z are still needed to compute Helper[${Begin + 8}]. Run maintain() first, or drop fewer parts. With cascade, these views lose all their parts and start again."
    )(filled().dropParts("Helper", minute(8))),
    error(
      "CER_VIEW_NEEDED.PARTS_NEXT_AND_STALE",
      s"Parts of M before 2015-01-01 00:05:00Z are still needed to compute Joined[${Begin + 2}] and to recompute A[${Begin + 1}]. Run maintain() first, or drop fewer parts. With cascade, the views lose the parts that need them and all earlier ones, and start again if their next part then cannot be computed."
    ) {
      val w = Network.open(spark)
      w.createTable("N", Schema, "t", "60")
      w.sql(copyOf("A", "M"))
      w.sql(view("Joined", "SELECT src FROM M[i] JOIN N[i] USING (src)", "SELECT src FROM M[j] JOIN N[j] USING (src)"))
      w.append("N", rows(spark, (0, "s", 20), (1, "s", 20)))
      w.append("M", rows(spark, (0 to 7).map(m => (m.toLong, "s", 20)): _*))
      w.maintain()
      w.append("M", rows(spark, (1, "x", 20)))
      w.dropParts("M", minute(5))
    },
    error(
      "CER_VIEW_NEEDED.PARTS_STALE",
      s"Parts of M before 2015-01-01 00:05:00Z are still needed to recompute Helper[${Begin + 4}]. Run maintain() first, or drop fewer parts. With cascade, these views lose these parts and all earlier ones, and start again if their next part then cannot be computed."
    ) {
      val w = filled()
      w.append("M", rows(spark, (2, "x", 20)))
      w.dropParts("M", minute(5))
    },
    error(
      "CER_VIEW_NEEDED.REPLACED",
      "Helper cannot be replaced, because View2 are computed from it. Drop these first, or replace them in the same text."
    )(filled().sql(Helper.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"))),
    error(
      "CER_VIEW_NEEDED.TABLE",
      "M is still needed by Helper, View2. Drop these first, or drop all of them with cascade."
    )(filled().drop("M"))
  )

  private lazy val folder = Network.folder()
  private lazy val crashing: Views = {
    CrashFileSystem.register(spark.sparkContext.hadoopConfiguration)
    val w = Views.open(spark, s"crash://$folder")
    w.createTable("M", Schema, "t", "60")
    w
  }

  private def storage(key: String, message: => String)(body: => Any) = error(s"CER_VIEW_STORAGE.$key", message)(body)

  private val stored = Vector(
    storage("READ", s"The catalog of views in crash:$folder/_catalog cannot be read: unreadable") {
      crashing
      CrashFileSystem.unreadable(Views.open(spark, s"crash://$folder").read("M"))
    },
    storage("WRITE", s"The catalog of views in crash:$folder/_catalog cannot be written: crash")(
      CrashFileSystem.after(0)(crashing.createTable("O", Schema, "t", "60"))
    ),
    storage(
      "FILES",
      "Files of M cannot be read or written: crash. If files are lost or damaged, run repair()."
    ) {
      val w = Views.open(spark, s"crash://${Network.folder()}")
      w.createTable("M", Schema, "t", "60")
      w.append("M", rows(spark, (0, "s", 20), (1, "s", 20)))
      CrashFileSystem.after(1)(w.rollUp("M", minute(2), "2 minutes"))
    },
    storage("ROWS", "The rows for M cannot be written: crash. Nothing was appended.")(
      CrashFileSystem.after(3)(crashing.append("M", rows(spark, (0, "s", 20))))
    ),
    storage(
      "BROKEN_CATALOG",
      s"These files of the catalog of views in file:$folder/_catalog are lost or damaged: 2.json. Version 1 is the newest that can be read, and there were versions up to 2. Nothing was changed. Restore the files, or run repair(), which continues from version 1."
    ) {
      val w = Views.open(spark, folder)
      w.createTable("N", Schema, "t", "60")
      Files.writeString(Paths.get(folder, "_catalog", "2.json"), "{\"version\":2,")
      Views.open(spark, folder).createTable("P", Schema, "t", "60")
    },
    storage(
      "NO_CATALOG",
      s"No version of the catalog of views in file:$folder/_catalog can be read. These files are lost or damaged: 2.json, 1.json. Restore them."
    ) {
      Seq("1.json", "2.json").foreach(n => Files.writeString(Paths.get(folder, "_catalog", n), ""))
      Views.open(spark, folder).read("M")
    }
  )

  val cases: Vector[ErrorCase] = appends ++ catalogs ++ maintenance ++ stored
}

object OperationErrors {

  /** Runs in the middle of an operation, as another process could. */
  @volatile private var interruption: () => Unit = () => ()

  private def interrupt(): Int = {
    val once = interruption
    interruption = () => ()
    once()
    1
  }
}
