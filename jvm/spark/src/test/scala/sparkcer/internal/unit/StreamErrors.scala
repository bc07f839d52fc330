package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp
import java.time.Instant

import org.apache.spark.sql.{DataFrame, SparkSession, SQLContext}
import org.apache.spark.sql.cerbridge.{Listeners, Plans}

import sparkcer._
import sparkcer.engine.error.Errors
import sparkcer.engine.testkit.ErrorCase
import sparkcer.internal.bind.{Binding, Options, Types}
import sparkcer.internal.stream.{FirstFormat, LogAbout, LogMeaning, WatermarkWarnings}
import sparkcer.internal.testkit.Logged
import sparkcer.internal.testkit.Memory.MemoryStream

/** All errors and warnings of streams, their checkpoints and snapshots. */
final private[unit] class StreamErrors(spark: SparkSession) {
  import spark.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def error(key: String, message: String)(code: => Any): ErrorCase =
    new ErrorCase(key, s"[${Errors.condition(key)}] $message", code)

  private def stream: DataFrame = MemoryStream[(String, Timestamp, Long)].toDF().toDF("type", "ts", "t")
  private def marked: DataFrame = stream.withWatermark("ts", "1 minute")
  private def batch: DataFrame = Seq(("A", new Timestamp(0), 1L)).toDF("type", "ts", "t")
  private val query = "SELECT * FROM S WHERE A WITHIN 1 minute"
  private val both = "SELECT * FROM S, T WHERE S ; T WITHIN 1 minute"

  private def inputs = {
    def merged(s: DataFrame, t: DataFrame) = over(both, Map("S" -> s, "T" -> t), time = "ts")
    val renamed = stream.toDF("type", "at", "t").withWatermark("at", "1 minute")
    Vector(
      error(
        "CER_UNSUPPORTED.MIXED_INPUTS",
        "S is a stream and T is a batch, but all inputs must be of one kind. " +
          "Read T with spark.readStream too, or both with spark.read."
      )(merged(stream, batch)),
      error(
        "CER_UNSUPPORTED.TYPES_OF_STREAM",
        "To find the types that never occur, all events are read, but these are a stream. Give a batch of events."
      )(Types.mustOccur(stream, query, Options(time = Some("ts")))),
      error(
        "CER_WATERMARK.METADATA",
        "This Spark does not note the watermark on 'ts' as 'another.key' in the metadata of the column, where spark-cer " +
          "looks for it. Use a Spark that this spark-cer is made for."
      )(Binding.checkWatermarks(Plans.planOf(marked), "another.key")),
      error(
        "CER_WATERMARK.MISSING",
        "S has a watermark on 'ts' and T has none. Add T.withWatermark(\"ts\", …)."
      )(merged(marked, stream)),
      error(
        "CER_WATERMARK.OTHER_COLUMN",
        "The watermark of S is on 'ts' and that of T is on 'at', but events are merged by one time column. " +
          "Rename one of them."
      )(merged(marked, renamed))
    )
  }

  private def checkpoints = {
    val meaning = LogMeaning("type='kind'", "card STRING, BIGINT", "0123abcd", 4)
    val now = LogAbout(2, "SELECT * FROM S WHERE A", "id INT", "by t BIGINT", Some(meaning), 7, 42)
    val advice = "Start with a new checkpointLocation, or go back to what it was."
    def mismatch(key: String, message: String, was: LogAbout) =
      error(s"CER_STATE_MISMATCH.$key", message)(was.mustFit(now, FirstFormat(meaning.types, compiledAsNow = true)))
    def meant(was: LogMeaning) = now.copy(meaning = Some(was))
    Vector(
      mismatch(
        "BUCKETS",
        s"The checkpoint was written with 2 buckets of keys, one for each shuffle partition, and now there are 4. $advice",
        meant(meaning.copy(buckets = 2))
      ),
      mismatch(
        "COLUMNS",
        s"The events have other columns than when the checkpoint was written.\nThen: id BIGINT\nNow:  id INT\n$advice",
        now.copy(events = "id BIGINT")
      ),
      mismatch(
        "COMPILED",
        "This version of spark-cer compiles the query differently from the one that wrote the checkpoint. " +
          "Start with a new checkpointLocation, or use that version.",
        meant(meaning.copy(digest = "4567"))
      ),
      mismatch(
        "NEWER_LOG",
        "The checkpoint was written in format 3 by a newer spark-cer, and this one reads formats up to 2. " +
          "Use that newer version.",
        now.copy(format = 3)
      ),
      mismatch(
        "OTHER_TYPES",
        "A column of PARTITION BY or WITHIN has another type than when the checkpoint was written.\n" +
          s"Then: card INT, BIGINT\nNow:  card STRING, BIGINT\n$advice",
        meant(meaning.copy(others = "card INT, BIGINT"))
      ),
      mismatch(
        "QUERY",
        "The checkpoint was written by another query.\n" +
          s"Then: SELECT * FROM S WHERE B\nNow:  SELECT * FROM S WHERE A\n$advice",
        now.copy(query = "SELECT * FROM S WHERE B")
      ),
      mismatch(
        "TIME",
        "The events are ordered differently from when the checkpoint was written.\n" +
          s"Then: by u BIGINT\nNow:  by t BIGINT\n$advice",
        now.copy(time = "by u BIGINT")
      ),
      mismatch(
        "TYPE_COLUMN",
        s"The checkpoint was written with no type column, and now there is type='kind'. $advice",
        meant(meaning.copy(types = "no type column"))
      )
    )
  }

  private def snapshots = Vector(
    error(
      "CER_SNAPSHOT.CHECKPOINT_OF_BATCH",
      "A checkpoint belongs to a stream, but these events are a batch. Leave out checkpoint."
    )(
      batch.cerSnapshot(query, time = "ts", checkpoint = "somewhere")
    ),
    error(
      "CER_SNAPSHOT.CONSUME_OR_LIMIT",
      "A snapshot of a stream cannot have CONSUME BY or LIMIT, because they depend on events that the stream no longer keeps."
    )(stream.cerSnapshot(s"$query LIMIT 1", time = "ts", checkpoint = "somewhere")),
    error(
      "CER_SNAPSHOT.NO_CHECKPOINT",
      "These events are a stream. Give the checkpointLocation of the running query: snapshot(events, checkpoint=…)."
    )(stream.cerSnapshot(query, time = "ts")),
    error(
      "CER_SNAPSHOT.NO_WINDOW",
      "A snapshot shows the matches of the last window of time, so the query needs WITHIN over the time column."
    )(batch.cerSnapshot("SELECT * FROM S WHERE A", time = "ts")),
    error(
      "CER_SNAPSHOT.OPERATORS",
      "A snapshot needs the checkpoint of exactly one query, but this checkpoint has 0 operators with state like a query's."
    )(stream.cerSnapshot(query, time = "ts", checkpoint = checkpointOfCounts()))
  )

  /** Of a stream with state that is not a query's. */
  private def checkpointOfCounts(): String = {
    val folder = Files.createTempDirectory("cer").toString
    val input = MemoryStream[Long]
    val counts = input.toDF().groupBy("value").count()
    val running =
      counts.writeStream.format("noop").outputMode("complete").option("checkpointLocation", folder).start()
    input.addData(1L)
    running.processAllAvailable()
    running.stop()
    folder
  }

  private def store = {
    val provider = "spark.sql.streaming.stateStore.providerClass"
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    error(
      "CER_STATE_STORE",
      "A query over a stream keeps its state in RocksDB. Start the session with spark_cer.session(), or add this line " +
        s"before the query starts:\nspark.conf.set(\"$provider\", \"$rocks\")"
    ) {
      val before = spark.conf.get(provider)
      spark.conf.unset(provider)
      try stream.cer(query, time = "ts")
      finally spark.conf.set(provider, before)
    }
  }

  def cases: Vector[ErrorCase] = inputs ++ checkpoints ++ snapshots :+ store

  /** What is logged: the key of each, the whole text, and what makes it. */
  def warnings: Vector[(String, String, () => Vector[String])] = {
    val late =
      "an event that is older than the last one of its key is late, and is left out. If events can come out of order,"
    val first =
      "The first late events of a stream without a watermark: 1 were left out of micro-batch 1. If events can come out of order,"
    val waits = "before the query; the query then waits for events that come so much later."
    val counted = "observedMetrics counts them, and late='rows' shows them."
    val behind = "The first late events of this stream: 1 of micro-batch 2 came behind the watermark,"
    val shown = "observedMetrics counts late events, and late='rows' shows them."
    val left =
      "1 events of micro-batch 2 came behind the watermark of this stream, 2026-01-01T00:00:00Z, and were left out."
    val drift =
      "If a backlog is read, its partitions drift apart: docs/operations.md says what to do. " +
        "observedMetrics counts late events and has their lateness, and late='rows' shows them."
    val unbounded = "The state of this stream can grow without bound, because"
    val idle = "idle='7 days' drops keys without events for that long."
    def warning(key: String, text: String)(said: => Vector[String]) =
      (key, s"[${Errors.condition(key)}] $text", () => said)
    def logged(code: => Any) = Logged.during("sparkcer") { val _ = code }
    Vector(
      warning(
        "CER_NO_WATERMARK.AT_START",
        s"This stream has no watermark on its time column 'ts': $late add withWatermark(\"ts\", \"10 minutes\") $waits"
      )(logged(stream.cer(query, time = "ts"))),
      warning(
        "CER_NO_WATERMARK.AT_START_NOT_TIMESTAMP",
        s"This stream has no watermark on its time column 't': $late give them their time as a TIMESTAMP column, " +
          s"name it with time=, and add withWatermark on it $waits"
      )(logged(stream.cer("SELECT * FROM S WHERE A WITHIN 5 [t]", time = "t"))),
      warning(
        "CER_NO_WATERMARK.LATE_EVENTS",
        s"$first add withWatermark(\"ts\", \"10 minutes\") $waits $counted"
      )(withLateEvents("ts")),
      warning(
        "CER_NO_WATERMARK.LATE_EVENTS_NOT_TIMESTAMP",
        s"$first give them their time as a TIMESTAMP column instead of 't', name it with time=, " +
          s"and add withWatermark on it $waits $counted"
      )(withLateEvents("t")),
      warning(
        "CER_LATE_EVENTS.AHEAD",
        s"$behind 2100-01-01T00:00:00Z, and were left out. This is in the future: an event had a wrong time, and until " +
          "then all events are late. Keep such events apart before withWatermark, as in " +
          "where(\"ts IS NULL OR ts < current_timestamp() + INTERVAL 1 HOUR\"), write the others elsewhere in a second " +
          s"query, and start with a new checkpoint. $shown"
      )(withLateEvents("ts", minutes = Some(1), first = "2100-01-01T00:01:00Z")),
      warning(
        "CER_LATE_EVENTS.DELAY",
        s"$left A delay of 91 seconds would have kept all events so far. $drift"
      )(withLateEvents("ts", minutes = Some(1), first = "2026-01-01T00:01:00Z", second = "2025-12-31T23:59:30Z")),
      warning(
        "CER_LATE_EVENTS.AT_END",
        "This stream has ended. A delay of 111 seconds would have kept all events of this run: this is more than the last " +
          "warning said."
      )(
        withLateEvents(
          "ts",
          minutes = Some(1),
          first = "2026-01-01T00:01:00Z",
          second = "2025-12-31T23:59:30Z",
          third = Some("2025-12-31T23:59:10Z")
        ).tail
      ),
      warning(
        "CER_LATE_EVENTS.DELAY_OF_INPUTS",
        s"$left Delays that are 51 seconds longer, for each of its inputs, would have kept all events so far. $drift"
      )(ofTwoInputs(late = 10)),
      warning(
        "CER_LATE_EVENTS.AT_END_OF_INPUTS",
        "This stream has ended. Delays that are 61 seconds longer, for each of its inputs, would have kept all events of " +
          "this run: this is more than the last warning said."
      )(ofTwoInputs(late = 10, 0).tail),
      warning(
        "CER_LATE_EVENTS.WITHIN",
        "The first late events of this stream: 1 of micro-batch 0 have a smaller 't' than an earlier event of their key, " +
          "and were left out. WITHIN limits this column, which must not decrease along a stream: a longer delay changes " +
          "nothing. Order the events by that column (time=...), or limit the window by the time column. " + shown
      )(withDecreasingColumn()),
      warning(
        "CER_WATERMARK_HELD",
        "The watermark of this stream has stood at 1970-01-01T00:00:00Z for 10 micro-batches although events " +
          "until 1970-01-01T00:11:00Z have arrived, so matches are returned late. It follows the slowest of 2 inputs, and one of them has no new events. " +
          "Send that input events now and then, or set spark.sql.streaming.multipleWatermarkPolicy to max before the " +
          "first start; events that come behind the fastest input are then late."
      )(withIdleInput()),
      warning(
        "CER_UNBOUNDED_STATE.EVENTS",
        s"$unbounded WITHIN counts events, and a key without new events counts none. $idle"
      )(logged(marked.cer("SELECT * FROM S WHERE A PARTITION BY [t] WITHIN 5 EVENTS"))),
      warning("CER_UNBOUNDED_STATE.NO_WATERMARK", s"$unbounded no watermark tells that a window has passed. $idle")(
        logged(stream.cer("SELECT * FROM S WHERE A PARTITION BY [type] WITHIN 1 minute", time = "ts"))
      ),
      warning("CER_UNBOUNDED_STATE.NO_WITHIN", s"$unbounded there is no WITHIN. $idle")(
        logged(marked.cer("SELECT * FROM S WHERE A"))
      )
    )
  }

  private def event(moment: String) = {
    val at = Timestamp.from(Instant.parse(moment))
    ("A", at, at.getTime / 1000)
  }

  /** A stream in whose last micro-batches one event is late: without a watermark, or with one of so many minutes. */
  private def withLateEvents(
      time: String,
      minutes: Option[Int] = None,
      first: String = "1970-01-01T00:01:40Z",
      second: String = "1970-01-01T00:01:30Z",
      third: Option[String] = None
  ): Vector[String] = Logged.during("sparkcer") {
    val input = MemoryStream[(String, Timestamp, Long)]
    val events = input.toDF().toDF("type", "ts", "t")
    val read = minutes.fold(events)(n => events.withWatermark("ts", s"$n minutes"))
    val running = read.cer(s"SELECT * FROM S WHERE A WITHIN 5 [$time]", time = time).writeStream.format("noop").start()
    (Seq(first, second) ++ third).foreach { moment =>
      input.addData(event(moment))
      running.processAllAvailable()
    }
    running.stop()
    Listeners.waitForAll(spark)
  }

  /** A stream over two inputs with a delay of a minute, whose watermark comes to be midnight. Then one of them runs
    * ahead, and the other has late events, at so many seconds after 23:59.
    */
  private def ofTwoInputs(late: Int*): Vector[String] = Logged.during("sparkcer") {
    val inputs = Vector.fill(2)(MemoryStream[(String, Timestamp, Long)])
    val events = inputs.map(_.toDF().toDF("type", "ts", "t").withWatermark("ts", "1 minute"))
    inputs.foreach(_.addData(event("2026-01-01T00:01:00Z")))
    val running = events.reduce(_.union(_)).cer(query).writeStream.format("noop").start()
    running.processAllAvailable()
    late.foreach { seconds =>
      inputs(1).addData(event(f"2025-12-31T23:59:$seconds%02dZ"))
      inputs(0).addData(event("2026-01-01T00:05:00Z"))
      running.processAllAvailable()
    }
    running.stop()
    Listeners.waitForAll(spark)
  }

  /** A stream with a watermark in which the column of WITHIN decreases. */
  private def withDecreasingColumn(): Vector[String] = Logged.during("sparkcer") {
    val input = MemoryStream[(String, Timestamp, Long)]
    val events = input.toDF().toDF("type", "ts", "t").withWatermark("ts", "1 second")
    val running =
      events.cer("SELECT * FROM S WHERE A WITHIN 5 [t]", time = "ts").writeStream.format("noop").start()
    val (first, second) = (event("2026-01-01T00:01:00Z"), event("2026-01-01T00:01:01Z"))
    input.addData(first.copy(_3 = 2L), second.copy(_3 = 1L), event("2026-01-01T00:02:00Z"))
    running.processAllAvailable()
    running.stop()
    Listeners.waitForAll(spark)
  }

  /** A stream over two inputs, of which one has no events. */
  private def withIdleInput(): Vector[String] = Logged.during("sparkcer") {
    val input = MemoryStream[(String, Timestamp, Long)]
    val events = input.toDF().toDF("type", "ts", "t").withWatermark("ts", "1 minute")
    val running = events.union(marked).cer(query).writeStream.format("noop").start()
    (1 to WatermarkWarnings.Held + 1).foreach { minute =>
      input.addData(event(f"1970-01-01T00:$minute%02d:00Z"))
      running.processAllAvailable()
    }
    running.stop()
    Listeners.waitForAll(spark)
  }
}
