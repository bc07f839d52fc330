package sparkcer.internal.unit

import scala.io.Source

import org.apache.spark.sql.DataFrame

import sparkcer._
import sparkcer.internal.testkit.SparkSuite

/** A match has the same `match_id` in every version: users drop what they have met already by it. What an earlier
  * version gave stands in `match-ids.txt`, with a line for each query and its identities in order. A line may be added,
  * never changed.
  */
class MatchIdSuite extends SparkSuite {

  private lazy val events: DataFrame = spark.sql("""
    SELECT kind AS type, timestamp'2024-05-01 00:00:00Z' + make_interval(0, 0, 0, 0, 0, 0, t) AS ts, t AS n, t * 2.5D + 1 AS v,
      CAST(t AS FLOAT) AS f, CAST(t AS DECIMAL(10, 2)) AS price, CAST(t AS DECIMAL(30, 3)) AS large, CAST(t AS SMALLINT) AS small,
      date_add(date'2024-05-01', t) AS day, t % 3 = 0 AS flag, IF(t = 4, NULL, concat('name ', t)) AS name,
      array(t, NULL, 7) AS numbers, named_struct('a', t, 'b', kind) AS place, map(kind, t) AS counts,
      CAST(kind AS BINARY) AS raw, substr('xyxyxyxy', t, 1) AS key, timestamp_ntz'2024-05-01 00:00:00' AS local
    FROM VALUES ('A', 1), ('B', 2), ('A', 3), ('B', 4), ('C', 5), ('C', 6), ('B', 7), ('C', 8) AS e(kind, t)""")

  private lazy val twins: DataFrame =
    spark.sql("SELECT kind AS type, t FROM VALUES ('A', 1L), ('A', 1L), ('B', 2L), ('B', 2L) AS e(kind, t)")

  private def found(query: String): DataFrame = events.cer(query, time = "ts")

  private lazy val queries: Seq[(String, DataFrame)] = Seq(
    "all-types-of-columns" -> found("SELECT * FROM S WHERE (A AS a ; C AS c) WITHIN 4 seconds"),
    "key" -> found("SELECT * FROM S WHERE (A+ ; C) PARTITION BY [key] WITHIN 10 seconds"),
    "two-keys" -> found("SELECT * FROM S WHERE (B AS b ; C AS c) PARTITION BY [key], [flag]"),
    "narrow-select" -> found("SELECT a[name, v], c FROM S WHERE (A AS a ; B ; C AS c) WITHIN 4 seconds"),
    "narrow-columns-alone" -> found("SELECT a[n], c[n] FROM S WHERE (A AS a ; B ; C AS c) WITHIN 4 seconds"),
    "no-variables" -> found("SELECT NONE FROM S WHERE (A ; B ; C) WITHIN 4 seconds"),
    "optional-variable" -> found("SELECT * FROM S WHERE ((A AS a ; B AS b) OR (B AS b : C AS c)) WITHIN 2 seconds"),
    "next" -> found("SELECT NEXT * FROM S WHERE (A ; B+ ; C) WITHIN 10 seconds"),
    "max" -> found("SELECT MAX * FROM S WHERE (A+ ; C) WITHIN 1 minute"),
    "distinct" -> found("SELECT DISTINCT c FROM S WHERE (A AS a ; B AS b ; C AS c) WITHIN 10 seconds"),
    "filters" -> found(
      "SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a[n > 1 OR flag] AND (b[v > 9] OR a[n = 3]) WITHIN 10 seconds"
    ),
    "correlated" -> found("SELECT * FROM S WHERE (A AS a ; C AS c) FILTER a.key = c.key WITHIN 10 seconds"),
    "previous" -> found("SELECT * FROM S WHERE (B+ AS bs ; C AS c) FILTER bs[n = PREV.n + 2] WITHIN 2 seconds"),
    "window-of-an-attribute" -> found("SELECT * FROM S WHERE (A AS a ; B AS b) WITHIN 1.5 [price]"),
    "consume" -> found("SELECT * FROM S WHERE (A AS a ; B AS b) CONSUME BY PARTITION"),
    "parameters" -> events.cer(
      "SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a[n >= :least] WITHIN :w [n] LIMIT :m",
      params = Map("least" -> 2, "w" -> 2, "m" -> 5L)
    ),
    "another-type-column" -> events
      .withColumnRenamed("type", "kind")
      .cer("SELECT * FROM S WHERE (A AS a ; C AS c) WITHIN 3 seconds", time = "ts", eventType = "kind"),
    "no-type-column" -> events.drop("type").cer("SELECT * FROM S WHERE (S AS a : S AS b) WITHIN 3 [small]"),
    "time-as-a-date" -> events.cer("SELECT * FROM S WHERE (A AS a ; B AS b) WITHIN 1 day", time = "day"),
    "time-as-a-double" -> events.cer("SELECT * FROM S WHERE (A AS a ; B AS b) WITHIN 2.5 [v]"),
    "several-inputs" -> over(
      "SELECT * FROM L, R WHERE (L>A AS a ; R>B AS b) PARTITION BY [key] WITHIN 10 seconds",
      Map("L" -> events, "R" -> events.select("type", "ts", "key", "n")),
      time = "ts"
    ),
    "inputs-without-types" -> over(
      "SELECT * FROM L, R WHERE (L AS a ; R AS b) WITHIN 1 [n]",
      Map("L" -> events.where("n < 3").select("n", "name"), "R" -> events.where("n > 2").select("n", "v"))
    ),
    "equal-events" -> twins.cer("SELECT * FROM S WHERE (A ; B) WITHIN 1 [t]"),
    "key-in-a-struct" -> events
      .selectExpr("*", "named_struct('key', key) AS within")
      .cer("SELECT * FROM S WHERE (A ; C) PARTITION BY [`within`.key] WITHIN 10 seconds", time = "ts"),
    "lists-and-lengths" -> events.cer(
      "SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a[n IN (:ns)] WITHIN :w",
      time = "ts",
      params = Map("ns" -> Seq(1, 3), "w" -> java.time.Duration.ofSeconds(3))
    )
  )

  private def ids(matches: DataFrame): Seq[String] =
    matches.select("match_id").collect().map(_.getString(0)).sorted.toSeq

  test("identities do not change") {
    val found = queries.map { case (name, matches) => s"$name ${ids(matches).mkString(" ")}" }
    val golden = Source.fromResource("match-ids.txt")
    try assertEquals(found.mkString("\n"), golden.mkString.trim)
    finally golden.close()
    found.foreach(line => assert(line.contains(' '), line)) // each has matches
  }
}
