package sparkcer.internal.unit

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.types._

import sparkcer._
import sparkcer.internal.bind.{Binding, Options, Plan}
import sparkcer.internal.stream.LogAbout
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream

/** Measures, HAVING and flat columns. */
class MeasuresSuite extends SparkSuite {
  import MeasuresSuite._

  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private val events = Seq(
    ("A", 1L, "k", Some(5), 1.5, "CL"),
    ("B", 2L, "k", Some(1), 2.5, "BE"),
    ("B", 3L, "k", None, 3.5, "BE"),
    ("C", 4L, "k", Some(8), 4.5, "DE"),
    ("A", 5L, "l", None, 0.5, "CL"),
    ("C", 6L, "l", Some(2), 6.5, "FR")
  ).toDF("type", "t", "key", "n", "price", "city")
    .selectExpr(
      "type",
      "t",
      "key",
      "n",
      "price",
      "CAST(price AS DECIMAL(5, 2)) AS money",
      "named_struct('city', city, 'zip', n) AS address"
    )

  private val pattern = "((A AS x : B:+ AS more : C AS y) OR (A AS x : C AS y))"

  private def found(list: String, clauses: String = ""): DataFrame =
    events.cer(s"SELECT $list FROM S WHERE $pattern PARTITION BY [key] WITHIN 9 [t] $clauses", time = "t")

  /** The columns after the interval, of all matches in order. */
  private def rows(df: DataFrame): Seq[String] = df
    .orderBy("end", "start", "match_id")
    .drop("match_id", "key", "start", "end")
    .collect()
    .map(_.toString)
    .toSeq

  private def types(df: DataFrame): Seq[String] =
    df.drop("match_id", "key", "start", "end").schema.map(f => s"${f.name} ${f.dataType.sql}")

  test("types are those of Spark's own aggregates") {
    val df = found(
      "count(more) AS c, sum(more.n) AS i, sum(more.price) AS d, sum(more.money) AS m, avg(more.n) AS ai, " +
        "avg(more.money) AS am, min(more.n) AS mi, last(more).address AS a, collect(more.n) AS ns, x.price, " +
        "y.price - x.price AS gain, count(DISTINCT more.address.city) AS cities, end - start AS span, key AS k2"
    )
    val spark = events.selectExpr("sum(n)", "sum(price)", "sum(money)", "avg(n)", "avg(money)", "min(n)").schema
    assertEquals(
      types(df),
      Seq("c BIGINT") ++ Seq("i", "d", "m", "ai", "am", "mi").zip(spark.map(_.dataType.sql)).map { case (n, t) =>
        s"$n $t"
      } ++
        Seq(
          "a STRUCT<city: STRING, zip: INT>",
          "ns ARRAY<INT>",
          "price DOUBLE",
          "gain DOUBLE",
          "cities BIGINT",
          "span BIGINT",
          "k2 STRING"
        )
    )
    assertEquals(
      rows(df),
      Seq(
        "[2,1,6.0,6.00,1.0,3.000000,1,[BE,null],ArraySeq(1),1.5,3.0,1,3,k]",
        "[0,null,null,null,null,null,null,null,ArraySeq(),0.5,6.0,0,1,l]"
      )
    )
    assertEquals(df.schema("ns").dataType, ArrayType(IntegerType, containsNull = false): DataType)
  }

  test("HAVING keeps matches, by the names of measures and by expressions, and is not FILTER") {
    assertEquals(rows(found("count(more) AS c", "HAVING c > 1")), Seq("[2]"))
    assertEquals(rows(found("x.t", "HAVING sum(more.n) = 1 AND key = 'k' AND end - start < 9")), Seq("[1]"))
    assertEquals(rows(found("x.t", "HAVING sum(more.n) > 100")), Seq())
    assertEquals(rows(found("x.t", "HAVING CAST(NULL AS BOOLEAN)")), Seq())
    // NULL is not TRUE, also under NOT.
    assertEquals(rows(found("x.t", "HAVING NOT (sum(more.n) > 100)")), Seq("[1]"))
    val list = "SELECT MAX more.t AS ts FROM S WHERE B+ AS more"
    def run(text: String) = events.cer(text, time = "t").collect().toSeq
    assertEquals(
      run("SELECT MAX collect(more.t) AS ts FROM S WHERE B+ AS more HAVING sum(more.t) < 5").map(_.getSeq[Long](3)),
      Seq(Seq(2L)) // at 3, MAX has chosen {2, 3}, whose sum is 5; HAVING does not look for {3}
    )
    val refused = intercept[Exception](run(list))
    assert(refused.getMessage.contains("first(more.t)"), refused.getMessage)
  }

