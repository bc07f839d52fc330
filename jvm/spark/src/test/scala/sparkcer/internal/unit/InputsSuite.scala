package sparkcer.internal.unit

import org.apache.spark.sql.AnalysisException

import sparkcer._
import sparkcer.internal.bind.Clock
import sparkcer.internal.testkit.SparkSuite

/** Several inputs, from Scala; tests/unit/test_inputs.py has the rest. */
class InputsSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private lazy val buys = Seq((3L, "b"), (9L, "c")).toDF("t", "id")
  private lazy val sells = Seq((1L, 5), (4L, 6)).toDF("t", "volume")
  private val query = "SELECT * FROM Buys, Sells WHERE (Sells AS s ; Buys AS b) FILTER s[volume > :v] WITHIN 6 [t]"

  test("each under its name in FROM") {
    val found = over(query, Map("Buys" -> buys, "Sells" -> sells), params = Map("v" -> 5))
    assertEquals(found.select("s.volume", "b.id").as[(Int, String)].collect().toSeq, Seq((6, "c")))
    assertEquals(found.select("s.*").columns.toSeq, Seq("t", "id", "type", "volume"))
  }

  test("a name that FROM has twice") {
    val twice =
      intercept[AnalysisException](over("SELECT * FROM A, A WHERE A", Map("A" -> buys), time = "t")).getMessage
    assertEquals(
      twice,
      "[CER_UNKNOWN_STREAM] Line 1, column 18: FROM names A twice.\nSELECT * FROM A, A WHERE A\n                 ^"
    )
  }

  test("an input without a key") {
    val keyed = query.replace("WITHIN", "PARTITION BY [id] WITHIN")
    assertEquals(
      intercept[AnalysisException](
        over(keyed, Map("Buys" -> buys, "Sells" -> sells), params = Map("v" -> 5))
      ).getMessage,
      "[CER_UNKNOWN_COLUMN] The PARTITION BY column 'id' is not a column of Sells. Its columns are t, volume."
    )
  }

  test("a time for people") {
    import org.apache.spark.sql.types._
    assertEquals(Clock(TimestampType).show(1500000L), "1970-01-01T00:00:01.500Z")
    assertEquals(Clock(TimestampNTZType).show(1500000L), "1970-01-01T00:00:01.500")
    assertEquals(Clock(DateType).show(31L), "1970-02-01")
    assertEquals(Clock(DecimalType(9, 2)).show(150L), "1.50")
    assertEquals(Clock(DoubleType).show(Clock.ordered(-2.5)), "-2.5")
    assertEquals(Clock(IntegerType).show(7L), "7")
  }
}
