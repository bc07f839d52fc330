package sparkcer.internal.oracle

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.{DataFrame, SQLContext}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQuery

import sparkcer._
import sparkcer.internal.testkit.SparkSuite
import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.Memory.MemoryStream

/** A query before and behind other operators with state: the stream gives the batch's rows, for events out of order
  * within the delay, micro-batches of any size, and a restart in the middle.
  *
  * Every stage takes and gives the columns `type, ts, id, key, p`, so that any of them can follow any other.
  */
class PipelineSuite extends SparkSuite {
  import PipelineSuite._

  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  /** A pipeline over two sources, which have the same events, with what has come out of it. */
  final private class Running(pipeline: Pipeline) {
    private val inputs = Seq.fill(2)(MemoryStream[Event])
    private val found = new ConcurrentLinkedQueue[String]
    private val checkpoint = Files.createTempDirectory("cer").toString
    private var running: StreamingQuery = start()

    private def start(): StreamingQuery = {
      val collect: (DataFrame, Long) => Unit = (rows, _) => shown(rows).foreach(r => found.add(r): Unit)
      val frames = inputs.map(i => columns(i.toDF()).withWatermark("ts", s"$Delay seconds"))
      pipeline(frames.head, frames.last).writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", checkpoint)
        .start()
    }

    def add(events: Seq[Event]): Unit = inputs.foreach(_.addData(events: _*): Unit)
    def finishBatch(): Unit = running.processAllAvailable()
    def restart(): Unit = { stop(); running = start() }
    def stop(): Unit = running.stop()
    def rows: Vector[String] = found.asScala.toVector.sorted
  }

  private def check(seed: Long, pipelines: Seq[Pipeline]): Unit = {
    val rng = new Random(seed)
    val events = (0 until 40).map(event(rng, _)).toVector
    val arriving = (events ++ events.filter(_ => rng.nextInt(5) == 0)) // some come twice
      .map(e => (e._2.getTime + rng.nextInt(Delay * 1000), e))
      .sortBy(_._1)
      .map(_._2)
    val running = pipelines.map(new Running(_))
    def batch(part: Seq[Event]): Unit = { running.foreach(_.add(part)); running.foreach(_.finishBatch()) }
    try {
      arriving.grouped(1 + arriving.length / Batches).zipWithIndex.foreach { case (part, i) =>
        if (i == Batches / 2) running.foreach(_.restart())
        batch(part)
      }
      // The watermark moves, under another key, and the next micro-batches see it.
      (1 to 2).foreach(n => batch(Seq(("Z", at(1000000L * n), -n, Far, 0))))
    } finally running.foreach(_.stop())
    val (one, other) = (columns(arriving.toDF()), columns(arriving.toDF()))
    pipelines.zip(running).foreach { case (p, r) =>
      assertEquals(r.rows, shown(p(one, other)), s"seed $seed, ${p.name}")
    }
  }

  private val seeds = sys.env.get("CER_PIPELINE_SEED").map(_.toLong).toVector match {
    case Vector() => Vector.fill(if (Properties.Long) 10 else 1)(Random.nextInt(1 << 30).toLong)
    case named    => named
  }

  /** A micro-batch of two operators with state takes a second or two, so the short form draws some of them. */
  for (seed <- seeds)
    test(s"a pipeline of operators with state gives the batch's rows (CER_PIPELINE_SEED=$seed)") {
      val rng = new Random(seed)
      val two = Stages.flatMap(s => Seq(Seq(s, Query), Seq(Query, s))).distinct
      val three = Stages.map(s => Seq(Query, s, Query))
      val all = (two ++ three).map(Pipeline(_))
      check(seed, if (Properties.Long) all else rng.shuffle(all).take(2))
    }

