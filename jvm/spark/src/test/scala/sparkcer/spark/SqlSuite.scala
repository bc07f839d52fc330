package sparkcer.spark

import org.apache.spark.sql.AnalysisException

/** `SELECT * FROM cer(TABLE(events), '…')`. */
class SqlSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  override def beforeAll(): Unit =
    Seq(("A", 1L, "x"), ("B", 2L, "y"), ("B", 3L, "z")).toDF("type", "t", "id").createOrReplaceTempView("sql_events")

  private def run(sql: String): Seq[String] = spark.sql(sql).collect().map(_.toString).toSeq.sorted

  test("a query in a query") {
    assertEquals(
      run("SELECT A.id, B.id FROM cer(TABLE(sql_events), 'SELECT * FROM S WHERE A ; B WITHIN 5 [t]') WHERE end < 3"),
      Seq("[x,y]")
    )
    assertEquals(
      run(
        "SELECT matches FROM cer(TABLE(SELECT * FROM sql_events WHERE id != 'z'), 'SELECT COUNT(*) FROM S WHERE A ; B', time => 't')"
      ),
      Seq("[1]")
    )
  }

  /** Spark adds the place in the SQL text. */
  private def refused(sql: String): String =
    intercept[AnalysisException](spark.sql(sql)).getMessage.stripSuffix("; line 1 pos 14")

  test("errors") {
    assertEquals(
      refused("SELECT * FROM cer('SELECT * FROM S WHERE A')"),
      "[CER_SQL] cer takes a table and a query: SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')."
    )
    assertEquals(
      refused("SELECT * FROM cer(TABLE(sql_events), 'SELECT * FROM S WHERE A', tiem => 't')"),
      "[CER_SQL] 'tiem' is not an option; the options are idle, late, order, params, snapshots, time, type."
    )
    assert(
      refused("SELECT * FROM cer(TABLE(sql_events), 'SELECT * FORM S')").startsWith("[CER_SYNTAX] Line 1, column 10")
    )
  }

  test("the type column") {
    Seq((1L, "A"), (2L, "S")).toDF("t", "type").createOrReplaceTempView("sql_types")
    def pairs(types: String) =
      run(s"SELECT start, end FROM cer(TABLE(sql_types), 'SELECT * FROM S WHERE S AS x ; S AS y WITHIN 5 [t]'$types)")
    assertEquals(pairs(""), Seq("[1,2]"))
    assertEquals(pairs(", type => NULL"), Seq("[1,2]"))
    assertEquals(pairs(", type => CAST(NULL AS STRING)"), Seq("[1,2]"))
    assertEquals(pairs(", type => 'type'"), Nil)
    val query = "SELECT * FROM S WHERE A ; S WITHIN 5 [t]"
    assertEquals(run(s"SELECT start FROM cer(TABLE(sql_types), '$query')"), Seq("[1]"))
    assertEquals(
      refused(s"SELECT * FROM cer(TABLE(sql_types), '$query', type => NULL)"),
      "[CER_UNKNOWN_TYPE] Line 1, column 23: no event has the type 'A': S has no type column, so the type of all its events is 'S'. " +
        s"Name the type column (these could serve: type='type'), or write S in the pattern.\n$query\n                      ^"
    )
  }
}