  test("HAVING comes after CONSUME BY and LIMIT") {
    val as = Seq("A", "A", "B", "A", "B").zipWithIndex.map { case (k, i) => (k, i.toLong) }.toDF("type", "t")
    def run(clauses: String) =
      as.cer(s"SELECT x.t, y.t AS u FROM S WHERE (A AS x ; B AS y) $clauses", time = "t")
        .select("t", "u")
        .as[(Long, Long)]
        .collect()
        .sorted
        .toSeq
    assertEquals(run(""), Seq((0L, 2L), (0L, 4L), (1L, 2L), (1L, 4L), (3L, 4L)))
    assertEquals(run("HAVING u > 2"), Seq((0L, 4L), (1L, 4L), (3L, 4L)))
    // The matches that HAVING drops have consumed.
    assertEquals(run("HAVING u > 2 CONSUME BY PARTITION"), Seq((3L, 4L)))
    // And they have counted.
    val limited = run("LIMIT 1")
    assertEquals(run("LIMIT 1 HAVING u > 2"), limited.filter(_._2 > 2))
    assertEquals(run("LIMIT 1 HAVING t > 100"), Seq())
  }

  test("COUNT(*) with HAVING") {
    val df = found("COUNT(*)", "HAVING matches >= 1 AND key = 'k' AND end > 1")
    assertEquals(df.columns.toSeq, Seq("key", "end", "matches"))
    assertEquals(df.collect().map(_.toString).toSeq, Seq("[k,4,1]"))
    assertEquals(found("COUNT(*)", "HAVING matches > 1").count(), 0L)
  }

  test("flat columns, other names, struct fields") {
    val flat = found("FLAT x[t, address.city], more[n], y[price] AS z, count(more) AS c")
    assertEquals(
      types(flat),
      Seq("x_t BIGINT", "x_city STRING", "more ARRAY<STRUCT<n: INT>>", "z_price DOUBLE", "c BIGINT")
    )
    assertEquals(
      rows(flat),
      Seq("[1,CL,ArraySeq([1], [null]),4.5,2]", "[5,CL,ArraySeq(),6.5,0]")
    )
    assertEquals(types(found("FLAT y")).length, 7)
    assertEquals(
      rows(found("x[address.city, t] AS a, more[address.zip]")),
      Seq("[[CL,1],ArraySeq([1], [null])]", "[[CL,5],ArraySeq()]")
    )
    assertEquals(
      types(found("x[t] AS a, x[n] AS b, x.t")),
      Seq("a STRUCT<t: BIGINT NOT NULL>", "b STRUCT<n: INT>", "t BIGINT")
    )
    val optional = events.cer("SELECT FLAT a, b FROM S WHERE (A AS a OR B AS b) HAVING end < 3", time = "t")
    assertEquals(rows(optional.select("match_id", "start", "end", "a_t", "b_t")), Seq("[1,null]", "[null,2]"))
    assertEquals(rows(found("*, x.t").select("match_id", "start", "end", "x.t", "t")), Seq("[1,1]", "[5,5]"))
  }

  test("an aggregate of a variable that binds at most one event") {
    val df = events.cer(
      "SELECT count(a) AS ca, sum(b.n) AS sb, last(a).t AS la, collect(b.t) AS tb, count(DISTINCT a.n) AS da " +
        "FROM S WHERE (A AS a OR B AS b) HAVING end < 4",
      time = "t"
    )
    assertEquals(rows(df), Seq("[1,null,1,ArraySeq(),1]", "[0,1,null,ArraySeq(2),0]", "[0,null,null,ArraySeq(3),0]"))
  }