  test("matches of matches: pairs of pairs") {
    val both = Pipeline(Seq(Pairs("A", "B"), Pairs("P", "P")))
    val running = new Running(both)
    val events = for (k <- 0 until 8; i <- 0 until 6) yield (if (i % 2 == 0) "A" else "B", at(i * 1000L), i, s"k$k", 0)
    try
      (events +: (1 to 4).map(n => Seq(("Z", at(100000L * n), -n, Far, 0)))).foreach { part =>
        running.add(part)
        running.finishBatch()
      }
    finally running.stop()
    val batch = shown(both(columns(events.toDF()), columns(events.toDF())))
    assertEquals(batch.length, 16)
    assertEquals(running.rows, batch)
  }
}

object PipelineSuite {
  private type Event = (String, Timestamp, Int, String, Int)

  /** Seconds. */
  private val Delay = 6
  private val Batches = 4
  private val Far = "far"

  private def at(millis: Long) = new Timestamp(1700000000000L + millis)
  private def pick[A](rng: Random)(choices: A*): A = choices(rng.nextInt(choices.length))

  /** Times differ, and not all of them are whole milliseconds. */
  private def event(rng: Random, i: Int): Event = {
    val ts = at(i * 500L + rng.nextInt(500))
    if (rng.nextInt(4) == 0) ts.setNanos(ts.getNanos + 1000 * rng.nextInt(1000))
    (pick(rng)("A", "B"), ts, i, pick(rng)("k", "l", "m"), rng.nextInt(3))
  }

  private def columns(df: DataFrame): DataFrame = df.toDF("type", "ts", "id", "key", "p")

  private def shown(rows: DataFrame): Vector[String] =
    rows.where(col("key") =!= Far).toJSON.collect().toVector.sorted

  /** @param of
    *   over what comes before, and the other source
    */
  final private case class Stage(name: String, of: (DataFrame, DataFrame) => DataFrame)

  final private case class Pipeline(stages: Seq[Stage]) {
    def name: String = stages.map(_.name).mkString(", ")
    def apply(df: DataFrame, other: DataFrame): DataFrame = stages.foldLeft(df)((rows, s) => s.of(rows, other))
  }

  private def typeBy(number: org.apache.spark.sql.Column) =
    when(pmod(number, lit(2)) === 0, "A").otherwise("B").as("type")

  /** A match is known by the events that it binds: streaming deduplication makes all columns nullable, on which the
    * `match_id`s after it depend.
    */
  private val Query = Stage(
    "cer",
    (df, _) => {
      val id = pmod(col("x.id").cast("bigint") * 31 + col("y.id"), lit(1000003L))
      df.cer(
        "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[p >= 0] PARTITION BY [key] WITHIN 3 seconds",
        "ts",
        order = "id"
      ).select(typeBy(id), col("end").as("ts"), id.as("id"), col("key"), col("y.p").as("p"))
    }
  )

  private val Aggregation = Stage(
    "aggregation",
    (df, _) =>
      df.groupBy(window(col("ts"), "2 seconds"), col("key"))
        .agg(count("*").as("n"), max("p").as("p"), min("id").as("id"))
        .select(typeBy(col("n")), window_time(col("window")).as("ts"), col("id"), col("key"), col("p"))
  )

  private val Deduplication =
    Stage("deduplication", (df, _) => df.dropDuplicates("ts", "id", "key").select("type", "ts", "id", "key", "p"))

  /** On the event time, as Spark asks of a join before another operator with state. */
  private val Join = Stage(
    "join",
    (df, other) => {
      val right = other.select(col("ts").as("rts"), col("key").as("rkey"), col("id").as("rid"), col("p").as("rp"))
      df.join(right, expr("ts = rts AND key = rkey"))
        .select(col("type"), col("ts"), (col("id") * 1000 + col("rid")).as("id"), col("key"), col("rp").as("p"))
    }
  )

  private def Pairs(x: String, y: String) = Stage(
    s"pairs $x : $y",
    (df, _) =>
      df.cer(s"SELECT * FROM S WHERE $x AS x : $y AS y PARTITION BY [key] WITHIN 20 seconds", time = "ts")
        .select(lit("P").as("type"), col("end").as("ts"), crc32(col("match_id")).as("id"), col("key"), lit(0).as("p"))
  )

  private val Stages = Seq(Query, Aggregation, Deduplication, Join)
}
