package sparkcer.internal.oracle

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.streaming.StreamingQuery

import sparkcer._
import sparkcer.internal.testkit.SparkSuite
import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.Memory.MemoryStream

/** Random queries over random events, through real streaming queries: micro-batches of any size, events out of order
  * within the delay, and a restart in the middle. What comes out is the batch's result, `match_id` included.
  *
  * A micro-batch costs a good part of a second, so there are few cases; the simulation has many.
  */
class BatchStreamSuite extends SparkSuite {
  import BatchStreamSuite._

  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def columns(df: DataFrame): DataFrame = df.toDF("type", "ts", "id", "key", "p")

  /** A query over the stream, with what has come out of it. */
  final private class Running(text: String, input: MemoryStream[Event]) {
    private val found = new ConcurrentLinkedQueue[String]
    private val checkpoint = Files.createTempDirectory("cer").toString
    private var running: StreamingQuery = start()

    private def start(): StreamingQuery = {
      val collect: (DataFrame, Long) => Unit = (rows, _) => rows.collect().foreach(r => found.add(show(r)): Unit)
      columns(input.toDF())
        .withWatermark("ts", s"$Delay seconds")
        .cer(text, time = "ts")
        .writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", checkpoint)
        .start()
    }

    def finishBatch(): Unit = running.processAllAvailable()
    def restart(): Unit = { stop(); running = start() }
    def stop(): Unit = running.stop()
    def rows: Vector[String] = found.asScala.toVector.sorted
  }

  private def check(seed: Long): Unit = {
    val rng = new Random(seed)
    val events = (0 until 60).map(i => event(rng, i)).toVector
    val arriving =
      events.map(e => (e._2.getTime + rng.nextInt(Delay * 1000), e._3, e)).sortBy(e => (e._1, e._2)).map(_._3)
    val far = Seq(1000000, 1000001).map(s => ("Z", at(s * 1000L), s, "far", 0))
    val texts = Vector.tabulate(Queries)(i => query(rng, absent = i < 2))
    val input = MemoryStream[Event]
    val running = texts.map(new Running(_, input))
    try {
      cut(arriving, rng).zipWithIndex.foreach { case (part, i) =>
        if (i == 4) running.foreach(_.restart())
        input.addData(part: _*)
        running.foreach(_.finishBatch())
      }
      // Passes no condition that could close a match: the watermark moves, and the next micro-batch sees it.
      far.foreach { e =>
        input.addData(e)
        running.foreach(_.finishBatch())
      }
    } finally running.foreach(_.stop())
    texts.zip(running).foreach { case (text, r) =>
      val batch = columns((events ++ far).toDF()).cer(text, time = "ts").collect().map(show).toVector.sorted
      assertEquals(r.rows, batch, s"seed $seed, $text")
    }
  }

  private val first = sys.env.get("CER_STREAM_SEED").map(_.toLong)
  private val seeds =
    first.fold(Vector.fill(if (Properties.Long) 40 else 1)(Random.nextInt(1 << 30).toLong))(Vector(_))

  seeds.foreach(seed => test(s"a stream gives the batch's rows (CER_STREAM_SEED=$seed)")(check(seed)))
}

object BatchStreamSuite {
  private[oracle] type Event = (String, Timestamp, Int, String, Int)

  /** Seconds. */
  private val Delay = 6

  /** Over the same stream, at the same time. */
  private val Queries = 4

  private def at(millis: Long) = new Timestamp(1700000000000L + millis)

  private def pick[A](rng: Random)(choices: A*): A = choices(rng.nextInt(choices.length))

  /** Times differ. */
  private[oracle] def event(rng: Random, i: Int): Event =
    (
      pick(rng)("A", "A", "B", "B", "C", "X"),
      at(i * 700L + rng.nextInt(700)),
      i,
      pick(rng)("k", "l", "m"),
      rng.nextInt(3)
    )

  private[oracle] def query(rng: Random): String = query(rng, absent = false)