  test("an overflow is an error, as in Spark") {
    val large = Seq(("A", 1L, Long.MaxValue), ("A", 2L, 1L)).toDF("type", "t", "n")
    val df = large.cer("SELECT MAX sum(x.n) AS s FROM S WHERE A+ AS x HAVING count(x) = 2", time = "t")
    def cause(body: => Any) =
      Iterator.iterate[Throwable](intercept[Exception](body))(_.getCause).takeWhile(_ != null).toVector.last
    assert(cause(df.collect()).isInstanceOf[ArithmeticException])
    withConf("spark.sql.ansi.enabled" -> "false") {
      val wrapped = large.cer("SELECT MAX sum(x.n) AS s FROM S WHERE A+ AS x HAVING count(x) = 2", time = "t")
      assertEquals(wrapped.select("s").as[Long].collect().toSeq, Seq(Long.MinValue))
    }
  }

  test("with and without generated code") {
    val list = "sum(more.n) AS s, avg(more.price) AS a, last(more).t AS l, collect(more.t) AS ts, x.price * 2 AS p"
    val generated = rows(found(list))
    withConf("spark.sql.codegen.wholeStage" -> "false") {
      withConf("spark.sql.codegen.factoryMode" -> "NO_CODEGEN")(assertEquals(rows(found(list)), generated))
    }
  }

  test("functions of Spark, lambda functions and parameters") {
    val df = events.cer(
      "SELECT aggregate(collect(more.t), 0L, (s, v) -> s + v * x.t) AS total, concat(key, :suffix) AS k2, " +
        "CASE WHEN y.n > :most THEN 'high' ELSE 'low' END AS level, array_max(collect(more.price * :factor)) AS top, " +
        "max(more.t - start) AS longest " +
        s"FROM S WHERE $pattern FILTER x[t < :until] PARTITION BY [key] HAVING count(more) > :least",
      time = "t",
      params = Map("suffix" -> "!", "most" -> 5, "factor" -> 10, "least" -> 1, "until" -> 9)
    )
    assertEquals(rows(df), Seq("[5,k!,high,35.0,2]"))
  }

  private def plan(text: String, params: Map[String, Any] = Map.empty): Plan = {
    val options = Options(time = Some("t"), params = params)
    Plan.of(Binding.of(events, text, options), text, options)
  }

  test("measures and HAVING are no part of the identity of a match, nor of a checkpoint") {
    val from = s"FROM S WHERE $pattern FILTER x[t < :until] PARTITION BY [key] WITHIN 9 [t]"
    val before = plan(s"SELECT x, more, y $from", Map("until" -> 7))
    for (
      (list, having) <- Seq(
        ("x, more, y, sum(more.n) + :p AS s", ""),
        ("x AS a, more, y", "HAVING count(more) > :p"),
        ("FLAT x, more, y, x.t", "HAVING t > :p")
      )
    ) {
      val after = plan(
        s"SELECT $list $from $having",
        Map("until" -> 7) ++ (if (s"$list$having".contains(":p")) Map("p" -> 1) else Map.empty)
      )
      assertEquals(after.fingerprint, before.fingerprint)
      assertEquals(LogAbout.of(after, 2), LogAbout.of(before, 2))
      assertEquals(after.schema, before.schema)
    }
    assert(plan(s"SELECT x, more, y $from", Map("until" -> 8)).fingerprint != before.fingerprint)
    assertEquals(
      found("x, more, y, sum(more.n) AS s", "HAVING s IS NOT NULL").select("match_id").as[String].collect().toSeq,
      found("x, more, y").where("size(more) > 0").select("match_id").as[String].collect().toSeq
    )
  }

  test("only columns are kept that the output shows or that measures read") {
    def kept(list: String, having: String = "") =
      plan(s"SELECT $list FROM S WHERE $pattern PARTITION BY [key] $having").schema.event.fieldNames.toSeq
    assertEquals(kept("count(more) AS c, key AS k"), Seq())
    assertEquals(kept("sum(more.n) AS c, last(y).address.city AS z"), Seq("n", "address"))
    assertEquals(kept("x[t]", "HAVING sum(more.price * more.n) > 1"), Seq("t", "n", "price"))
    assertEquals(kept("x[t], first(more) AS f").length, 7)
    assertEquals(kept("x, count(more) AS c").length, 7)
  }

