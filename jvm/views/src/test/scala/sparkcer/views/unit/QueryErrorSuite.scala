package sparkcer.views.unit

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.Network

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
}
