package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.{DataFrame, SQLContext}
import org.apache.spark.sql.cerbridge.Listeners
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

import sparkcer._
import sparkcer.internal.stream.EngineCache
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream

/** Streams in event time: what comes out, what is kept, and what happens when something is wrong. */
class StreamSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private type Row = (String, Timestamp, Int, String)
  private def event(kind: String, seconds: Double, id: Int, key: String): Row =
    (kind, new Timestamp(1000000000000L + (seconds * 1000).toLong), id, key)

  private def columns(df: DataFrame): DataFrame = df.toDF("type", "ts", "id", "key")

  private val query = "SELECT * FROM S WHERE (A AS x ; B+ AS ys ; C AS z) PARTITION BY [key] WITHIN 10 seconds"

  /** A stream under test: batches in, matches out. */
  final private class Running(
      text: String,
      watermark: Boolean = true,
      lateRows: Boolean = false,
      checkpoint: String = null
  ) {
    val input: MemoryStream[Row] = MemoryStream[Row]
    private val name = "t" + java.util.UUID.randomUUID().toString.replace("-", "")
    private val events = columns(input.toDF())
    private val matches =
      (if (watermark) events.withWatermark("ts", "20 seconds") else events).cer(text, time = "ts", lateRows = lateRows)
    val running: StreamingQuery = matches.writeStream
      .format("memory")
      .queryName(name)
      .option("checkpointLocation", Option(checkpoint).getOrElse(Files.createTempDirectory("cer").toString))
      .start()

    def send(rows: Row*): Unit = {
      input.addData(rows: _*)
      running.processAllAvailable()
    }

    def table: DataFrame = spark.table(name)
    def total(name: String): Long = StreamSuite.total(running, name)

    /** After each micro-batch that touched a bucket. */
    def levels(name: String): Seq[Long] =
      StreamSuite.metrics(running).filter(m => m.getAs[Long]("buckets") > 0).map(_.getAs[Long](name))
  }

  private def stream[A](r: Running)(body: Running => A): A =
    try body(r)
    finally r.running.stop()

  private def sorted(df: DataFrame): Seq[String] = df.collect().map(_.toString).sorted.toSeq

  test("any order of arrival within the delay gives the batch's matches") {
    val rng = new Random(11)
    val all =
      (0 until 120).map(i => event(rng.shuffle(Seq("A", "B", "C", "X")).head, i / 2.0, i, s"k${rng.nextInt(3)}"))
    val shuffled = all.zipWithIndex.sortBy { case (_, i) => i / 2.0 + rng.nextDouble() * 18 }.map(_._1)
    val batch = columns(all.toDF()).cer(query, time = "ts")
    stream(new Running(query)) { s =>
      shuffled.grouped(17).foreach(part => s.send(part: _*))
      s.send() // an empty micro-batch
      s.send(event("X", 1000, -1, "k0")) // passes no condition: only the watermark moves, and timers wake the buckets
      s.send(event("X", 1001, -2, "k0"))
      assertEquals(s.total("late"), 0L)
      assertEquals(sorted(s.table), sorted(batch))
      assert(s.table.count() > 20)
    }
  }

  test("lateness is by how much the delay was too short") {
    def run(delay: String) = {
      val input = MemoryStream[Row]
      val running =
        columns(input.toDF()).withWatermark("ts", delay).cer(query, time = "ts").writeStream.format("noop").start()
      try {
        Seq(event("A", 100, 1, "k"), event("B", 89.5, 2, "k"), event("B", 60.25, 3, "k"), event("B", 95, 4, "k"))
          .foreach { e => input.addData(e); running.processAllAvailable() }
        (StreamSuite.metrics(running).map(_.getAs[Long]("lateness")).max, StreamSuite.total(running, "late"))
      } finally running.stop()
    }
    assertEquals(run("10 seconds"), (29751L, 2L))
    assertEquals(run("39751 milliseconds"), (0L, 0L))
    assertEquals(run("39750 milliseconds"), (1L, 1L))
  }

  test("late events are counted, or rows") {
    val rows = Seq(event("A", 100, 1, "k"), event("B", 150, 2, "k"))
    stream(new Running(query, lateRows = true)) { s =>
      s.send(rows: _*)
      s.send(event("A", 90, 3, "k"), event("C", 151, 4, "k"))
      assertEquals(s.total("late"), 1L)
      assertEquals(
        s.table
          .where("match_id IS NULL")
          .select("late.id", "late.type", "x.id", "start")
          .collect()
          .map(_.toString)
          .toSeq,
        Seq("[3,A,null,null]")
      )
    }
  }

  test("a key with half of all events, and a burst of ten times, leave nothing behind") {
    val rng = new Random(5)
    val kinds = "AABBCX".map(_.toString)
    val sizes = Vector.fill(4)(200) ++ Vector(2000) ++ Vector.fill(4)(200)
    val all = (0 until sizes.sum).map { i =>
      event(kinds(rng.nextInt(6)), i / 4.0, i, if (i % 2 == 0) "hot" else s"k${rng.nextInt(50)}")
    }
    val starts = sizes.scanLeft(0)(_ + _)
    // One match for each C: the hot key has so many sets of B that nobody could list them.
    val few = query.replace("B+ AS ys", "B AS ys")
    stream(new Running(few)) { s =>
      val cached = starts.zip(sizes).map { case (from, n) =>
        s.send(all.slice(from, from + n): _*)
        EngineCache.here.bytes
      }
      val usual = cached.take(4).max
      assert(cached(4) < 2 * usual, cached) // most of the burst is read and gone in its own micro-batch
      assert(cached.last < 1.5 * usual, cached)
      s.send(event("X", 1e6, -1, "k0"))
      s.send(event("X", 1e6 + 1, -2, "k0"))
      assertEquals(s.total("late"), 0L)
      assertEquals(sorted(s.table), sorted(columns(all.toDF()).cer(few, time = "ts")))
    }
  }

  test("the delay of the watermark may change on a checkpoint") {
    val checkpoint = Files.createTempDirectory("cer").toString
    val input = MemoryStream[Row]
    val found = java.util.concurrent.ConcurrentHashMap.newKeySet[Int]()
    val collect: (DataFrame, Long) => Unit = (rows, _) => rows.as[Int].collect().foreach(found.add)
    def run(delay: String)(rows: Row*): Seq[Int] = {
      val running = columns(input.toDF())
        .withWatermark("ts", delay)
        .cer("SELECT * FROM S WHERE (A AS x ; C AS z) PARTITION BY [key] WITHIN 1 minute", time = "ts")
        .selectExpr("z.id")
        .writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", checkpoint)
        .start()
      try rows.foreach { r => input.addData(r); running.processAllAvailable() }
      finally running.stop()
      found.asScala.toSeq.sorted
    }
    assertEquals(run("20 seconds")(event("A", 0, 1, "k"), event("C", 15, 2, "k"), event("X", 20, 3, "k")), Nil)
    // Now 19 s are late, and what waited is there.
    assertEquals(run("1 second")(event("X", 20.5, 4, "k"), event("C", 19, 5, "k"), event("X", 30, 6, "k")), Seq(2))
    // And now they would not be, but the watermark does not go back.
    assertEquals(run("1 minute")(event("C", 31, 7, "k"), event("C", 25, 8, "k"), event("X", 200, 9, "k")), Seq(2, 7))
  }

  test("a key whose window has passed leaves no state") {
    stream(new Running(query)) { s =>
      s.send(event("A", 0, 1, "a"), event("A", 1, 2, "b"), event("A", 2, 3, "c"))
      s.send(event("X", 100, 4, "a"))
      s.send(event("X", 101, 5, "a")) // the watermark of the batch before
      assertEquals((s.levels("held").head, s.levels("held").last), (3L, 0L))
      assertEquals(s.levels("keys").last, 0L)
      assertEquals(s.levels("nodes").last, 0L)
    }
  }

  test("a restart goes on where it was; another query is refused") {
    val checkpoint = Files.createTempDirectory("cer").toString
    val all = Seq(event("A", 0, 1, "k"), event("B", 1, 2, "k"), event("C", 2, 3, "k"))
    val input = MemoryStream[Row]
    def start(text: String) = columns(input.toDF())
      .cer(text, time = "ts")
      .writeStream
      .format("parquet")
      .option("path", checkpoint + "/out")
      .option("checkpointLocation", checkpoint + "/checkpoint")
      .start()
    all.foreach { e =>
      val running = start(query)
      input.addData(e)
      running.processAllAvailable()
      running.stop()
    }
    assertEquals(
      spark.read.parquet(checkpoint + "/out").select("x.id", "z.id").collect().map(_.toString).toSeq,
      Seq("[1,3]")
    )
    val other = start(query.replace("10 seconds", "11 seconds"))
    input.addData(all.head)
    val refused = intercept[StreamingQueryException](other.processAllAvailable())
    assert(
      refused.getMessage.contains("[CER_STATE_MISMATCH] The checkpoint was written by another query."),
      refused.getMessage
    )
    assert(refused.getMessage.contains("Start with a new checkpointLocation"), refused.getMessage)
  }

  test("the number of buckets is the checkpoint's, whatever the session says later") {
    val folder = Files.createTempDirectory("cer").toString
    val input = MemoryStream[Row]
    def run(rows: Seq[Row]): Unit =
      toFiles(columns(input.toDF()).cer(query, time = "ts"), folder)(input.addData(rows: _*): Unit)
    val keys = (0 until 20).map(k => s"k$k")
    run(keys.map(k => event("A", 0, 1, k)) ++ keys.map(k => event("B", 1, 2, k)))
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try run(keys.map(k => event("C", 2, 3, k)))
    finally spark.conf.set("spark.sql.shuffle.partitions", "2")
    assertEquals(spark.read.parquet(folder + "/out").select("key").as[String].collect().sorted.toSeq, keys.sorted)
  }

  test("the engines of a query leave when it ends") {
    val run = stream(new Running(query)) { s =>
      s.send((0 until 8).map(i => event("A", i, i, s"k$i")): _*)
      assert(EngineCache.here.runs(s.running.runId))
      s.running.runId
    }
    Listeners.waitForAll(spark)
    assert(!EngineCache.here.runs(run))
  }

  test("two queries in one stream") {
    val input = MemoryStream[Row]
    val events = columns(input.toDF())
    val both = events
      .cer(query, time = "ts")
      .select("key")
      .union(events.cer(query.replace("C AS z", "B AS z"), time = "ts").select("key"))
    val running = both.writeStream.format("memory").queryName("both").start()
    try {
      input.addData(event("A", 0, 1, "k"), event("B", 1, 2, "k"), event("B", 2, 3, "k"), event("C", 3, 4, "k"))
      running.processAllAvailable()
      assertEquals(spark.table("both").count(), 4L)
    } finally running.stop()
  }

  test("a windowed aggregation over matches works") {
    val input = MemoryStream[Row]
    val perMinute = columns(input.toDF())
      .withWatermark("ts", "5 seconds")
      .cer("SELECT * FROM S WHERE (A ; B) PARTITION BY [key] WITHIN 10 seconds")
      .groupBy(org.apache.spark.sql.functions.window($"end", "10 seconds"))
      .count()
    val running = perMinute.writeStream.format("memory").queryName("per_minute").outputMode("append").start()
    try {
      Seq(
        Seq(event("A", 0, 1, "k"), event("B", 1, 2, "k"), event("B", 2, 3, "k")),
        Seq(event("A", 11, 4, "k"), event("B", 12, 5, "k")),
        Seq(event("X", 100, 6, "k")),
        Seq(event("X", 101, 7, "k"))
      ).foreach { rows => input.addData(rows: _*); running.processAllAvailable() }
      assertEquals(
        spark.table("per_minute").orderBy("window").select("count").as[Long].collect().toSeq,
        Seq(2L, 1L)
      )
    } finally running.stop()
  }

  test("idle keys are dropped and counted") {
    val input = MemoryStream[Row]
    val running = columns(input.toDF())
      .cer(query.replace(" WITHIN 10 seconds", ""), time = "ts", idle = "1 minute")
      .writeStream
      .format("noop")
      .start()
    try {
      Seq(event("A", 0, 1, "a"), event("A", 1, 2, "b"), event("A", 100, 3, "c")).foreach { e =>
        input.addData(e)
        running.processAllAvailable()
      }
      assert(StreamSuite.total(running, "idle") >= 1, StreamSuite.metrics(running).toString)
    } finally running.stop()
  }

  test("without a watermark, a key that is behind others is not idle") {
    // As in a backlog whose partitions drift apart, and with a time stamp that is wrong by a day.
    for (ahead <- Seq(18000, 86400)) {
      val input = MemoryStream[Row]
      val name = "drift" + java.util.UUID.randomUUID().toString.replace("-", "")
      val running = columns(input.toDF())
        .cer("SELECT * FROM S WHERE (A AS x ; C AS z) PARTITION BY [key]", time = "ts", idle = "1 hour")
        .writeStream
        .format("memory")
        .queryName(name)
        .start()
      val (slow, fast) = ((0 until 8).map(i => s"s$i"), (0 until 8).map(i => s"f$i"))
      try {
        Seq(
          slow.map(event("A", 0, 1, _)) ++ fast.map(event("A", ahead.toDouble, 2, _)),
          slow.map(event("C", 600, 3, _)) ++ fast.map(event("C", ahead + 1.0, 4, _))
        ).foreach { rows => input.addData(rows: _*); running.processAllAvailable() }
        assertEquals(spark.table(name).select("key").as[String].collect().toSeq.sorted, (slow ++ fast).sorted)
        assertEquals(StreamSuite.total(running, "idle"), 0L)
        // Keys without events are idle once all others are past them.
        input.addData(fast.map(event("C", ahead + 2.0, 5, _)): _*)
        running.processAllAvailable()
        assertEquals(StreamSuite.total(running, "idle"), 8L)
      } finally running.stop()
    }
  }

  test("without a watermark, the order of arrival; counts too") {
    val all = Seq(event("A", 0, 1, "k"), event("A", 1, 2, "k"), event("B", 2, 3, "k"), event("C", 3, 4, "k"))
    stream(new Running(query.replace("SELECT *", "SELECT COUNT(*)"), watermark = false)) { s =>
      all.grouped(2).foreach(p => s.send(p: _*))
      assertEquals(s.table.select("key", "matches").collect().map(_.toString).toSeq, Seq("[k,2]"))
    }
    val counted = columns(all.toDF()).cer(query.replace("SELECT *", "SELECT COUNT(*)"), time = "ts")
    assertEquals(counted.columns.toSeq, Seq("key", "end", "matches"))
    assertEquals(counted.select("matches").as[Long].collect().toSeq, Seq(2L))
  }

  test("what was dropped is counted in the progress") {
    val all = Seq(
      event("A", 0, 1, "k"),
      event("X", 1, 2, "k"),
      event("A", 2, 3, null),
      ("B", null, 4, "k"),
      event("B", 3, 5, "k"),
      event("X", 4, 6, null)
    )
    stream(new Running(query)) { s =>
      all.grouped(2).foreach(p => s.send(p: _*))
      s.send(event("X", 5, 7, "k")) // nothing but a tally
      val counted = Seq("input", "dropped", "nullKeys", "nullTimes", "events").map(n => n -> s.total(n))
      assertEquals(counted, Seq("input" -> 7L, "dropped" -> 2L, "nullKeys" -> 2L, "nullTimes" -> 1L, "events" -> 2L))
    }
  }

  test("where WITHIN is about another column, an event in which it falls is late") {
    val text = "SELECT x, z FROM S WHERE (A AS x ; C AS z) PARTITION BY [key] WITHIN 2 [id]"
    val all = Seq(event("A", 0, 5, "k"), event("A", 1, 4, "k"), event("C", 2, 7, "k"), event("C", 3, 6, "k"))
    for (watermark <- Seq(true, false))
      stream(new Running(text, watermark)) { s =>
        all.foreach(e => s.send(e))
        if (watermark) {
          s.send(event("X", 1000, 8, "k"))
          s.send(event("X", 1001, 9, "k"))
        }
        assertEquals(s.table.select("x.id", "z.id").collect().map(_.toString).toSeq, Seq("[5,7]"))
        assertEquals(s.total("late"), 2L)
      }
  }

  test("of two inputs with a watermark the slower one decides what is late") {
    val (fast, slow) = (MemoryStream[Row], MemoryStream[Row])
    def timed(m: MemoryStream[Row]) = columns(m.toDF()).withWatermark("ts", "20 seconds")
    val name = "two" + java.util.UUID.randomUUID().toString.replace("-", "")
    val running = timed(fast)
      .union(timed(slow))
      .cer("SELECT * FROM S WHERE (A AS x ; C AS z) PARTITION BY [key] WITHIN 10 seconds", time = "ts")
      .writeStream
      .format("memory")
      .queryName(name)
      .start()
    try {
      def both(f: Seq[Row], s: Seq[Row]): Unit = {
        fast.addData(f: _*)
        slow.addData(s: _*)
        running.processAllAvailable()
      }
      both(Seq(event("A", 500, 1, "k")), Seq(event("A", 1, 2, "k")))
      both(Seq(event("A", 600, 3, "k")), Seq(event("C", 5, 4, "k"))) // 595 s behind the other input
      both(Seq(event("X", 2000, 5, "k")), Seq(event("X", 2000, 6, "k")))
      both(Seq(event("X", 2001, 5, "k")), Seq(event("X", 2001, 6, "k")))
      assertEquals(spark.table(name).select("x.id", "z.id").collect().map(_.toString).toSeq, Seq("[2,4]"))
      assertEquals(StreamSuite.total(running, "late"), 0L)
    } finally running.stop()
  }

  test("idle keys are dropped even if their bucket gets no more events") {
    val input = MemoryStream[Row]
    val running = columns(input.toDF())
      .withWatermark("ts", "1 second")
      .cer(query.replace(" WITHIN 10 seconds", ""), time = "ts", idle = "1 minute")
      .writeStream
      .format("noop")
      .start()
    try {
      // Keys in both buckets; afterwards nothing but the watermark moves.
      input.addData((0 until 8).map(i => event("A", i, i, s"k$i")))
      running.processAllAvailable()
      Seq(2000, 2001, 2002).foreach { t =>
        input.addData(event("X", t, 99, "x"))
        running.processAllAvailable()
      }
      assertEquals(StreamSuite.total(running, "idle"), 8L)
    } finally running.stop()
  }
}

private[sparkcer] object StreamSuite {

  /** What spark-cer counted, micro-batch by micro-batch. */
  def metrics(running: StreamingQuery): Vector[org.apache.spark.sql.Row] =
    running.recentProgress.toVector.flatMap(
      _.observedMetrics.values.toArray.map(_.asInstanceOf[org.apache.spark.sql.Row])
    )

  def total(running: StreamingQuery, name: String): Long = metrics(running).map(_.getAs[Long](name)).sum
}
