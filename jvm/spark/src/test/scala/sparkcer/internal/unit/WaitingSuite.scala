package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.{Date, Timestamp}

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.streaming.Trigger

import sparkcer._
import sparkcer.internal.batch.{RecognizeExec, Spread}
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream

/** `NO … FOR` at the end of a query, whose matches end when no event comes, and at its beginning. */
class WaitingSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private val gaps = "SELECT h FROM S WHERE beat AS h ; NO beat FOR 4 [t] PARTITION BY [key]"
  private val beats =
    Seq((0L, "a"), (1L, "b"), (3L, "a"), (4L, "b"), (6L, "a"), (20L, "a"), (30L, "z")).map { case (t, k) =>
      ("beat", t, k)
    }
  private def batch(rows: (String, Long, String)*): DataFrame = rows.toDF("type", "t", "key")

  private def ends(df: DataFrame): Seq[String] =
    df.selectExpr("concat_ws(' ', key, start, end)").as[String].collect().toSeq.sorted

  test("a batch knows its events up to the last one, or up to a time that the caller knows") {
    val events = batch(beats: _*)
    assertEquals(ends(events.cer(gaps, time = "t")), Seq("a 20 24", "a 6 10", "b 4 8"))
    assertEquals(ends(events.cer(gaps, time = "t", until = "10")), Seq("a 6 10", "b 4 8"))
    assertEquals(ends(events.cer(gaps, time = "t", until = "9")), Seq("b 4 8"))
    assertEquals(ends(events.cer(gaps, time = "t", until = "forever")), Seq("a 20 24", "a 6 10", "b 4 8", "z 30 34"))
    assertEquals(ends(events.where("false").cer(gaps, time = "t")), Seq.empty)
  }

  test("the last event counts, whatever it is") {
    val others = Seq(("noise", 24L, "a"), ("beat", 24L, null))
    others.foreach(o => assertEquals(ends(batch(beats.take(6) :+ o: _*).cer(gaps, time = "t")).length, 3))
  }

  test("an event at the deadline is in time, and one after it is not") {
    def found(t: Long) = ends(
      batch(("A", 0, "k"), ("B", t, "k"), ("X", 99, "k"))
        .cer("SELECT * FROM S WHERE A ; NO B FOR 5 [t] PARTITION BY [key]", time = "t")
    )
    assertEquals(found(5), Seq.empty)
    assertEquals(found(6), Seq("k 0 5"))
  }

  test("by slices of time, and by key in the order of time: the same matches, with every strategy and equal times") {
    val rng = new scala.util.Random(5)
    // Several events have one time, and the column n orders them.
    val events = (0 until 4000)
      .map(i => (rng.shuffle(Seq("A", "B", "C")).head, i * 3L / 2 + rng.nextInt(2), "k", i))
      .sortBy(e => (e._2, e._4))
      .toDF("type", "t", "key", "n")
    val patterns = Seq(
      "A ; NO B FOR 7 [t]",
      "(A ; C) ; NO (B FILTER B[t % 2 = 0]) FOR 7 [t]",
      "(A AS x ; C) ; NO (B FILTER B.t % 5 = x.t % 5) FOR 7 [t]",
      "NO (B FILTER B[t % 20 = 0]) FOR 40 [t] ; A ; C",
      "(A ; NO B FOR 7 [t]) OR (C ; NO B FOR 9 [t]) OR (NO (B FILTER B[t % 50 = 0]) FOR 90 [t] ; C AS d ; A AS e)"
    )
    for ((pattern, i) <- patterns.zipWithIndex) {
      for (strategy <- Seq("", Seq("STRICT ", "LAST ", "NEXT ", "STRICT ", "MAX ")(i))) {
        def run(rest: String) = events
          .cer(s"SELECT $strategy* FROM S WHERE $pattern WITHIN 20 [t]$rest", time = "t", order = "n")
        def rows(found: DataFrame) = {
          val variables = found.columns.filterNot(Seq("match_id", "key", "start", "end").contains)
          val read = found.selectExpr(Seq("start", "end") ++ variables.map(v => s"`$v`.n AS `$v`"): _*)
          read.collect().map(_.toString).toSeq.sorted
        }
        val (sliced, byKey) = (run(""), run(" PARTITION BY [key]"))
        assertEquals((spreadOf(sliced), spreadOf(byKey)), ("by slices of time", "by key"))
        val found = rows(sliced)
        assert(found.length > 100, s"$strategy $pattern: ${found.length}")
        assertEquals(rows(byKey), found, s"$strategy $pattern")
      }
    }
  }

  private def spreadOf(df: DataFrame): String = spread(df).words
  private def spread(df: DataFrame): Spread = operator(df) { case r: RecognizeExec => r }.spread

  test("on one task, because all keys are consumed, and by key where nothing bounds a match: each has its deadlines") {
    val all = batch(beats :+ (("X", 40L, "a")): _*)
    val consumed = all.cer(gaps + " CONSUME BY ANY", time = "t")
    assert(spreadOf(consumed).startsWith("on one task"), spreadOf(consumed))
    assertEquals(ends(consumed), Seq("a 20 24", "b 4 8", "z 30 34"))
    // Without WITHIN the keys of a batch are read one after the other.
    val grouped = all.cer("SELECT * FROM S WHERE beat AS h ; beat ; NO beat FOR 4 [t] PARTITION BY [key]", time = "t")
    assertEquals(spread(grouped), Spread.ByKey(inTime = false): Spread)
    assertEquals(ends(grouped), Seq("a 0 10", "a 0 24", "a 3 10", "a 3 24", "a 6 24", "b 1 8"))
  }

  test("before a match, the time can also be a floating-point number, and WITHIN about another column") {
    val events =
      Seq(("B", 0, 0), ("A", 3, 1), ("B", 4, 2), ("A", 8, 3), ("A", 9, 4))
        .toDF("type", "t", "n")
        .withColumn("x", $"t" / 2.0)
    def starts(query: String, time: String) =
      events.cer(s"SELECT y FROM S WHERE $query", time = time).selectExpr("y.t").as[Int].collect().toSeq.sorted
    assertEquals(starts("NO B FOR 2.0 [x] ; A AS y", "x"), Seq(9))
    assertEquals(starts("NO B FOR 1.5 [x] ; A AS y", "x"), Seq(8, 9))
    assertEquals(starts("NO B FOR 4 [t] ; A AS y ; A WITHIN 1 [n]", "t"), Seq.empty)
    assertEquals(starts("NO B FOR 3 [t] ; A AS y ; A WITHIN 1 [n]", "t"), Seq(8))
    assertEquals(starts("NO B FOR 3 [t] ; A AS y ; A WITHIN 1 EVENTS", "t"), Seq(8))
  }

  test("the time can be a timestamp, a date or a decimal") {
    val events = Seq(("A", 0), ("A", 3), ("B", 4), ("X", 30))
      .map { case (k, d) =>
        (k, new Timestamp(d * 86400000L), Date.valueOf(s"2026-03-${d + 1}"), BigDecimal(d) / 2)
      }
      .toDF("type", "ts", "day", "n")
      .withColumn("n", $"n".cast("DECIMAL(10, 2)"))
    def count(time: String, length: String) =
      events.cer(s"SELECT * FROM S WHERE A ; NO B FOR $length", time = time).count()
    for ((length, n) <- Seq("3 days" -> 1L, "4 days" -> 0L); time <- Seq("ts", "day"))
      assertEquals(count(time, length), n, s"$time $length")
    assertEquals(count("n", "1.75 [n]"), 1L)
    assertEquals(count("n", "2 [n]"), 0L)
  }

  test("COUNT(*) has a row for each deadline, and HAVING is asked of it") {
    val events = batch(("A", 0, "k"), ("A", 1, "k"), ("X", 20, "k"))
    assertEquals(
      events
        .cer("SELECT COUNT(*) FROM S WHERE A+ ; NO B FOR 5 [t] WITHIN 9 [t] HAVING matches > 1", time = "t")
        .collect()
        .toSeq,
      Seq(Row(6L, 2L))
    )
  }

  private def at(seconds: Int) = new Timestamp(1700000000000L + 1000L * seconds)
  private val left = "SELECT c FROM S WHERE cart AS c ; NO pay FOR 10 seconds PARTITION BY [key]"

  private def rows(name: String) =
    spark.table(name).selectExpr("key", "cast(end AS LONG) - 1700000000").as[(String, Long)].collect().toSeq.sorted

  test("a stream returns a match when the watermark has passed its deadline, also of a key without further events") {
    val input = MemoryStream[(String, Timestamp, String)]
    val running = input
      .toDF()
      .toDF("type", "ts", "key")
      .withWatermark("ts", "2 seconds")
      .cer(left)
      .writeStream
      .format("memory")
      .queryName("left")
      .start()
    try {
      def send(events: (String, Int, String)*): Seq[(String, Long)] = {
        input.addData(events.map { case (kind, t, key) => (kind, at(t), key) })
        running.processAllAvailable()
        rows("left")
      }
      assertEquals(send(("cart", 0, "a"), ("cart", 1, "b"), ("pay", 5, "b")), Seq.empty)
      assertEquals(send(("view", 11, "c")), Seq.empty)
      // The watermark is at 10, and Spark regards what is at the watermark as past.
      assertEquals(send(("view", 12, "c")), Seq("a" -> 10L))
      def figure(name: String) = running.recentProgress
        .flatMap(
          _.observedMetrics.values.toArray
            .map(_.asInstanceOf[Row].getAs[Long](name))
        )
        .toSeq
      assert(figure("pending").contains(1L), figure("pending"))
      assertEquals(send(("cart", 14, "a"), ("pay", 30, "z"), ("pay", 31, "z")), Seq("a" -> 10L, "a" -> 24L))
      assertEquals(figure("pending").last, 0L)
    } finally running.stop()
  }

  test("what another key has consumed is not counted as waiting") {
    val input = MemoryStream[(String, Timestamp, String)]
    val running = input
      .toDF()
      .toDF("type", "ts", "key")
      .withWatermark("ts", "1 seconds")
      .cer("SELECT a FROM S WHERE A AS a ; NO B FOR 10 seconds PARTITION BY [key] CONSUME BY ANY")
      .writeStream
      .format("memory")
      .queryName("consumed")
      .start()
    try {
      def pending(events: (String, Int, String)*): Long = {
        input.addData(events.map { case (kind, t, key) => (kind, at(t), key) })
        running.processAllAvailable()
        running.recentProgress.last.observedMetrics.values.toArray.head.asInstanceOf[Row].getAs[Long]("pending")
      }
      assertEquals(pending(("A", 0, "x"), ("A", 5, "y"), ("A", 6, "z"), ("X", 8, "x")), 3L)
      // The match of x at 10 consumes what waits in y and z.
      assertEquals(pending(("X", 12, "x")), 0L)
      assertEquals(rows("consumed"), Seq("x" -> 10L))
      assertEquals(pending(("A", 12, "y"), ("X", 14, "x")), 1L)
    } finally running.stop()
  }

  test("a stream looks back at a key for as long as FOR says, however short WITHIN is, and also after a restart") {
    val query = "SELECT b FROM S WHERE NO beat FOR 60 seconds ; beat AS b ; view WITHIN 5 seconds PARTITION BY [key]"
    val (input, checkpoint) = (MemoryStream[(String, Timestamp, String)], Files.createTempDirectory("cer").toString)
    val found = scala.collection.mutable.ArrayBuffer.empty[(String, Long)]
    def send(events: (String, Int, String)*): Unit = {
      val collect: (DataFrame, Long) => Unit =
        (rows, _) => found ++= rows.selectExpr("key", "cast(end AS LONG) - 1700000000").as[(String, Long)].collect()
      val running = input
        .toDF()
        .toDF("type", "ts", "key")
        .withWatermark("ts", "2 seconds")
        .cer(query)
        .writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", checkpoint)
        .start()
      try {
        input.addData(events.map { case (kind, t, key) => (kind, at(t), key) })
        running.processAllAvailable()
      } finally running.stop()
    }
    send(("beat", 0, "a"), ("view", 1, "a"), ("beat", 2, "b"))
    // The watermark is far past the window of both keys.
    send(("noise", 40, "z"))
    send(("beat", 50, "a"), ("view", 51, "a"), ("beat", 63, "b"), ("view", 64, "b"))
    send(("beat", 120, "a"), ("view", 121, "a"), ("noise", 200, "z"))
    send(("noise", 201, "z"))
    assertEquals(found.toSeq.sorted, Seq("a" -> 1L, "a" -> 121L, "b" -> 64L))
  }

  test("what waits is in the checkpoint, and comes out in the next run") {
    val folder = Files.createTempDirectory("cer").toString
    val source = folder + "/in"
    def write(events: (String, Int, String)*): Unit = events
      .map { case (kind, t, key) => (kind, at(t), key) }
      .toDF("type", "ts", "key")
      .coalesce(1)
      .write
      .mode("append")
      .parquet(source)
    def run(): Seq[(String, Long)] = {
      val matches = spark.readStream
        .schema("type STRING, ts TIMESTAMP, key STRING")
        .parquet(source)
        .withWatermark("ts", "2 seconds")
        .cer(left)
      matches.writeStream
        .format("parquet")
        .option("path", folder + "/out")
        .option("checkpointLocation", folder + "/checkpoint")
        .trigger(Trigger.AvailableNow())
        .start()
        .awaitTermination()
      spark.read
        .schema(matches.schema)
        .parquet(folder + "/out")
        .selectExpr("key", "cast(end AS LONG) - 1700000000")
        .as[(String, Long)]
        .collect()
        .toSeq
        .sorted
    }
    write(("cart", 0, "a"), ("cart", 1, "b"))
    assertEquals(run(), Seq.empty)
    assertEquals(run(), Seq.empty)
    write(("pay", 8, "b"), ("view", 60, "z"))
    assertEquals(run(), Seq("a" -> 10L))
    assertEquals(run(), Seq("a" -> 10L))
  }
}