  test("columns that nobody reads are not read from the source") {
    val folder = Files.createTempDirectory("measures").resolve("events").toString
    events.write.parquet(folder)
    def read(df: DataFrame): Set[String] =
      collectLeaves(df.queryExecution.executedPlan).flatMap(_.output.map(_.name)).toSet
    val text = s"SELECT *, sum(more.n * more.n) AS s, first(more.price) AS f, count(more) AS c FROM S " +
      s"WHERE $pattern PARTITION BY [key] HAVING max(more.t) > 1"
    val matches = spark.read.parquet(folder).cer(text, time = "t")
    assertEquals(read(matches.select("s", "c")), Set("type", "t", "key", "n"))
    assertEquals(read(matches.select("f")), Set("type", "t", "key", "price"))
    assertEquals(read(matches.select("c")), Set("type", "t", "key"))
    val all = matches.collect()
    for (c <- Seq("s", "f", "c"))
      assertEquals(matches.select(c).collect().map(_.get(0)).toSet, all.map(_.getAs[Any](c)).toSet)
    assertEquals(all.length, 1)
    // What returns events reads all of them.
    val filtered = matches.selectExpr("filter(more, e -> e.n = 1) AS few")
    assertEquals(
      filtered.collect().toSeq,
      matches.select("more").as[Seq[Event]].collect().toSeq.map(m => Row(m.filter(_.n.contains(1)).map(_.row)))
    )
  }

  test("a stream returns late events without measures, whatever HAVING says") {
    val input = MemoryStream[(String, Long, Int)]
    val text = "SELECT x.n, count(x) + 1 AS c, 7 AS seven FROM S WHERE A AS x HAVING x.n > 1"
    val stream = input.toDF().toDF("type", "t", "n").cer(text, time = "t", lateRows = true)
    assertEquals(stream.columns.toSeq, Seq("match_id", "start", "end", "n", "c", "seven", "late"))
    val running = stream.writeStream.format("memory").queryName("late_measures").start()
    try {
      input.addData(("A", 5L, 1), ("A", 6L, 2))
      running.processAllAvailable()
      input.addData(("A", 4L, 0), ("A", 9L, 3))
      running.processAllAvailable()
    } finally running.stop()
    assertEquals(
      spark.table("late_measures").select("end", "n", "c", "seven", "late.n").collect().map(_.toString).sorted.toSeq,
      Seq("[6,2,2,7,null]", "[9,3,2,7,null]", "[null,null,null,null,0]")
    )
    val counting = "SELECT COUNT(*) FROM S WHERE A HAVING matches > 1"
    assertEquals(
      input.toDF().toDF("type", "t", "n").cer(counting, time = "t", lateRows = true).columns.toSeq,
      Seq("end", "matches", "late")
    )
  }

  test("a snapshot has measures, and HAVING holds in it") {
    val text = s"SELECT x, count(more) AS c FROM S WHERE $pattern PARTITION BY [key] WITHIN 9 [t] HAVING c < 1"
    assertEquals(events.cerSnapshot(text, time = "t").select("x.t", "c").collect().map(_.toString).toSeq, Seq("[5,0]"))
  }

