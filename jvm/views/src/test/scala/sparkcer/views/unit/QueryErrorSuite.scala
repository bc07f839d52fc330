package sparkcer.views.unit

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.{CrashFileSystem, Network}

/** Errors that Spark finds in the queries of views: the message has the view, and the place or the part. */
final class QueryErrorSuite extends SparkSuite {
  import Network._

  private def view(name: String, initialize: String, update: String) =
    s"CREATE VIEW $name AS INITIALIZE $name[i] AS $initialize UPDATE $name[j] AS $update PARTITION LENGTH 60"

  test("what Spark refuses has its place in the statement") {
    val v = open(spark)
    val wrong = intercept[CerException](
      v.sql(
        "CREATE VIEW A AS\nINITIALIZE A[i] AS SELECT 1 AS x FROM M[i]\nUPDATE A[j] AS\n  SELECT losss\n  FROM M[j]\nPARTITION LENGTH 60"
      )
    ).getMessage
    assert(
      wrong.startsWith("[CER_VIEW_DEFINITION] In the UPDATE of view A: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column"),
      wrong
    )
    assert(wrong.contains("`losss`") && wrong.contains("line 4 pos 9"), wrong)
  }

  test("a table without parts that lost a column: the error has the view and the part, and the next run goes on") {
    val w = open(spark)
    def dimension(column: String) = spark.sql(s"SELECT 's' AS src, 'x' AS $column").createOrReplaceTempView("places")
    dimension("place")
    w.sql(
      view(
        "D",
        "SELECT src, place FROM M[i] JOIN places USING (src)",
        "SELECT src, place FROM M[j] JOIN places USING (src)"
      )
    )
    w.append("M", rows(spark, (0, "s", 20)))
    w.maintain()
    dimension("other")
    w.append("M", rows(spark, (1, "s", 20)))
    val report = w.maintain().collect()
    assertEquals(report.map(_.getAs[String]("action")).toSeq, Seq("failed"))
    val wrong = report.head.getAs[String]("error")
    assert(
      wrong.startsWith(
        s"[CER_VIEW_DEFINITION] In the UPDATE of view D, part ${Begin + 1} (2015-01-01 00:01:00Z): [UNRESOLVED_COLUMN"
      ),
      wrong
    )
    dimension("place")
    assertEquals(told(w.maintain()), Seq("D[1] updated"))
  }

  test("a query that fails while it runs: the error has the part, and the others are computed") {
    val w = open(spark)
    w.sql(
      view("Bad", "SELECT src, 10 / (loss - 5) AS x FROM M[i]", "SELECT src, 10 / (loss - 5) FROM M[j]") + ";" + Helper
    )
    w.append("M", rows(spark, (0, "s", 20), (1, "s", 5), (2, "s", 30)))
    val report = w.maintain()
    assertEquals(
      told(report),
      Seq("Bad[0] initialized", "Bad[1] failed", "Helper[0] initialized", "Helper[1] updated", "Helper[2] updated")
    )
    val wrong = intercept[org.apache.spark.sql.cerbridge.CerRuntimeException](w.read("Bad", Begin + 1)).getMessage
    assert(
      wrong.startsWith(
        s"[CER_VIEW_FAILED] Part ${Begin + 1} (2015-01-01 00:01:00Z) of view Bad could not be computed, and is as it was before:"
      ),
      wrong
    )
    assertEquals(w.read("Bad").count(), 1L)
    assertEquals(w.read("Helper").count(), 2L)
  }

  test("a part whose jobs are cancelled has not failed") {
    val v = open(spark)
    spark.udf.register("sleeps", (x: String) => { QueryErrorSuite.sleeps = true; Thread.sleep(60000); x })
    v.sql(view("Slow", "SELECT sleeps(src) AS src FROM M[i]", "SELECT src FROM M[j]"))
    v.append("M", rows(spark, (0, "s", 20)))
    val group = "stopped-stream"
    val found = new java.util.concurrent.LinkedBlockingQueue[scala.util.Try[Any]]
    val thread = new Thread(() => {
      spark.sparkContext.setJobGroup(group, "a stream", interruptOnCancel = true)
      found.put(scala.util.Try(v.maintain().collect().toSeq))
    })
    thread.start()
    val deadline = System.nanoTime() + 60L * 1000 * 1000 * 1000
    while (!QueryErrorSuite.sleeps && found.isEmpty && System.nanoTime() < deadline) Thread.sleep(20)
    assert(QueryErrorSuite.sleeps, found)
    spark.sparkContext.cancelJobGroup(group)
    val outcome = found.take()
    assert(outcome.isFailure, outcome)
    assertEquals(v.parts("Slow").count(), 0L)
  }

  test("a part that cannot be written, or whose files are lost: the report says it in our words") {
    CrashFileSystem.register(spark.sparkContext.hadoopConfiguration)
    val folder = Network.folder()
    val v = sparkcer.views.Views.open(spark, s"crash://$folder")
    v.createTable("M", Schema, "t", "60")
    v.sql(Helper)
    v.append("M", rows(spark, (0, "s", 20)))
    val file = java.nio.file.Files
      .walk(java.nio.file.Paths.get(folder, "M"))
      .filter(_.toString.endsWith(".parquet"))
      .findFirst
      .get
    val bytes = java.nio.file.Files.readAllBytes(file)
    java.nio.file.Files.delete(file)
    val lost = v.maintain().head().getAs[String]("error")
    assert(
      lost.startsWith(s"[CER_VIEW_STORAGE] Files of Helper and its sources cannot be read or written: File crash:"),
      lost
    )
    assert(lost.endsWith("If files are lost or damaged, run repair()."), lost)
    java.nio.file.Files.write(file, bytes)
    CrashFileSystem.full = true
    val full =
      try v.maintain().head().getAs[String]("error")
      finally CrashFileSystem.full = false
    assertEquals(
      full,
      "[CER_VIEW_STORAGE] Files of Helper and its sources cannot be read or written: No space left on device. If files are lost or damaged, run repair()."
    )
    assertEquals(told(v.maintain()), Seq("Helper[0] initialized"))
  }

  test("an error with other numbers in it is not committed again") {
    val folder = Network.folder()
    val v = sparkcer.views.Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    v.sql(
      view("R", "SELECT CAST(raise_error(concat('task ', uuid())) AS STRING) AS x FROM M[i]", "SELECT src FROM M[j]")
    )
    v.append("M", rows(spark, (0, "s", 20)))
    def error() = v.maintain().head().getAs[String]("error")
    def version() = new java.io.File(folder, "_catalog").list().count(_.endsWith(".json"))
    val first = error()
    val before = version()
    assertNotEquals(error(), first)
    assertEquals(version(), before)
  }
}

object QueryErrorSuite {
  @volatile private var sleeps = false
}
