package sparkcer.internal.unit

import org.apache.spark.sql.AnalysisException

import sparkcer.internal.testkit.SparkSuite

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
    assertEquals(
      run("SELECT A.id, B.id FROM cer(TABLE(sql_events), 'SELECT * FROM S WHERE A ; B WITHIN 1 [t];')"),
      Seq("[x,y]")
    )
  }

  private def refused(sql: String): String = intercept[AnalysisException](spark.sql(sql)).getMessage

  test("errors") {
    assertEquals(
      refused("SELECT * FROM cer('SELECT * FROM S WHERE A')"),
      "[CER_SQL] cer takes a table and a query. Write SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')."
    )
    assertEquals(
      refused("SELECT * FROM cer(TABLE(sql_events), 'SELECT * FROM S WHERE A', tiem => 't')"),
      "[CER_SQL] 'tiem' is not an option. The options are idle, late, order, params, snapshots, time, type, until."
    )
    assertEquals(
      refused("SELECT * FROM cer(TABLE(sql_events), 'SELECT * FORM S')"),
      "[CER_SYNTAX] Line 1, column 10: expected FROM, found 'FORM'. Did you mean 'FROM'?\nSELECT * FORM S\n         ^"
    )
  }

  private def ids(query: String, params: String): Seq[String] =
    run(
      s"SELECT B.id FROM cer(TABLE(sql_events), 'SELECT * FROM S WHERE A ; B $query', time => 't', params => $params)"
    )

  test("params is a struct or a map") {
    for (make <- Seq("named_struct", "map")) {
      assertEquals(ids("FILTER B[t > :least] WITHIN :most [t]", s"$make('least', 1.5, 'most', 2)"), Seq("[y]", "[z]"))
      assertEquals(ids("FILTER B[id = :id]", s"$make('id', 'z')"), Seq("[z]"))
      assertEquals(ids("FILTER B[id = :id AND :no]", s"$make('id', 'z', 'no', NULL)"), Seq())
      assertEquals(ids("FILTER B[year(:day) = 2026]", s"$make('day', to_date('2026-01-02'))"), Seq("[y]", "[z]"))
    }
    assertEquals(ids("", "map()"), Seq("[y]", "[z]"))
    assertEquals(ids("FILTER B[:none IS NULL]", "map('none', NULL)"), Seq("[y]", "[z]"))
    assertEquals(ids("FILTER B[id = :id]", "map('id' COLLATE UNICODE_CI, 'z')"), Seq("[z]"))
  }

  private def unfit(params: String): String =
    refused(s"SELECT * FROM cer(TABLE(sql_events), 'SELECT * FROM S WHERE A', time => 't', params => $params)")

  test("params that do not fit") {
    def not(problem: String) = "[CER_SQL] params is a struct or a map with string keys, such as " +
      s"named_struct('least', 20) or map('least', 20), $problem."
    assertEquals(unfit("map(1, 20)"), not("but its keys are INT"))
    assertEquals(unfit("20"), not("but this is INT"))
    assertEquals(unfit("array(10, 20)"), not("but this is ARRAY<INT>"))
    assertEquals(unfit("NULL"), not("but this is VOID"))
    assertEquals(unfit("CAST(NULL AS MAP<STRING, INT>)"), not("but this is NULL"))
    assertEquals(unfit("CAST(NULL AS STRUCT<a: INT>)"), not("but this is NULL"))
    assertEquals(unfit("map('least', rand())"), not("but 'map('least', rand())' has no value before the query runs"))
    assertEquals(
      unfit("map(CAST(NULL AS STRING), 20)"),
      "[CER_SQL] params has no value: [NULL_MAP_KEY] Cannot use null as map key."
    )
    assertEquals(
      unfit("map('least', 20, 'least', 30)"),
      "[CER_SQL] params has no value: [DUPLICATED_MAP_KEY] Duplicate map key least was found, please check the input data."
    )
    assertEquals(unfit("named_struct('least', 20, 'least', 30)"), "[CER_SQL] params has 'least' more than once.")
    assertEquals(
      unfit("map('least', 20)"),
      "[CER_PARAMETER] params has 'least', but the query has no parameters."
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
        s"Name the type column, which can be type='type', or write S in the pattern.\n$query\n                      ^"
    )
  }
}
