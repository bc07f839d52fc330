package sparkcer.internal.oracle

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.types.StructType

import sparkcer._
import sparkcer.internal.testkit.SparkSuite

/** `x[…]` with PREV: which of its conjuncts are asked of which events, and what Spark says of them. */
class PreviousSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private def events(values: Seq[Any]): DataFrame = {
    val rows = values.zipWithIndex.map { case (v, i) => Row("A", i.toLong, v, "k") }
    spark.createDataFrame(
      java.util.Arrays.asList(rows: _*),
      StructType.fromDDL("type STRING, t BIGINT, v INT, between STRING")
    )
  }

  /** The positions of each match of `A+ AS x`. */
  private def runs(values: Seq[Any], test: String, params: Map[String, Any] = Map.empty): Seq[String] =
    events(values)
      .cer(s"SELECT x[t] FROM S WHERE A+ AS x FILTER x[$test]", time = "t", params = params)
      .select("x.t")
      .as[Seq[Long]]
      .collect()
      .map(_.mkString(" "))
      .sorted
      .toSeq

  test("what stands beside PREV is asked of every event") {
    assertEquals(runs(Seq(10, 70), "v > 60 AND v > PREV.v"), Seq("1"))
    for (
      test <- Seq(
        "v > PREV.v AND v > :least",
        "v BETWEEN :least + 1 AND 99 AND v > PREV.v -- rising\n",
        "between > 'a' AND v > :least AND PREV.v < v AND PREV.between = 'k'",
        "CASE WHEN v > :least AND TRUE THEN 1 END = 1 AND v > PREV.v",
        "v > :least AND (v > PREV.v OR FALSE)"
      )
    ) assertEquals(runs(Seq(10, 70, null, 80, 60), test, Map("least" -> 60)), Seq("1", "1 3", "3"), test)
  }

  test("a conjunct keeps those after it from an error of Spark's") {
    assertEquals(runs(Seq(0, 5, 0, 2), "v <> 0 AND 10 / v > PREV.v - 4"), Seq("1", "1 3", "3"))
    assertEquals(runs(Seq(0, 5), "v <> 0 AND 10 / v > 1 AND v > PREV.v"), Seq("1"))
    assertEquals(runs(Seq(0, 5), "PREV.v <> 0 AND v / PREV.v > 1"), Seq("0", "1"))
  }

  private def refused(test: String): String =
    intercept[AnalysisException](runs(Seq(1), test)).getMessage.linesIterator.next()

  test("errors show the place, and the conjuncts that Spark was asked for") {
    val columns = "The columns are type, t, v, between."
    assertEquals(
      refused("v > PREV.v AND w > 1"),
      s"[CER_UNKNOWN_COLUMN] Line 1, column 58: 'w' is not a column. $columns"
    )
    assertEquals(
      refused("v > PREV.vv AND v > 1"),
      s"[CER_UNKNOWN_COLUMN] Line 1, column 52: 'vv' is not a column. $columns"
    )
    assertEquals(
      refused("v + 1 AND v > PREV.v"),
      "[CER_TYPE_MISMATCH] Line 1, column 43: the condition 'v + 1' is INT, but it must be BOOLEAN."
    )
    assertEquals(
      refused("v > PREV.v AND rand() > v"),
      "[CER_UNSUPPORTED] Line 1, column 43: a condition cannot use a nondeterministic function: 'rand() > v'."
    )
    assertEquals(
      refused("(SELECT TRUE AND FALSE) AND v > PREV.v"),
      "[CER_UNSUPPORTED] Line 1, column 43: a condition cannot use a subquery: '(SELECT TRUE AND FALSE)'."
    )
    assertEquals(
      refused("v > PREV.v AND"),
      "[CER_SYNTAX] Line 1, column 43: Spark cannot read 'x[v > PREV.v AND]': 'AND' at its end would be a name for it."
    )
    assertEquals(
      refused("v > 1 big AND v > PREV.v"),
      "[CER_SYNTAX] Line 1, column 43: Spark cannot read the condition 'v > 1 big': 'big' at its end would be a name for it."
    )
    assertEquals(
      refused("v > 1 AS (big, small)"),
      "[CER_SYNTAX] Line 1, column 43: Spark cannot read the condition 'v > 1 AS (big, small)': 'big, small' at its end would be a name for it."
    )
  }
}
