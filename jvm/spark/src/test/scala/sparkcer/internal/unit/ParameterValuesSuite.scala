package sparkcer.internal.unit

import org.apache.spark.sql.{AnalysisException, DataFrame}

import sparkcer._
import sparkcer.internal.testkit.SparkSuite

class ParametersSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private lazy val events =
    Seq(("A", 1L, 5.0, "x"), ("B", 2L, 7.0, "y"), ("B", 3L, 9.0, "it's")).toDF("type", "t", "price", "id")

  private def ids(df: DataFrame): Seq[String] = df.select("B.id").as[String].collect().toSeq.sorted

  test("values of all types, in conditions, WITHIN and LIMIT") {
    val query =
      "SELECT * FROM S WHERE A ; B FILTER A[price > :least AND :yes] AND B[id IN {:id, 'z'}] WITHIN :n [t] LIMIT :m"
    val params = Map[String, Any]("least" -> BigDecimal("4.5"), "yes" -> true, "id" -> "it's", "n" -> 2, "m" -> 1L)
    assertEquals(ids(events.cer(query, params = params)), Seq("it's"))
    assertEquals(ids(events.cer(query, params = params + ("n" -> 1))), Seq())
    assertEquals(ids(events.cer(query, params = params + ("id" -> null))), Seq())
  }

  test("a value is a value, whatever it looks like") {
    val query = "SELECT * FROM S WHERE A ; B FILTER B[id = :id] WITHIN 9 [t]"
    assertEquals(ids(events.cer(query, params = Map("id" -> "x' OR '1' = '1"))), Seq())
    assertEquals(ids(events.cer(query, params = Map("id" -> "y"))), Seq("y"))
  }

  test("another value is another query") {
    val query = "SELECT * FROM S WHERE A ; B FILTER B[price > :p] WITHIN 9 [t]"
    def identities(p: Double) = events.cer(query, params = Map("p" -> p)).select("match_id").as[String].collect().toSet
    assertEquals(identities(1).size, 2)
    assertEquals(identities(1), identities(1))
    assert(identities(1).intersect(identities(2)).isEmpty)
  }

  test("sequences and sets") {
    val query = "SELECT * FROM S WHERE A ; B FILTER B[id IN (:ids)] WITHIN 9 [t]"
    def found(ids: Any) = this.ids(events.cer(query, params = Map("ids" -> ids)))
    assertEquals(found(Seq("y", "it's")), Seq("it's", "y"))
    assertEquals(found(Array("y")), Seq("y"))
    assertEquals(found(Seq.empty[String]), Seq())
    assertEquals(found("y"), Seq("y"))
    def text(ids: Any) = events.cer(query, params = Map("ids" -> ids)).select("match_id").as[String].collect().toSet
    val many = (1 to 9).map(i => s"y$i") :+ "y"
    assertEquals(text(many.toSet), text(many.reverse.toSet))
  }

  test("a length of time") {
    val timed = spark.sql("SELECT timestamp_seconds(20 * id) AS ts FROM range(4)")
    def pairs(window: Any) =
      timed.cer("SELECT * FROM S WHERE S AS x ; S AS y WITHIN :w", time = "ts", params = Map("w" -> window)).count()
    assertEquals(pairs(java.time.Duration.ofSeconds(40)), 5L)
    assertEquals(pairs(java.time.Duration.ofSeconds(40).minusNanos(1000)), 3L)
    assertEquals(pairs("40 s"), 5L)
  }

  test("in SQL") {
    events.createOrReplaceTempView("parameter_events")
    val found = spark.sql(
      "SELECT B.id FROM cer(TABLE(parameter_events), 'SELECT * FROM S WHERE A ; B FILTER B[price > :p] WITHIN :n [t]', " +
        "params => named_struct('p', 8, 'n', 2))"
    )
    assertEquals(found.as[String].collect().toSeq, Seq("it's"))
  }

  private def refused(query: String, params: (String, Any)*): String =
    intercept[AnalysisException](events.cer(query, time = "t", params = params.toMap)).getMessage

  test("a value that is no literal") {
    assertEquals(
      refused("SELECT * FROM S WHERE A FILTER A[price > :p]", "p" -> Seq(Some(1)).iterator),
      "[CER_PARAMETER] The value of the parameter :p is not a literal of Spark SQL: <iterator>."
    )
    assertEquals(
      refused("SELECT * FROM S WHERE A FILTER A[price IN (:p)]", "p" -> Seq($"price")),
      "[CER_PARAMETER] The value of the parameter :p is not a literal of Spark SQL: List(price)."
    )
  }
}