  test("what measures and HAVING cannot have") {
    def refused(measure: String, clauses: String = ""): String = {
      val message = intercept[CerException](found(s"$measure AS m", clauses)).getMessage
      message.linesIterator.next().replaceFirst("^\\[\\w+\\] Line 1, column \\d+: ", "")
    }
    def cannot(sql: String, what: String): Unit =
      assertEquals(refused(sql), s"a measure and HAVING cannot use $what: '$sql'.")
    cannot("(SELECT max(id) FROM range(3))", "a subquery")
    cannot("x.n IN (SELECT 1)", "a subquery")
    cannot("struct(*)", "'*'")
    cannot("sum(x.n) OVER ()", "a window function")
    cannot("explode(collect(more.n))", "a function that returns several rows")
    assert(
      refused("sum(more.n + rand())").startsWith("Spark cannot use 'sum(more.n + rand())': [AGGREGATE_FUNCTION_WITH")
    )
    cannot("collect(more.n + rand())", "a nondeterministic function")
    cannot("uuid()", "a nondeterministic function")
    def form(sql: String, what: String): Unit =
      assertEquals(refused(sql), s"'$sql': an aggregate over the events of a match cannot have $what.")
    form("first(more.n) IGNORE NULLS", "IGNORE NULLS")
    form("sum(more.n) FILTER (WHERE more.n > 1)", "FILTER (WHERE …)")
    form("max(DISTINCT more.n)", "DISTINCT in max")
    assert(refused("unheard_of(x.n)").startsWith("Spark cannot use 'unheard_of(x.n)': [UNRESOLVED_ROUTINE]"))
    assert(
      refused("sum(more.address)").contains("\"sum(more.address)\" due to data type mismatch"),
      refused("sum(more.address)")
    )
    assert(refused("x.prize").startsWith("'prize' is not a column."))
    assert(refused("sum(more.prize)").startsWith("'prize' is not a column."))
    assert(refused("last(more).prize").startsWith("'prize' is not a column."))
    assert(refused("x.n +").startsWith("Spark cannot read 'x.n +': [PARSE_SYNTAX_ERROR]"))
    assert(refused("count(DISTINCT more)").startsWith("count takes one column or expression"))
    assert(refused("first(more.n, true)").startsWith("first takes one column or expression"))
    assert(refused("count(more.n) + m").startsWith("'m' is not known here. A measure can use"))
    assert(refused("1", "HAVING M > 1 AND z.n > 1").startsWith("'z' is not a variable of the pattern."))
    assertEquals(
      refused("1", "HAVING price > 1"),
      "'price' is not known here. HAVING can use columns of variables, such as x.price, and start, end, key, m."
    )
  }

  test("the SQL function has measures") {
    events.createOrReplaceTempView("measured_events")
    val text = s"SELECT count(more) AS c FROM S WHERE $pattern PARTITION BY [key] HAVING c > :p"
    val df = spark.sql(s"SELECT key, c FROM cer(TABLE(measured_events), '$text', time => 't', params => map('p', 1))")
    assertEquals(df.collect().map(_.toString).toSeq, Seq("[k,2]"))
  }

  test("several inputs, and variables such as S>R") {
    val matches = over(
      "SELECT L>A.t AS a, count(R>C) AS c, sum(R>C.n) AS s FROM L, R WHERE L>A ; R>C PARTITION BY [key] HAVING R>C.t > 4",
      Map("L" -> events, "R" -> events.select("type", "t", "key", "n")),
      time = "t"
    )
    assertEquals(rows(matches), Seq("[5,1,2]"))
  }

  test("a measure of the time has no watermark, and one that is an event says that it is none") {
    val input = MemoryStream[(String, java.sql.Timestamp)]
    val stream = input.toDF().toDF("type", "ts").withWatermark("ts", "1 minute")
    val schema =
      stream.cer("SELECT x.ts, end AS e, first(x) AS f, FLAT.ts AS g FROM S WHERE (A AS x ; B AS FLAT)").schema
    assertEquals(schema("ts").metadata.json, "{}")
    assertEquals(schema("e").metadata.json, "{}")
    assertEquals(schema("f").metadata.json, "{\"spark.cer.measure\":true}")
    assert(schema("end").metadata.contains("spark.watermarkDelayMs"))
    val flat = stream.cer("SELECT FLAT x FROM S WHERE A AS x").schema
    assertEquals(flat("x_ts").metadata.json, "{}")
  }
}

object MeasuresSuite {
  final case class Address(city: String, zip: Option[Int])

  final case class Event(
      `type`: String,
      t: Long,
      key: String,
      n: Option[Int],
      price: Double,
      money: java.math.BigDecimal,
      address: Address
  ) {
    def row: Row = Row(`type`, t, key, n.orNull, price, money.setScale(2), Row(address.city, address.zip.orNull))
  }
}
