package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.functions.lit

import sparkcer._
import sparkcer.engine.evaluate.Program
import sparkcer.internal.rules.{Rule, RuleEventsExec, RuleExplanation, RuleRecognizeExec}
import sparkcer.internal.bind.Options
import sparkcer.internal.testkit.Memory.MemoryStream
import sparkcer.internal.testkit.SparkSuite

/** What is particular to sets of rules. RulesSuite has the law that a set is the union of its rules. */
class RuleSetSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private val events = Seq(("A", 1, "x", 1), ("A", 2, "y", 2), ("B", 3, "x", 3), ("C", 4, null, 4), ("B", 5, "y", 5))
    .toDF("type", "t", "k", "n")
  private val pairs = "SELECT * FROM S WHERE (A AS a ; B AS b) PARTITION BY [k] WITHIN 10 [t]"

  private def metric(df: DataFrame, name: String): Long =
    operator(df) { case e: RuleEventsExec => e }.metrics(name).value

  test("rules with different PARTITION BY read one scan and share one shuffle") {
    val folder = Files.createTempDirectory("cer").toString
    events.withColumn("unread", lit("x")).write.mode("overwrite").parquet(folder)
    val read = spark.read.parquet(folder)
    val few = pairs.replace("*", "a[n]")
    val df =
      read.cerRules(
        Map("p" -> few, "q" -> few.replace(" PARTITION BY [k]", ""), "c" -> few, "K" -> few.replace("[k]", "[K]")),
        time = "t"
      )
    assertEquals(df.collect().length, 2 + 4 + 2 + 2)
    val plan = df.queryExecution.executedPlan
    assertEquals(
      collect(plan) { case s: FileSourceScanExec => s }.map(_.schema.fieldNames.toSet),
      Seq(Set("type", "t", "k", "n"))
    )
    assertEquals(collect(plan) { case s: ShuffleExchangeLike => s }.length, 1)
    assertEquals(collect(plan) { case r: RuleRecognizeExec => r }.map(_.set.groups), Seq(2))
    // C meets no condition; each other event goes to both groups.
    assertEquals(Seq("events", "dropped", "sent").map(metric(df, _)), Seq(5L, 1L, 8L))
  }

  test("equal conditions are evaluated once, however they are written") {
    val rules = Seq("a[n > 1 AND t < 9]", "a[t < 9 AND n > 1]", "a[1 < n AND 9 > t]").zipWithIndex.map { case (c, i) =>
      s"r$i" -> s"SELECT a FROM S WHERE A AS a FILTER $c"
    }
    val df = events.cerRules(rules.toMap, time = "t")
    assertEquals(df.collect().length, 3)
    val sets = collect(df.queryExecution.executedPlan) { case r: RuleRecognizeExec => r.set }
    assertEquals(sets.flatMap(_.rules.flatMap(_.conditions)).distinct.length, 1)
  }

  test("a rule that asks for the current time is refused") {
    val refused = Seq(
      "SELECT * FROM S WHERE A FILTER A[n < unix_timestamp()]",
      "SELECT * FROM S WHERE A FILTER A[current_timestamp > TIMESTAMP'2026-01-01' AND n > 0]",
      "SELECT a, max(a.n) + year(now()) AS y FROM S WHERE A AS a",
      "SELECT * FROM S WHERE A AS a HAVING max(a.n) < year(current_date())"
    )
    refused.foreach { q =>
      val e = intercept[CerException](events.cerRules(Map("r" -> q), time = "t"))
      assert(
        e.getMessage.contains("Rule 'r': [CER_RULES] A rule of a set cannot ask for the current time"),
        e.getMessage
      )
    }
    val user = "SELECT * FROM S WHERE A FILTER A[current_user() != 'nobody']"
    assertEquals(events.cerRules(Map("r" -> user), time = "t").count(), 2L)
  }

  test("keys of any type are text, and the order column decides between equal times") {
    val timed = events.withColumn("day", lit("2026-03-02").cast("DATE")).withColumn("t", lit(7))
    val query = "SELECT * FROM S WHERE (A AS a ; B AS b) PARTITION BY [day, n] WITHIN 10 [t]"
    val one = Seq(("A", 7, 2), ("B", 7, 1)).toDF("type", "t", "n").withColumn("day", lit("2026-03-02").cast("DATE"))
    def count(order: String) =
      one.withColumn("m", lit(1)).cerRules(Map("r" -> query.replace("n]", "m]")), time = "t", order = order)
    assertEquals(count("n").count(), 0L)
    val found = count(null).selectExpr("key['day']", "key['m']").as[(String, String)].collect().toSeq
    assertEquals(found, Seq("2026-03-02" -> "1"))
    assertEquals(timed.cerRules(Map("r" -> query), time = "t").count(), 0L)
  }

  test("rules with parameters are the same query with different values") {
    val query = "SELECT a FROM S WHERE A AS a FILTER a[n >= :least]"
    val rules = (1 to 3).map(i => Rule(s"r$i", query, Map("least" -> i)))
    val found = CerRules(events, rules, Options(time = Some("t")), skipInvalid = false)
    assertEquals(found.groupBy("rule_id").count().as[(String, Long)].collect().toMap, Map("r1" -> 2L, "r2" -> 1L))
  }

  test("a rule sees the inputs that its FROM names") {
    val buys = Seq(("B", 1, "x"), ("B", 4, "x")).toDF("kind", "t", "k")
    val sells = Seq((2, "x", 7.0), (3, "x", 8.0)).toDF("t", "k", "price")
    val rules = Map(
      "both" -> "SELECT * FROM Buys, Sells WHERE (Buys AS b ; Sells AS s) PARTITION BY [k]",
      "pair" -> "SELECT * FROM Sells WHERE (Sells AS a : Sells AS b) PARTITION BY [k]",
      "none" -> "SELECT * FROM Buys WHERE (Buys AS a : Buys AS b : Buys AS c) PARTITION BY [k]",
      "far" -> "SELECT * FROM Buys WHERE (Buys AS a : Buys AS b) PARTITION BY [k]",
      "left" -> "SELECT * FROM Sells WHERE Sells AS s ; NO Sells FOR 1 [t]"
    )
    val found = rulesOver(rules, Seq("Buys" -> buys, "Sells" -> sells), time = "t")
    def of(rule: String) = found.where($"rule_id" === rule).select("start", "end").as[(Int, Int)].collect().toSet
    assertEquals(of("both"), Set((1, 2), (1, 3)))
    // Neighbours are those of the rule's own inputs.
    assertEquals((of("pair"), of("none"), of("far")), (Set((2, 3)), Set.empty[(Int, Int)], Set((1, 4))))
    // Sells end at 3, and what comes of Buys after that does not make them complete.
    assertEquals(of("left"), Set.empty[(Int, Int)])
    val events = found.where("rule_id = 'both' AND end = 2").selectExpr("inline(events)").select("event.*")
    assertEquals(events.columns.toSeq, Seq("kind", "t", "k", "type", "price"))
    assertEquals(
      events.orderBy("t").collect().toSeq.map(_.mkString(" ")),
      Seq("B 1 x Buys null", "null 2 x Sells 7.0")
    )
  }

  test("until is for the rules that wait") {
    val wait = "SELECT * FROM S WHERE A AS a ; NO B FOR 100 [t]"
    val found = events.cerRules(Map("p" -> pairs, "w" -> wait), time = "t", until = "forever")
    assertEquals(found.groupBy("rule_id").count().as[(String, Long)].collect().toMap, Map("p" -> 2L))
    val none = events.where("type = 'A'").cerRules(Map("p" -> pairs, "w" -> wait), time = "t", until = "forever")
    assertEquals(none.groupBy("rule_id").count().as[(String, Long)].collect().toMap, Map("w" -> 2L))
    intercept[CerException](events.cerRules(Map("p" -> pairs), time = "t", until = "forever"))
  }

  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def at(seconds: Int) = new Timestamp(1700000000000L + 1000L * seconds)

  test("the rules of a stream tell what they cost, and a late event is one row of the set") {
    val input = MemoryStream[(String, Timestamp, String, String)]
    val stream = input.toDF().toDF("type", "ts", "k", "m").withWatermark("ts", "2 seconds")
    val pair = "SELECT * FROM S WHERE (A AS a ; B AS b)"
    val rules = Map(
      "k" -> s"$pair PARTITION BY [k] WITHIN 10 seconds",
      "m" -> s"$pair PARTITION BY [m] WITHIN 10 seconds",
      "none" -> "SELECT * FROM S WHERE Z PARTITION BY [k] WITHIN 10 seconds",
      "wrong" -> "SELECT"
    )
    val rows = new ConcurrentLinkedQueue[Row]
    val collect: (DataFrame, Long) => Unit = (df, _) => df.collect().foreach(r => rows.add(r): Unit)
    val found = stream.cerRules(rules, lateRows = true, skipInvalid = true)
    val running = found.writeStream
      .foreachBatch(collect)
      .option("checkpointLocation", Files.createTempDirectory("cer").toString)
      .start()
    try
      Seq(
        Seq(("A", at(10), "x", "v"), ("B", at(11), "x", "w"), ("C", at(12), "x", "w")),
        Seq(("C", at(30), "x", "v")),
        Seq(("A", at(5), "x", "v"), ("A", at(31), "x", "v"))
      ).foreach { part =>
        input.addData(part: _*)
        running.processAllAvailable()
      }
    finally running.stop()
    val (late, matches) = rows.asScala.toVector.partition(_.isNullAt(0))
    assertEquals(matches.map(_.getString(0)), Vector("k"))
    assertEquals(late.map(_.getAs[Row]("late").getAs[Timestamp]("ts")), Vector(at(5)))
    val metrics = running.recentProgress.toVector.flatMap(_.observedMetrics.asScala.values)
    assertEquals(metrics.map(_.getAs[Long]("late")).sum, 1L)
    assert(metrics.forall(_.getAs[Long]("skipped") == 1L), metrics)
    assert(metrics.map(_.getAs[Long]("held")).max > 0, metrics)
    val costs = metrics.flatMap(_.getSeq[Row](metrics.head.fieldIndex("rules")))
    def sum(rule: String, column: String) = costs.filter(_.getString(0) == rule).map(_.getAs[Long](column)).sum
    assertEquals(Seq("k", "m").map(sum(_, "events")), Seq(4L, 4L))
    assertEquals(Seq("k", "m").map(sum(_, "matches")), Seq(1L, 0L))
    assert(sum("k", "nodes") > 0 && sum("k", "bytes") > 0, costs)
    assertEquals(sum("none", "events"), 0L)
  }

  test("a rule that was away begins anew, also for keys without events in the meantime") {
    val input = MemoryStream[(String, Timestamp, String)]
    val checkpoint = Files.createTempDirectory("cer").toString
    val rows = new ConcurrentLinkedQueue[String]
    val pair = Rule("pair", "SELECT * FROM S WHERE (A AS a ; B AS b) PARTITION BY [k] WITHIN 1 hour")
    val other = Rule("other", "SELECT * FROM S WHERE C AS c PARTITION BY [k] WITHIN 1 hour")
    def run(rules: Seq[Rule], events: (String, Timestamp, String)*): Unit = {
      val stream = input.toDF().toDF("type", "ts", "k").withWatermark("ts", "0 seconds")
      val collect: (DataFrame, Long) => Unit =
        (df, _) => df.select("rule_id").as[String].collect().foreach(r => rows.add(r): Unit)
      val running = CerRules(stream, rules, Options(), skipInvalid = false).writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", checkpoint)
        .start()
      try {
        input.addData(events: _*)
        running.processAllAvailable()
      } finally running.stop()
    }
    val keys = (0 until 10).map(i => s"k$i")
    run(Seq(pair, other), keys.map(("A", at(10), _)) :+ (("X", at(11), "k0")): _*)
    run(Seq(other), ("C", at(20), "k0"))
    run(Seq(pair, other), (keys.map(("B", at(30), _)) ++ keys.map(("A", at(40), _)): _*))
    run(Seq(other, pair), (keys.map(("B", at(50), _)) :+ (("X", at(60), "k0")): _*))
    assertEquals(rows.asScala.toVector.sorted, "other" +: Vector.fill(10)("pair"))
  }

  test("a wrong condition of any kind names its rule") {
    val wrong = Map(
      "column" -> "nothing > 1",
      "alias" -> "n > 1 more",
      "aggregate" -> "sum(n) > 1",
      "window" -> "row_number() OVER (ORDER BY n) > 1",
      "type" -> "n + 1",
      "random" -> "rand() > 0.5",
      "syntax" -> "n >"
    )
    val rules = (wrong + ("right" -> "n > 1")).map { case (id, c) => id -> s"SELECT * FROM S WHERE A FILTER A[$c]" }
    wrong.keys.foreach { id =>
      val refused = intercept[CerException](events.cerRules(rules.view.filterKeys(Set(id, "right")).toMap, time = "t"))
      assert(refused.getMessage.contains(s"Rule '$id': [CER_"), refused.getMessage)
      assert(refused.getMessage.contains("1 of 2 rules are wrong"), refused.getMessage)
    }
    assertEquals(events.cerRules(rules, time = "t", skipInvalid = true).count(), 1L)
  }

  test("explain says what rules share, and what they cost each other") {
    val programs = Vector(
      "pairs" -> pairs,
      "next" -> "SELECT * FROM S WHERE (A AS a : NOT(C) : B AS b) PARTITION BY [k]",
      "all" -> "SELECT * FROM S WHERE A ; C"
    ).map { case (id, q) => id -> Program(q) }
    assertEquals(
      RuleExplanation(programs),
      """Rules
        |  3 rules, 4 different conditions, 2 of them in several rules
        |
        |Shuffles, one for each list of PARTITION BY columns
        |  without PARTITION BY, on one task: all
        |  by k: next, pairs
        |
        |Conditions in several rules, evaluated once
        |  A: all, next, pairs
        |  B: next, pairs
        |
        |Conditions that are evaluated for every event, because they name no type
        |  NOT(C): next
        |
        |Rules that read every event of their keys, so that none is dropped in their shuffle
        |  next""".stripMargin
    )
  }
}
