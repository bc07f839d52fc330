package sparkcer.views.unit

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.Network

/** What a statement may not be: each error names the view and the place, and nothing is created. */
final class DefinitionSuite extends SparkSuite {
  import Network._

  private lazy val v = {
    val v = open(spark)
    v.createTable("H", "t TIMESTAMP, a INT", "t", "1 hour")
    v
  }

  private def view(name: String, initialize: String, update: String, length: String = "60") =
    s"CREATE VIEW $name AS INITIALIZE $name[i] AS $initialize UPDATE $name[j] AS $update PARTITION LENGTH $length"

  private def refuses(text: String, problem: String): Unit = {
    val before = v.explain()
    assertEquals(intercept[CerException](v.sql(text)).getMessage, s"[CER_VIEW_DEFINITION] $problem")
    assertEquals(v.explain(), before)
  }

  test("views that are defined by each other") {
    refuses(
      view("A", "SELECT 1 AS x FROM B[i]", "SELECT 1 FROM B[j]") + ";" + view(
        "B",
        "SELECT * FROM A[i]",
        "SELECT * FROM A[j-1]"
      ),
      "The views are defined by each other: A -> B -> A. A view can use itself and views that do not use it."
    )
  }

  test("lengths that do not go together, with what to write") {
    refuses(
      view("A", "SELECT src FROM M[i]", "SELECT src FROM M[j]", "3600"),
      "In the INITIALIZE of view A, line 1, column 53: M[i] does not go with the lengths: a part of A is 1 hour and one of M 1 minute; write M[i*60..i*60+59]."
    )
    refuses(
      view("A", "SELECT a FROM H[i]", "SELECT a FROM H[j]"),
      "In the INITIALIZE of view A, line 1, column 51: H[i] does not go with the lengths: a part of A is 1 minute and one of H 1 hour; write H[i/60]."
    )
  }

  test("references to nothing, to oneself, to no part") {
    refuses(
      view("A", "SELECT 1 AS x FROM Nope[i]", "SELECT 1 FROM M[j]"),
      "In the INITIALIZE of view A, line 1, column 56: Nope[i] is a part of 'Nope', and there is no such table or view; there are A, H, M."
    )
    refuses(
      view("A", "SELECT src FROM M[i]", "SELECT src FROM A[j]"),
      "In the UPDATE of view A, line 1, column 89: A[j] is not before the part that is made: a view can use its own earlier parts only."
    )
    refuses(
      view("A", "SELECT src FROM M[i]", "SELECT src FROM M"),
      "In the UPDATE of view A: M has parts, and the query does not say which; write for example M[j]."
    )
    refuses(
      view("A", "SELECT src FROM M[i]", "SELECT src FROM M[j+1..j]"),
      "In the UPDATE of view A, line 1, column 89: the range M[j+1..j] is empty: it goes from low to high."
    )
  }

  test("columns that do not fit") {
    refuses(
      view("A", "SELECT src, loss FROM M[i]", "SELECT src FROM M[j]"),
      "In the UPDATE of view A: the query has 1 columns (src), and the view has 2 (src, loss)."
    )
    refuses(
      view("A", "SELECT src, loss FROM M[i]", "SELECT src, src FROM M[j]"),
      "In the UPDATE of view A: the column 'loss' is STRING here and INT in the view; use a CAST."
    )
    refuses(
      view("A", "SELECT src, src FROM M[i]", "SELECT src, src FROM M[j]"),
      "A would have 2 columns 'src': give each a name of its own."
    )
  }

  test("what Spark refuses has its place in the statement") {
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
    val syntax =
      intercept[CerException](v.sql(view("A", "SELECT 1 AS x FROM M[i]", "SELECT src FROM M[j] x y z"))).getMessage
    assert(
      syntax.startsWith("[CER_VIEW_DEFINITION] In the UPDATE of view A: [PARSE_SYNTAX_ERROR] Syntax error at or near"),
      syntax
    )
    assert(!syntax.contains("\n"), syntax)
  }

  test("names that are taken, tables that are not there, statements of another kind") {
    assertEquals(
      intercept[CerException](v.sql(view("H", "SELECT 1 AS x FROM M[i]", "SELECT 1 FROM M[j]"))).getMessage,
      "[CER_VIEW_CATALOG] There is already a table or view 'H'; drop it first, or take another name."
    )
    assertEquals(
      intercept[CerException](v.read("Nope")).getMessage,
      "[CER_VIEW_CATALOG] There is no table or view 'Nope' here; there are H, M."
    )
    assertEquals(
      intercept[CerException](v.createTable("T", "a STRING", "a", "60")).getMessage,
      "[CER_VIEW_CATALOG] The time of T is the column 'a', which is STRING: it must be a timestamp, a date or a whole number of seconds."
    )
  }

  test("rows that do not fit a table are refused, and nothing is appended") {
    def refused(sql: String) = intercept[CerException](v.append("H", spark.sql(sql))).getMessage
    assertEquals(
      refused("SELECT now() AS t, 'x' AS a"),
      "[CER_VIEW_APPEND] The rows do not fit the table H: the column 'a' is STRING in the rows and INT in the table; cast it. Nothing was appended."
    )
    assertEquals(
      refused("SELECT now() AS t"),
      "[CER_VIEW_APPEND] The rows do not fit the table H: they have no column 'a', which is INT. Nothing was appended."
    )
    assertEquals(
      refused("SELECT now() AS t, 1 AS a, 2 AS b"),
      "[CER_VIEW_APPEND] The rows do not fit the table H: it has no column 'b'; its columns are t, a. Nothing was appended."
    )
    assertEquals(
      refused("SELECT if(id > 0, now(), NULL) AS t, 1 AS a FROM range(3)"),
      "[CER_VIEW_APPEND] 1 rows for H have no time: 't' is NULL. Nothing was appended; filter them out first."
    )
    assertEquals(
      refused("SELECT explode(array(timestamp'2015-01-01T00:00:00Z', timestamp'9999-01-01T00:00:00Z')) AS t, 1 AS a"),
      "[CER_VIEW_APPEND] Parts of H would go from 2015-01-01 00:00:00Z to 9999-01-01 00:00:00Z, most of them empty: are the times right? Nothing was appended."
    )
    assertEquals(v.read("H").count(), 0L)
    assertEquals(v.parts("H").count(), 0L)
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
    val wrong = intercept[CerException](w.maintain()).getMessage
    assert(
      wrong.startsWith(
        s"[CER_VIEW_DEFINITION] In the UPDATE of view D, part ${Begin + 1} (2015-01-01 00:01:00Z): [UNRESOLVED_COLUMN"
      ),
      wrong
    )
    dimension("place")
    assertEquals(told(w.maintain()), Seq("D[1] updated"))
  }

  test("a query that fails while it runs is told with its part, and the others are made") {
    val w = open(spark)
    w.sql(
      view("Bad", "SELECT src, 10 / (loss - 5) AS x FROM M[i]", "SELECT src, 10 / (loss - 5) FROM M[j]") + ";" + Helper
    )
    w.append("M", rows(spark, (0, "s", 20), (1, "s", 5), (2, "s", 30)))
    val wrong = intercept[org.apache.spark.sql.cerbridge.CerRuntimeException](w.maintain()).getMessage
    assert(
      wrong.startsWith(
        s"[CER_VIEW_FAILED] Part ${Begin + 1} (2015-01-01 00:01:00Z) of view Bad could not be made, and is as it was:"
      ),
      wrong
    )
    assertEquals(w.read("Bad").count(), 1L)
    assertEquals(w.read("Helper").count(), 2L)
  }
}
