package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.cerbridge.Listeners
import org.apache.spark.sql.streaming.StreamingQuery

import sparkcer._
import sparkcer.internal.bind.Options
import sparkcer.internal.rules.Rule
import sparkcer.internal.testkit.{Logged, SparkSuite}
import sparkcer.internal.testkit.Memory.MemoryStream

/** Streams of rule sets that are started again with other rules, or with other columns. */
class RuleChangesSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def at(seconds: Int) = new Timestamp(1700000000000L + 1000L * seconds)

  private type Event = (String, Timestamp, String, String)

  /** A stream on one checkpoint, whose events get these columns beside `type`, `ts` and `k`. */
  final private class Restarted(watermark: Boolean) {
    private val input = MemoryStream[Event]
    private val checkpoint = Files.createTempDirectory("cer").toString
    val rows = new ConcurrentLinkedQueue[Row]
    private val collect: (DataFrame, Long) => Unit = (df, _) => df.collect().foreach(r => rows.add(r): Unit)

    /** Returns the metrics of the run, and what it has logged. */
    def run(rules: Seq[Rule], columns: Seq[String], lateRows: Boolean = false)(
        parts: Seq[Event]*
    ): (Vector[Row], Vector[String]) = {
      var running: StreamingQuery = null
      val said = Logged.during("sparkcer") {
        val read = input.toDF().toDF("type", "ts", "k", "note").selectExpr(Seq("type", "ts", "k") ++ columns: _*)
        val stream = if (watermark) read.withWatermark("ts", "0 seconds") else read
        val options = Options(time = Some("ts"), lateRows = lateRows)
        running = CerRules(stream, rules, options, skipInvalid = false).writeStream
          .foreachBatch(collect)
          .option("checkpointLocation", checkpoint)
          .start()
        try
          parts.foreach { part =>
            input.addData(part: _*)
            running.processAllAvailable()
          }
        finally running.stop()
        Listeners.waitForAll(spark)
      }
      (running.recentProgress.toVector.flatMap(_.observedMetrics.asScala.values), said)
    }

    def found: Vector[(String, String, String)] = rows.asScala.toVector
      .map(r => (r.getAs[String]("rule_id"), r.getAs[collection.Map[String, String]]("key")("k"), r.getString(1)))
      .sorted
  }

  private def names(metrics: Vector[Row], column: String): Vector[String] =
    metrics.flatMap(m => m.getSeq[String](m.fieldIndex(column)))

  private val pair = "SELECT * FROM S WHERE (A AS a ; B AS b) PARTITION BY [k] WITHIN 1 hour"
  private val rules = Vector(
    Rule("whole", pair),
    Rule("one", pair.replace("*", "a")),
    Rule("part", pair.replace("*", "a[ts]")),
    Rule("measure", pair.replace("*", "a, max(b.ts) AS latest")),
    Rule("equal", "SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a.k = b.k PARTITION BY [k] WITHIN 1 hour")
  )

  private val keys = (0 until 6).map(i => s"k$i")
  private val first = keys.map(k => ("A", at(10), k, "n"))
  // Each later than the one before: those of a later run are not late.
  private val second = keys.zipWithIndex.map { case (k, i) => ("B", at(20 + i), k, "m") }
  private val last = Seq(("X", at(90000), "k0", ""))

  for ((watermark, lateRows) <- Seq(true -> false, false -> false, true -> true))
    test(s"rules go on when a column is added (watermark: $watermark, late rows: $lateRows)") {
      val still = new Restarted(watermark)
      still.run(rules, Nil, lateRows)(first, second, last)
      assertEquals(still.found.length, rules.length * keys.length)
      // In the middle and at the end; and once more, on what the first restart has left.
      val columns = Seq("upper(k) AS l", "note")
      val changed = new Restarted(watermark)
      changed.run(rules, Nil, lateRows)(first)
      val (metrics, said) = changed.run(rules.reverse, columns, lateRows)(second.take(3))
      changed.run(rules, columns :+ "length(note) AS more", lateRows)(second.drop(3), last)
      assertEquals(changed.found, still.found)
      assertEquals(names(metrics, "begunAnew") ++ names(metrics, "gone"), Vector.empty)
      assert(!said.exists(_.contains("saved state")), said)
      // The new columns are shown, and are NULL in events from before.
      val whole = changed.rows.asScala.find(_.getString(0) == "whole").get
      val notes = whole.getSeq[Row](whole.fieldIndex("events")).map(_.getStruct(1).getAs[String]("note"))
      assertEquals(notes.toVector, Vector(null, "m"))
    }

  test("a rule whose state is dropped is named in the metrics and in a warning") {
    val stream = new Restarted(watermark = true)
    stream.run(rules, Seq("note"))(first)
    val changed = rules.updated(0, rules(0).copy(query = pair.replace("1 hour", "2 hours"))).filterNot(_.id == "part")
    val (metrics, said) = stream.run(changed, Nil)(second)
    // One has changed, and the others have lost a column.
    assertEquals(names(metrics, "begunAnew"), Vector("equal", "measure", "one", "whole"))
    assertEquals(names(metrics, "gone"), Vector("part"))
    val warnings = said.filter(_.contains("begin anew"))
    assertEquals(
      warnings,
      Vector(
        "[CER_RULES] The saved state of these rules is dropped, and they begin anew: equal, measure, one, whole. Their query, " +
          "its parameters, or the columns of the events are not as before, or this version of spark-cer compiles them in another way."
      )
    )
    assertEquals(stream.found, Vector.empty)
  }

  test("a set over several streams returns what it returns over batches, after a restart too, and reads each once") {
    def events(types: Seq[String], offset: Int) =
      (0 until 24).map(i => (types(i % types.length), at(10 + 3 * i + offset), keys(i % 3), s"n$i"))
    val all = Seq("Buys" -> events(Seq("A", "B"), 0), "Sells" -> events(Seq("B", "A", "C"), 1))
    val inputs = all.map { case (name, its) => (name, its, MemoryStream[Event]) }
    val rules = Map(
      "both" -> "SELECT * FROM Buys, Sells WHERE (A AS a ; B AS b) PARTITION BY [k] WITHIN 20 seconds",
      "far" -> "SELECT NEXT * FROM Buys, Sells WHERE (Buys>A AS a ; Sells>C AS c) WITHIN 1 minute",
      "one" -> "SELECT * FROM Sells WHERE (A AS a : C AS c) WITHIN 1 minute"
    ).map { case (id, q) => Rule(id, q) }.toSeq.sortBy(_.id)
    val checkpoint = Files.createTempDirectory("cer").toString
    val found = new ConcurrentLinkedQueue[String]
    def shown(df: DataFrame) =
      df.select("rule_id", "match_id", "start", "end").collect().toVector.map(_.mkString(" ")).sorted
    val collect: (DataFrame, Long) => Unit = (df, _) => shown(df).foreach(r => found.add(r): Unit)
    def run(rules: Seq[Rule], from: Int, to: Int): Unit = {
      val streams = inputs.map { case (name, _, input) =>
        name -> input.toDF().toDF("type", "ts", "k", "note").withWatermark("ts", "0 seconds")
      }
      val running = CerRules
        .over(streams, rules, Options(), skipInvalid = false)
        .writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", checkpoint)
        .start()
      try {
        inputs.foreach { case (_, its, input) => input.addData(its.slice(from, to)) }
        running.processAllAvailable()
        assertEquals(running.recentProgress.map(_.sources.length).toSet, Set(2))
        // Each event is read once, whichever rules have its input.
        assertEquals(running.recentProgress.map(_.numInputRows).sum, (if (from < to) 2L * (to - from) else 2L))
      } finally running.stop()
    }
    run(rules, 0, 10)
    run(rules.reverse, 10, 24)
    inputs.foreach { case (_, _, input) => input.addData(("Z", at(90000), "k0", "")) }
    run(rules, 24, 24)
    val batches = all.map { case (name, its) =>
      name -> (its :+ (("Z", at(90000), "k0", ""))).toDF("type", "ts", "k", "note")
    }
    val right = shown(CerRules.over(batches, rules, Options(time = Some("ts")), skipInvalid = false))
    assertEquals(found.asScala.toVector.sorted, right)
    rules.foreach(r => assert(right.count(_.startsWith(s"${r.id} ")) > 3, right))
  }

  test("the bytes of an event are saved once, whatever the number of rules, also after a restart") {
    def bytes(n: Int): Vector[Long] = {
      val stream = new Restarted(watermark = true)
      val rules = (1 to n).map(i => Rule(s"r$i", pair.replace("1 hour", s"$i hours")))
      val large = "x" * 5000
      val events = (0 until 40).map(i => ("A", at(i), "k", s"$i$large"))
      val runs = Seq(events.take(20), events.drop(20)).map(part => stream.run(rules, Seq("note"))(part)._1)
      runs.map(metrics => metrics.map(_.getAs[Long]("bytes")).max).toVector
    }
    val (one, ten) = (bytes(1), bytes(10))
    assert(one.head > 20 * 5000 && one.last > 40 * 5000, one)
    assert(ten.zip(one).forall { case (t, o) => t < 1.2 * o }, (one, ten))
  }
}
