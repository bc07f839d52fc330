package sparkcer.internal.unit

import java.math.{BigDecimal => Decimal}
import java.nio.file.Files
import java.sql.{Date, Timestamp}

import org.apache.spark.sql.{AnalysisException, DataFrame, Row, SQLContext}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

import sparkcer._
import sparkcer.internal.batch.{RecognizeExec, Spread}
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream

/** Comparisons between events, as Spark SQL compares their values; with parameters, several inputs, columns that nobody
  * shows, slices of time and streams.
  */
class ComparisonSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  // Types

  /** Pairs of an A and a later B for which the test holds, by their positions; against Spark's own join. */
  private def pairs(a: (DataType, Seq[Any]), b: (DataType, Seq[Any]), test: String): Seq[(Long, Long)] = {
    val schema =
      StructType(
        Seq(
          StructField("pos", LongType),
          StructField("type", StringType),
          StructField("a", a._1),
          StructField("b", b._1)
        )
      )
    val rows = a._2.map(v => ("A", v, null)) ++ b._2.map(v => ("B", null, v))
    val events = spark.createDataFrame(
      java.util.Arrays.asList(rows.zipWithIndex.map { case ((k, x, y), i) => Row(i.toLong, k, x, y) }: _*),
      schema
    )
    val found = events
      .cer(s"SELECT x[pos], y[pos] FROM S WHERE (A AS x ; B AS y) FILTER $test", time = "pos")
      .select("x.pos", "y.pos")
      .as[(Long, Long)]
      .collect()
      .sorted
      .toSeq
    val joined = events
      .where("type = 'A'")
      .as("x")
      .join(events.where("type = 'B'").as("y"), expr(test))
      .select("x.pos", "y.pos")
      .as[(Long, Long)]
      .collect()
      .sorted
      .toSeq
    assertEquals(found, joined, s"$test of ${a._1.sql} and ${b._1.sql}")
    found
  }

  private val values: Seq[(DataType, Seq[Any])] = Seq(
    IntegerType -> Seq(0, 1, 2, null, -1, Int.MaxValue),
    LongType -> Seq(0L, 1L, null, 2L, Long.MaxValue),
    DecimalType(10, 2) -> Seq("1.00", "2.50", "0", "-1").map(new Decimal(_)),
    DecimalType(30, 5) -> Seq("1.00000", "2.5", "0", "9007199254740993").map(new Decimal(_)),
    DoubleType -> Seq(0.0, -0.0, 1.0, 2.5, Double.NaN, Double.PositiveInfinity, null),
    FloatType -> Seq(0.0f, -0.0f, 1.0f, Float.NaN, 2.5f),
    StringType -> Seq("1", "2", "0", null)
  )

  test("numbers of all types, by =, != and <, as a join of Spark's compares them") {
    for ((a, i) <- values.zipWithIndex; (b, j) <- values.zipWithIndex.drop(i))
      pairs(a, b, s"x.a ${Seq("=", "<", "!=")((i + j) % 3)} y.b"): Unit
    for ((a, i) <- values.zipWithIndex) pairs(a, values((i + 1) % values.length), "x.a = y.b"): Unit
  }

  test("NaN equals NaN and is the largest, and there is one zero") {
    val doubles = DoubleType -> Seq(-0.0, Double.NaN, 1.0)
    assertEquals(pairs(doubles, doubles, "x.a = y.b"), Seq((0L, 3L), (1L, 4L), (2L, 5L)))
    assertEquals(pairs(doubles, doubles, "x.a < y.b"), Seq((0L, 4L), (0L, 5L), (2L, 4L)))
  }

  test("strings, times, binaries, structs and arrays") {
    val times = TimestampType -> Seq("2024-01-01 00:00:00", "2024-01-02 12:00:00", null).map(t =>
      Option(t).map(Timestamp.valueOf).orNull
    )
    val dates = DateType -> Seq("2024-01-01", "2024-01-02", "2024-01-03").map(Date.valueOf)
    assertEquals(pairs(times, dates, "x.a = y.b"), Seq((0L, 3L)))
    assertEquals(pairs(times, dates, "x.a < y.b"), Seq((0L, 4L), (0L, 5L), (1L, 5L)))
    val strings = StringType -> Seq("a", "B", "ä", "", null, "a ")
    val binaries = BinaryType -> Seq(Array[Byte](1, -1), Array[Byte](1, 0), Array.empty[Byte])
    val structs = StructType.fromDDL("n DOUBLE, s STRING") ->
      Seq(Row(0.0, "a"), Row(-0.0, "a"), Row(null, "a"), Row(Double.NaN, null), null)
    val arrays = ArrayType(DoubleType) -> Seq(Seq(0.0, 1.0), Seq(-0.0, 1.0), Seq(null), Seq(), null)
    for (v <- Seq(strings, binaries, structs, arrays, BooleanType -> Seq[Any](true, false, null)))
      for (operator <- Seq("=", "<")) pairs(v, v, s"x.a $operator y.b"): Unit
    assertEquals(pairs(structs, structs, "x.a = y.b").length, 6)
  }

  test("strings of a collation, also inside structs and arrays") {
    for (name <- Seq("UTF8_LCASE", "UNICODE_CI_RTRIM")) {
      val collated = StringType(name)
      val strings = Seq("a", "A", "b", "ab ", "AB", "é", null)
      for (operator <- Seq("=", "<")) {
        pairs(collated -> strings, collated -> strings, s"x.a $operator y.b"): Unit
        pairs(
          ArrayType(collated) -> strings.map(Seq(_)),
          ArrayType(collated) -> strings.map(Seq(_)),
          s"x.a $operator y.b"
        ): Unit
        val structs = StructType(Seq(StructField("s", collated))) -> (strings.map(Row(_)) :+ null)
        pairs(structs, structs, s"x.a $operator y.b"): Unit
      }
      assert(pairs(collated -> Seq("A"), collated -> Seq("a"), "x.a = y.b").nonEmpty, name)
    }
  }

  test("terms and conditions of any kind") {
    val numbers = IntegerType -> Seq[Any](1, 2, 3, null, 40)
    for (
      test <- Seq(
        "x.a * 2 = y.b + 1",
        "abs(x.a - 2) < y.b",
        "x.a % 2 != y.b % 2",
        "x.a + y.b = 5",
        "coalesce(x.a, 7) <= coalesce(y.b, 7)"
      )
    ) pairs(numbers, numbers, test): Unit
    val bracketed = spark
      .range(8)
      .selectExpr("id AS pos", "IF(id < 4, 'A', 'B') AS type", "CAST(id % 4 AS INT) AS n", "array(id % 4, 9) AS list")
    def found(test: String) = bracketed
      .cer(s"SELECT x[pos], y[pos] FROM S WHERE (A AS x ; B AS y) FILTER $test", time = "pos")
      .count()
    def joined(test: String) = bracketed
      .where("type = 'A'")
      .as("x")
      .join(bracketed.where("type = 'B'").as("y"), expr(test))
      .count()
    assertEquals(found("y[exists(list, v -> v = x.n)]"), joined("exists(y.list, v -> v = x.n)"))
    assertEquals(found("y[n BETWEEN x.n - 1 AND x.n + 1]"), joined("y.n BETWEEN x.n - 1 AND x.n + 1"))
    assertEquals(found("y[nullif(n, x.n) IS NULL]"), joined("nullif(y.n, x.n) IS NULL"))
    assertEquals(found("y[n = x.n OR pos % 3 = 0]"), joined("y.n = x.n OR y.pos % 3 = 0"))
  }

  // What is kept

  private val purchases = Seq(
    ("buy", 1L, "c1", 5.0, "CL", "long note"),
    ("buy", 2L, "c2", 7.0, "CL", "n"),
    ("buy", 3L, "c1", 60.0, "BE", "n"),
    ("buy", 4L, "c2", 69.0, "CL", "n"),
    ("buy", 5L, "c2", 700.0, "AR", "n")
  ).toDF("type", "t", "card", "price", "country", "note")

  private val tenfold =
    "SELECT x[t], y[t] FROM S WHERE (buy AS x ; buy AS y) FILTER x.card = y.card AND y.price >= 10 * x.price WITHIN 9 [t]"

  test("columns that are compared and not shown are kept, and no others") {
    val found = purchases.cer(tenfold)
    assertEquals(found.schema("x").dataType, StructType.fromDDL("t BIGINT NOT NULL"): DataType)
    assertEquals(found.select("x.t", "y.t").as[(Long, Long)].collect().sorted.toSeq, Seq((1L, 3L), (2L, 5L), (4L, 5L)))
    assertEquals(found.count(), 3L)
    assertEquals(found.select("match_id").distinct().count(), 3L)
    val counted = purchases.cer(tenfold.replace("x[t], y[t]", "COUNT(*)"))
    assertEquals(counted.select("end", "matches").as[(Long, Long)].collect().sorted.toSeq, Seq((3L, 1L), (5L, 2L)))
    val folder = Files.createTempDirectory("cer").resolve("events").toString
    purchases.write.parquet(folder)
    val ends = spark.read.parquet(folder).cer(tenfold).select("end")
    assertEquals(ends.as[Long].collect().sorted.toSeq, Seq(3L, 5L, 5L))
    val read = operator(ends) { case scan: FileSourceScanExec => scan }.requiredSchema.fieldNames.toSet
    assertEquals(read, Set("type", "t", "card", "price"))
  }

  test("another country within the hour, and each strategy with LIMIT") {
    val query =
      "SELECT * FROM S WHERE (buy AS x ; buy AS y) FILTER x.card = y.card AND x.country != y.country WITHIN 9 [t]"
    def ends(q: String) = purchases.cer(q).select("x.t", "y.t").as[(Long, Long)].collect().sorted.toSeq
    assertEquals(ends(query), Seq((1L, 3L), (2L, 5L), (4L, 5L)))
    assertEquals(ends(query.replace("SELECT", "SELECT LAST")), Seq((1L, 3L), (4L, 5L)))
    assertEquals(ends(query.replace("SELECT", "SELECT NEXT")), Seq((1L, 3L), (2L, 5L)))
    assertEquals(ends(query.replace("SELECT", "SELECT STRICT")), Seq((4L, 5L)))
    assertEquals(ends(query + " LIMIT 1").length, 2)
    assertEquals(ends(query + " PARTITION BY [card] CONSUME BY PARTITION"), Seq((1L, 3L), (2L, 5L), (4L, 5L)))
  }

  test("parameters inside tests, and another value is another query") {
    val query = tenfold.replace("y.price >= 10 * x.price", "y[price >= :factor * x.price]")
    def found(factor: Any) = purchases.cer(query, params = Map("factor" -> factor))
    assertEquals(found(10).count(), 3L)
    assertEquals(found(new Decimal("11.5")).count(), 2L)
    assertEquals(found(null).count(), 0L)
    val identities = Seq(10, 11).map(f => found(f).select("match_id").as[String].collect().toSet)
    assert(identities(0).intersect(identities(1)).isEmpty)
    val several = "SELECT * FROM S WHERE (buy AS x ; buy AS y) FILTER y[card = x.card AND price > x.price + :p OR :all]"
    assertEquals(purchases.cer(several, time = "t", params = Map("p" -> 60, "all" -> false)).count(), 3L)
  }

  test("several inputs with other columns: a reply and its tweet") {
    val tweets = Seq((123L, 1L, "#vote"), (252L, 5L, "#vote"), (355L, 7L, "#ihate")).toDF("id", "t", "post")
    val replies = Seq((123L, 2L, "#ihate"), (343L, 3L, "#ihate"), (123L, 4L, "#ihate"), (252L, 6L, "#ihate"))
      .toDF("tweet_id", "t", "reply")
    val found = over(
      "SELECT * FROM Tweet, Reply WHERE (Tweet AS x ; Reply AS y) FILTER x[post = '#vote'] AND x.id = y.tweet_id",
      Map("Tweet" -> tweets, "Reply" -> replies),
      time = "t"
    )
    assertEquals(
      found.select("x.t", "y.t").as[(Long, Long)].collect().sorted.toSeq,
      Seq((1L, 2L), (1L, 4L), (5L, 6L))
    )
  }

  // Joins

  private def random(n: Int, seed: Int) = {
    val rng = new scala.util.Random(seed)
    def value = if (rng.nextInt(8) == 0) None else Some(rng.nextInt(4))
    Seq.tabulate(n)(i => (i.toLong, rng.shuffle(Seq("R", "S", "T")).head, value, value)).toDF("t", "type", "x", "y")
  }

  private def triples(df: DataFrame): Seq[String] =
    df.select("r.t", "s.t", "t.t").collect().map(_.toString).sorted.toSeq

  test("a hierarchical join, R(x), S(x, y), T(x, y), is ALL with PART-BY") {
    val events = random(60, 3)
    def of(kind: String) = events.where(s"type = '$kind'")
    val found = events.cer(
      "SELECT * FROM E WHERE (R AS r ALL ((S AS s ALL T AS t) PART-BY [s.y, t.y])) PART-BY [r.x, s.x, t.x]",
      time = "t"
    )
    val joined =
      of("R").as("r").join(of("S").as("s"), expr("r.x = s.x")).join(of("T").as("t"), expr("s.x = t.x AND s.y = t.y"))
    assertEquals(triples(found), triples(joined))
    assert(joined.count() > 20)
    assertEquals(found.select("match_id").distinct().count(), joined.count())
  }

  test("what chains cannot express, R(x), S(y), T(x), is right on the slower path") {
    val events = random(40, 4)
    def of(kind: String) = events.where(s"type = '$kind'")
    val found = events.cer("SELECT * FROM E WHERE (R AS r ALL S AS s ALL T AS t) FILTER r.x = t.x", time = "t")
    val joined = of("R").as("r").crossJoin(of("S").as("s")).join(of("T").as("t"), expr("r.x = t.x"))
    assertEquals(triples(found), triples(joined))
    assert(joined.count() > 100)
  }

  private val rst = "FROM E WHERE (R AS r ; S AS s ; T AS t) FILTER r.x = s.x AND s.y = t.y WITHIN 20 [t]"

  test("r, s, t: all matches as a join gives them, and DISTINCT the latest start of each t") {
    val events = random(300, 5)
    def of(kind: String) = events.where(s"type = '$kind'")
    val joined = of("R")
      .as("r")
      .join(of("S").as("s"), expr("r.x = s.x AND r.t < s.t"))
      .join(of("T").as("t"), expr("s.y = t.y AND s.t < t.t AND t.t - r.t <= 20"))
    assertEquals(triples(events.cer(s"SELECT * $rst")), triples(joined))
    val latest = joined.groupBy("t.t").agg(max("r.t").as("start")).selectExpr("start", "t")
    val distinct = events.cer(s"SELECT DISTINCT t[y] $rst")
    assertEquals(distinct.schema("t").dataType, StructType.fromDDL("y INT"): DataType)
    assertEquals(
      distinct.select("start", "end").as[(Long, Long)].collect().sorted.toSeq,
      latest.as[(Long, Long)].collect().sorted.toSeq
    )
    assert(distinct.count() > 20)
  }

  test("slices of time give what one task gives") {
    val events = random(3000, 6).withColumn("k", lit(1))
    for (text <- Seq(s"SELECT * $rst", s"SELECT DISTINCT t $rst", s"SELECT LAST * $rst", s"SELECT COUNT(*) $rst")) {
      val sliced = events.cer(text)
      val whole = events.cer(text.replace("WITHIN", "PARTITION BY [k] WITHIN"))
      def rows(df: DataFrame) = df.drop("match_id", "k").collect().map(_.toString).sorted.toSeq
      assertEquals(rows(sliced), rows(whole))
      assert(operator(sliced) { case r: RecognizeExec => r }.spread.isInstanceOf[Spread.BySlice])
      assert(sliced.count() > 100)
    }
  }

  // Streams

  test("a stream goes on after a restart as if there had been none") {
    val folder = Files.createTempDirectory("cer").toString
    val rng = new scala.util.Random(7)
    val events =
      Seq.tabulate(120)(i => (i.toLong, rng.shuffle(Seq("R", "S", "T")).head, rng.nextInt(3), rng.nextInt(3)))
    val text = s"SELECT r[t], s[t], t[t] $rst"
    val input = MemoryStream[(Long, String, Int, Int)]
    events.grouped(30).foreach { part =>
      toFiles(input.toDF().toDF("t", "type", "x", "y").cer(text), folder)(input.addData(part: _*): Unit)
    }
    val batch = events.toDF("t", "type", "x", "y").cer(text)
    def rows(df: DataFrame) = df.collect().map(_.toString).sorted.toSeq
    assertEquals(rows(spark.read.parquet(folder + "/out")), rows(batch))
    assert(batch.count() > 20)
  }

  // Errors

  private def refused(filter: String, params: (String, Any)*): String =
    intercept[AnalysisException](
      purchases.cer(s"SELECT * FROM S WHERE (buy AS x ; buy AS y) FILTER $filter", time = "t", params = params.toMap)
    ).getMessage.linesIterator.next()

  test("errors say what is wrong and where") {
    assertEquals(
      refused("x.crd = y.card"),
      "[CER_UNKNOWN_COLUMN] Line 1, column 54: 'crd' is not a column. The columns are type, t, card, price, country, note. Did you mean 'card'?"
    )
    assertEquals(
      refused("y[card = x.card AND pric > x.price]"),
      "[CER_UNKNOWN_COLUMN] Line 1, column 72: 'pric' is not a column. The columns are type, t, card, price, country, note. Did you mean 'price'?"
    )
    assertEquals(
      refused("y[note LIKE concat(x.notes, '%')]"),
      "[CER_UNKNOWN_COLUMN] Line 1, column 73: 'notes' is not a column. The columns are type, t, card, price, country, note. Did you mean 'note'?"
    )
    assertEquals(
      refused("array(x.t) = y.price"),
      "[CER_TYPE_MISMATCH] Line 1, column 52: Spark SQL cannot compare 'array(x.t)', which is ARRAY<BIGINT>, with 'y.price', which is DOUBLE."
    )
    val routine = refused("y[price > sqrtt(x.price)]")
    assert(
      routine.startsWith(
        "[CER_TYPE_MISMATCH] Line 1, column 54: Spark cannot use 'sqrtt(x.price)': [UNRESOLVED_ROUTINE]"
      ),
      routine
    )
    assertEquals(
      refused("y[t + x.t]"),
      "[CER_TYPE_MISMATCH] Line 1, column 54: the condition 't + x.t' is BIGINT, but it must be BOOLEAN."
    )
    assertEquals(
      refused("x.t + rand() < y.t"),
      "[CER_UNSUPPORTED] Line 1, column 52: a comparison between events cannot use a nondeterministic function: 'x.t + rand()'."
    )
    assertEquals(
      refused("y[current_date() > '2020-01-01' AND x.t = t]"),
      "[CER_UNSUPPORTED] Line 1, column 54: a comparison between events cannot use the current time: 'current_date() > '2020-01-01' AND x.t = t'."
    )
    assertEquals(
      refused("y[price > :f * x.price]"),
      "[CER_PARAMETER] Line 1, column 62: the parameter :f has no value. Give it one with params={\"f\": …}."
    )
  }

  test("what has no order or equality is refused, and PART-BY over types that lose values") {
    val events = Seq(("A", 1L, Map("a" -> 1), "1", 1)).toDF("type", "t", "m", "s", "n")
    def message(query: String) =
      intercept[AnalysisException](events.cer(query, time = "t")).getMessage.linesIterator.next()
    assert(
      message("SELECT * FROM S WHERE (A AS x ; A AS y) FILTER x.m = y.m").startsWith(
        "[CER_TYPE_MISMATCH] Line 1, column 48: Spark SQL cannot compare 'x.m', which is MAP<STRING, INT>, with 'y.m', which is MAP<STRING, INT>."
      )
    )
    assertEquals(
      message("SELECT * FROM S WHERE (A AS x ; A AS y) PART-BY [x.s, y.n]"),
      "[CER_TYPE_MISMATCH] Line 1, column 41: PART-BY [x.s, y.n] would compare 'x.s', which is STRING, as BIGINT, and that can make different values equal. Cast the columns to one type."
    )
    assertEquals(events.cer("SELECT * FROM S WHERE (A AS x ALL A AS y) PART-BY [x.t, y.n]", time = "t").count(), 1L)
  }

  test("an error of Spark's while events are read is Spark's own") {
    val e = intercept[ArithmeticException](
      purchases
        .cer("SELECT * FROM S WHERE (buy AS x ; buy AS y) FILTER x.price / (x.t - 1) < y.price", time = "t")
        .collect()
    )
    assert(e.getMessage.startsWith("[DIVIDE_BY_ZERO]"), e.getMessage)
  }
}
