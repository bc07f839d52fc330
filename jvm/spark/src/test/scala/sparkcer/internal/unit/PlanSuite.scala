package sparkcer.internal.unit

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer._
import sparkcer.internal.batch.RecognizeExec
import sparkcer.internal.prepare.PrepareExec
import sparkcer.internal.testkit.SparkSuite

/** The operators of a batch: what they compute, what they leave out, and what they tell. */
class PlanSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private val rng = new scala.util.Random(8)
  private val events = Seq
    .tabulate(400)(i =>
      (
        rng.shuffle(Seq("A", "B", "C", "X")).head,
        i.toLong,
        Option.when(i % 40 != 7)(s"k${rng.nextInt(3)}"),
        rng.nextInt(10),
        "text" * rng.nextInt(4),
        Seq(rng.nextInt(5), rng.nextInt(5))
      )
    )
    .toDF("type", "t", "key", "n", "note", "list")

  private val query =
    "SELECT * FROM S WHERE (A AS x ; B+ AS more ; C AS z) FILTER z[n < 3] PARTITION BY [key] WITHIN 30 [t]"

  private def metrics(p: SparkPlan): Map[String, Long] = p.metrics.map { case (n, m) => n -> m.value }

  test("columns nobody reads are not computed, and the others are the same") {
    val matches = events.cer(query)
    val all = matches.collect()
    assert(all.length > 50)
    val choices = Seq(
      Seq("match_id"),
      Seq("start", "end"),
      Seq("key", "x.n"),
      Seq("z"),
      Seq("more.note", "x.t"),
      Seq("match_id", "more.list"),
      Seq("end", "more", "z.note")
    )
    for (columns <- choices) {
      val read = matches.select(columns.map(col): _*).collect().map(_.toString).sorted.toSeq
      val expected =
        spark.createDataFrame(java.util.Arrays.asList(all: _*), matches.schema).select(columns.map(col): _*)
      assertEquals(read, expected.collect().map(_.toString).sorted.toSeq, columns.toString)
    }
    assertEquals(matches.count(), all.length.toLong)
  }

  test("a source that can leave columns out is not asked for those nobody reads") {
    val folder = java.nio.file.Files.createTempDirectory("plan").resolve("events").toString
    events.write.parquet(folder)
    def read(df: DataFrame): Set[String] =
      collectLeaves(df.queryExecution.executedPlan).flatMap(_.output.map(_.name)).toSet
    val matches = spark.read.parquet(folder).cer(query)
    assertEquals(read(matches), Set("type", "t", "key", "n", "note", "list"))
    assertEquals(read(matches.select("start", "x.note")), Set("type", "t", "key", "n", "note"))
    assertEquals(read(matches.groupBy("key").count()), Set("type", "t", "key", "n"))
    // The identity depends on all of an event.
    assertEquals(read(matches.select("match_id")), Set("type", "t", "key", "n", "note", "list"))
  }

  test("metrics of a batch") {
    val some = events.withColumn("t", when($"n" =!= 9, $"t")) // no time where n is 9
    val matches = some.cer(query)
    val found = matches.collect().length
    val before = metrics(operator(matches) { case p: PrepareExec => p })
    val (noTime, timed) = (some.where("t IS NULL").count(), some.where("t IS NOT NULL"))
    assertEquals(before("events"), 400L)
    assertEquals(before("nullTimes"), noTime)
    assertEquals(before("nullKeys"), timed.where("key IS NULL").count())
    assertEquals(
      before("dropped"),
      timed.where("key IS NOT NULL AND (type = 'X' OR type = 'C' AND n >= 3)").count()
    )
    val after = metrics(operator(matches) { case p: RecognizeExec => p })
    assertEquals(after("matches"), found.toLong)
    assertEquals(after("keys"), 3L)
    assert(after("largest") > 0 && after("nodes") > 0, after.toString)
  }

  test("what stands beside PREV drops events where they are read") {
    val rising = events.cer("SELECT x[t] FROM S WHERE A+ AS x FILTER x[n > 7 AND n > PREV.n] WITHIN 30 [t]")
    assert(rising.collect().nonEmpty)
    val before = metrics(operator(rising) { case p: PrepareExec => p })
    assertEquals(before("dropped"), events.where("type <> 'A' OR n <= 7").count())
  }

  test("more than 64 conditions, with and without generated code") {
    val names = (0 until 70).map(i => s"T$i")
    val many = (0 until 500).map(i => (names(rng.nextInt(70)), i.toLong, rng.nextInt(4))).toDF("type", "t", "n")
    val pattern = names.map(n => s"$n AS v").mkString(" OR ")
    val text = s"SELECT v, w FROM S WHERE (($pattern) ; T69 AS w) FILTER w[n < 2] WITHIN 5 [t]"
    def rows = many.cer(text).select("v.type", "v.t", "w.t").collect().map(_.toString).sorted.toSeq
    val generated = rows
    assert(generated.length > 5)
    assertEquals(many.cer(text).count(), expectedPairs(many))
    withConf("spark.sql.codegen.wholeStage" -> "false")(assertEquals(rows, generated))
  }

  private def expectedPairs(many: DataFrame): Long = {
    val (v, w) = (many.as("v"), many.where("type = 'T69' AND n < 2").as("w"))
    v.join(w, expr("v.t < w.t AND w.t - v.t <= 5")).count()
  }

  test("a condition that has no generated code") {
    val text = query.replace("z[n < 3]", "z[exists(list, e -> e = 1)]")
    val rows = events.cer(text).select("x.t", "z.t").collect().map(_.toString).sorted.toSeq
    val flagged = events.withColumn("n", when(expr("exists(list, e -> e = 1)"), 1).otherwise(9))
    assertEquals(rows, flagged.cer(query).select("x.t", "z.t").collect().map(_.toString).sorted.toSeq)
    assert(rows.nonEmpty)
  }

  test("matches are a DataFrame like any other: joined with themselves, united, cached") {
    val matches = events.cer(query)
    val n = matches.count()
    assertEquals(matches.as("a").join(matches.as("b"), $"a.match_id" === $"b.match_id").count(), n)
    assertEquals(matches.union(matches).groupBy("match_id").count().where("count = 2").count(), n)
    val cached = matches.cache()
    try assertEquals((cached.count(), cached.select("x.n").count()), (n, n))
    finally cached.unpersist(): Unit
    // The matches are events again.
    val longer = matches
      .select(lit("M").as("type"), $"end".as("t"), $"key")
      .cer(
        "SELECT * FROM M WHERE (M AS a ; M AS b) PARTITION BY [key] WITHIN 5 [t]"
      )
    assert(longer.count() > 0)
  }

  test("the plan says how the work is spread") {
    def plan(text: String) = events.cer(text, time = "t").queryExecution.executedPlan.toString
    assert(plan(query).contains("CerRecognize by key"))
    assert(plan("SELECT * FROM S WHERE A ; B WITHIN 3 [t]").contains("CerRecognize by slices of time"))
    assert(
      plan("SELECT * FROM S WHERE A ; B WITHIN 3 EVENTS")
        .contains("CerRecognize on one task, because there is no PARTITION BY and WITHIN counts events")
    )
    assert(
      plan("SELECT * FROM S WHERE A ; B PARTITION BY [key] WITHIN 3 [t] CONSUME BY ANY")
        .contains("on one task, because CONSUME BY ANY orders all keys")
    )
  }

  test("WITHIN over a column that falls is an error that names both events") {
    val text = "SELECT * FROM S WHERE A ; B WITHIN 5 [seq]"
    def run(seqs: Int*) = seqs.zipWithIndex
      .map { case (s, i) =>
        (if (i == seqs.length - 1) "B" else "A", java.sql.Timestamp.from(java.time.Instant.ofEpochSecond(i.toLong)), s)
      }
      .toDF("type", "ts", "seq")
      .cer(text, time = "ts")
      .count()
    assertEquals(run(1, 3, 3, 9), 0L)
    assertEquals(run(1, 3, 3, 8), 2L)
    val e = intercept[CerRuntimeException](run(1, 7, 5, 9))
    assert(
      e.getMessage.startsWith(
        "[CER_WINDOW_DECREASES] The column of WITHIN must not decrease along the stream, but it is 7 in an event at 1970-01-01T00:00:01Z, and 5 in a later event at 1970-01-01T00:00:02Z."
      ),
      e.getMessage
    )
  }

  test("an empty input gives no matches") {
    assertEquals(events.where("false").cer(query).collect().toSeq, Seq.empty[Row])
  }
}