  /** @param absent
    *   whether the query begins or ends with NO
    */
  private[oracle] def query(rng: Random, absent: Boolean): String = {
    val patterns = Seq(
      (
        "(A AS x ; B AS y)",
        "y",
        Seq(
          " FILTER x.p = y.p",
          " FILTER x.p != y.p",
          " FILTER x.p < y.p",
          " FILTER y[key = x.key AND p >= x.p]",
          " PART-BY [p]"
        )
      ),
      (
        "(A AS x ; B+ AS ys ; C AS z)",
        "z",
        Seq(
          " FILTER x.p = ys.p AND ys.key = z.key",
          " FILTER ys[p >= PREV.p]",
          " FILTER ys[p > 0 AND p >= PREV.p]",
          " FILTER z[p + x.p > 1 OR key = x.key]",
          " PART-BY [key]"
        )
      ),
      ("(A AS x : B AS y)", "x", Seq(" FILTER x.p = y.p", " FILTER x.key != y.key")),
      (
        "(A AS x ; (B OR C)+ AS ys)",
        "x",
        Seq(" FILTER ys[p = PREV.p] AND x.key = ys.key", " FILTER ys[p != PREV.p AND key = x.key]")
      ),
      (
        "((A OR B):+ AS xs ; C AS z)",
        "z",
        Seq(" FILTER xs[id > PREV.id] AND xs.p <= z.p", " FILTER xs.key = z.key OR xs.p = z.p")
      ),
      ("(A AS x : NOT(B) : C AS z)", "x", Seq(" FILTER x.p = z.p", " FILTER x.p > z.p")),
      ("(A AS x : NOT(X OR (B FILTER B[p = 0])):+ : C AS z)", "x", Seq(" FILTER x.p = z.p", " FILTER x.p > z.p")),
      ("((A ; B)+ AS xs ; C AS z)", "z", Seq(" FILTER xs[key = PREV.key]", " PART-BY [p]")),
      (
        "(A{2,3} AS xs ; B? AS y ; C AS z)",
        "z",
        Seq(" FILTER count(xs) = 2 AND last(xs).p <= z.p", " FILTER SOME xs[p > 0] OR xs.key = z.key")
      ),
      (
        "((A ; B WITHIN 3 seconds) AS xs ; C* AS zs)",
        "xs",
        Seq(" FILTER max(xs.p) > 0", " FILTER first(xs).key = last(zs).key")
      ),
      ("(A AS x : (B OR C):{,2} AS ys : A AS z)", "z", Seq(" FILTER count(ys) BETWEEN 0 AND 1", " FILTER x.p = z.p")),
      (
        "(A AS x ; NO (C OR (B AS n FILTER n.p = x.p)) ; B AS y)",
        "y",
        Seq(" FILTER x.key = y.key", " FILTER x.p < y.p")
      ),
      (
        "((A AS x ; B+ AS ys) WITHOUT (C AS n FILTER n.key = x.key))",
        "ys",
        Seq(" FILTER x.p = ys.p", " FILTER ys[p >= PREV.p]")
      ),
      (
        "(A AS x ; B AS y) ; NO C FOR 2 seconds",
        "y",
        Seq(" FILTER x.p = y.p", " FILTER x.p < y.p")
      ),
      (
        "(A AS x ; NO C FOR 2 seconds) OR (A AS x ; B AS y) OR (B AS y ; NO A FOR 3 seconds)",
        "y",
        Seq(" FILTER x.p = y.p", " FILTER x.key != y.key")
      ),
      (
        "(NO X FOR 3 seconds ; A AS x ; B AS y) OR (NO C FOR 5 seconds ; B AS y ; NO B FOR 1 seconds)",
        "y",
        Seq(" FILTER x.p = y.p", " FILTER x.p < y.p")
      ),
      (
        "A+ AS xs ; NO (A OR (B AS n FILTER n.key = xs.key)) FOR 3 seconds",
        "xs",
        Seq(" FILTER xs[p >= PREV.p]", " PART-BY [p]")
      ),
      (
        "NO C FOR 3 seconds ; (A AS x ; B AS y)",
        "y",
        Seq(" FILTER x.p = y.p", " FILTER x.key != y.key")
      ),
      ("(A AS x ALL B AS y)", "y", Seq(" PART-BY [p]", " FILTER x.key = y.key", " FILTER x.p < y.p"))
    )
    val (pattern, variable, tests) = pick(rng)(patterns.filter(p => !absent || p._1.contains(" FOR ")): _*)
    val compares = rng.nextBoolean()
    val strategy = pick(rng)("", "NEXT ", "LAST ", "MAX ", "STRICT ", "DISTINCT ")
    val measures =
      s"count($variable) AS n, avg($variable.p) AS mean, last($variable).ts AS since, collect($variable.id) AS ids"
    val list = pick(rng)("*", "*", s"*, $measures", measures, "COUNT(*)", variable, s"$variable[id, ts]", "NONE")
    val filter =
      if (compares) pick(rng)(tests: _*)
      else pick(rng)("", s" FILTER $variable[p > 0]", s" FILTER $variable[p IN {0, 1}]")
    val partition = pick(rng)("", " PARTITION BY [key]", " PARTITION BY [key, p]")
    val inTime = Seq(" WITHIN 8 seconds", " WITHIN 4 seconds")
    val window =
      pick(rng)(
        (if (pattern.contains("; NO") && pattern.contains("FOR")) inTime
         else inTime ++ Seq(" WITHIN 6 EVENTS", " WITHIN 9 [id]")): _*
      )
    val consume = pick(rng)("", "", " CONSUME BY PARTITION", " CONSUME BY ANY")
    val limit = if (list == "COUNT(*)") "" else pick(rng)("", "", " LIMIT 2")
    val having =
      if (list == "COUNT(*)") pick(rng)("", " HAVING matches > 1")
      else pick(rng)("", "", s" HAVING sum($variable.p) * 0.7D > 0.5D")
    s"SELECT $strategy$list FROM S WHERE $pattern$filter$partition$window$consume$limit$having"
  }

  /** About twelve micro-batches, some of one event, one of none. */
  private def cut[A](events: Vector[A], rng: Random): Vector[Vector[A]] = {
    val cuts = (Vector.fill(10)(rng.nextInt(events.length)) ++ Vector(0, 1, events.length)).sorted
    cuts.zip(cuts.tail).map { case (from, to) => events.slice(from, to) }
  }

  private def show(r: Row): String = r.json
}
