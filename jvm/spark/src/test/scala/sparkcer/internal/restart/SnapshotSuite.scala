package sparkcer.internal.restart

import java.nio.file.Files
import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, DataFrame, SQLContext}

import sparkcer._
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream

/** Snapshots against the definition: of all matches, those that ended in the last window. */
class SnapshotSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private type E = (Timestamp, String, Int, Int, String)

  private val events: Vector[E] = {
    val rng = new scala.util.Random(9)
    Vector.tabulate(200)(i =>
      (
        new Timestamp(1700000000000L + i * 1000L + rng.nextInt(1000)),
        rng.shuffle(Seq("R", "S", "T")).head,
        rng.nextInt(2),
        rng.nextInt(2),
        s"k${rng.nextInt(2)}"
      )
    )
  }

  private def columns(df: DataFrame) = df.toDF("ts", "type", "x", "y", "k")
  private val all = columns(events.toDF())
  private def rows(df: DataFrame) = df.collect().map(_.toString).sorted.toSeq

  // Variables may have the names of columns that only the code knows.
  private val rst = "FROM E WHERE (R AS key ; S AS m ; T AS latest) FILTER key.x = m.x AND m.y = latest.y"
  private val queries = Seq(
    s"SELECT * $rst WITHIN 12 seconds",
    s"SELECT DISTINCT latest $rst PARTITION BY [k] WITHIN 12 seconds",
    s"SELECT LAST * $rst WITHIN 12 seconds",
    "SELECT * FROM E WHERE (R AS r : S AS s : T AS t) WITHIN 12 seconds",
    s"SELECT COUNT(*) $rst WITHIN 12 seconds"
  )
  private val absent = Seq(
    "SELECT * FROM E WHERE R AS r ; NO S FOR 4 seconds PARTITION BY [k] WITHIN 12 seconds",
    "SELECT * FROM E WHERE NO S FOR 5 seconds ; (R AS r ; T AS t) PARTITION BY [k] WITHIN 12 seconds",
    "SELECT * FROM E WHERE (R AS r ; NO S FOR 4 seconds) OR (R AS a : S AS b) PARTITION BY [k] WITHIN 12 seconds"
  )

  /** By definition, with the end of the window included on both sides. */
  private def ended(query: String, events: DataFrame, at: Timestamp): Seq[String] = rows(
    events
      .where($"ts" <= at)
      .cer(query, time = "ts")
      .where($"end" >= new Timestamp(at.getTime - 12000))
  )

  test("of a batch, by default at its last event, or at a time") {
    for (query <- queries ++ absent :+ s"${queries.head} LIMIT 1" :+ s"${queries.head} CONSUME BY PARTITION") {
      val last = ended(query, all, events.last._1)
      assertEquals(rows(all.cerSnapshot(query, time = "ts")), last, query)
      assert(last.nonEmpty, query)
      assert(last.length < all.cer(query, time = "ts").count(), query)
      val before = new Timestamp(events(90)._1.getTime)
      assertEquals(rows(all.cerSnapshot(query, time = "ts", at = before)), ended(query, all, before), query)
    }
    assertEquals(all.where("false").cerSnapshot(queries.head, time = "ts").count(), 0L)
  }

  test("of a stream, at each boundary of micro-batches, from its checkpoint") {
    for (query <- queries.take(2); watermark <- Seq(false, true)) {
      val checkpoint = Files.createTempDirectory("cer").toString
      val input = MemoryStream[E]
      val plain = columns(input.toDF())
      val stream = if (watermark) plain.withWatermark("ts", "5 seconds") else plain
      val running = stream
        .cer(query, time = "ts", snapshots = true)
        .writeStream
        .format("noop")
        .option("checkpointLocation", checkpoint)
        .start()
      var total = 0
      try
        events.grouped(75).zipWithIndex.foreach { case (part, i) =>
          input.addData(part: _*)
          running.processAllAvailable()
          val come = events.take(75 * (i + 1))
          // With a watermark, an event is read when it is older than the newest by the delay.
          val read = if (watermark) come.filter(_._1.getTime < come.map(_._1.getTime).max - 5000) else come
          val found = rows(stream.cerSnapshot(query, time = "ts", checkpoint = checkpoint))
          assertEquals(found, ended(query, columns(read.toDF()), read.last._1), s"$query, watermark $watermark, $i")
          total += found.length
        }
      finally running.stop()
      assert(total > 3, query)
    }
  }

  test("of a stream whose matches wait or look back, from its checkpoint") {
    for (query <- absent) {
      val checkpoint = Files.createTempDirectory("cer").toString
      val input = MemoryStream[E]
      val stream = columns(input.toDF()).withWatermark("ts", "5 seconds")
      val running = stream
        .cer(query, snapshots = true)
        .writeStream
        .format("noop")
        .option("checkpointLocation", checkpoint)
        .start()
      var total = 0
      try
        events.grouped(75).foreach { part =>
          input.addData(part: _*)
          running.processAllAvailable()
          val come = events.filter(_._1.getTime <= part.last._1.getTime)
          // What is older than the newest event by more than the delay is read, and decided.
          val complete = come.map(_._1.getTime).max - 5000
          val read = come.filter(_._1.getTime < complete)
          val until = if (query.contains("; NO")) new Timestamp(complete - 1).toString else null
          val ended = columns(read.toDF())
            .cer(query, time = "ts", until = until)
            .where($"end" >= new Timestamp(read.last._1.getTime - 12000))
          val found = rows(stream.cerSnapshot(query, checkpoint = checkpoint))
          assertEquals(found, rows(ended), query)
          total += found.length
        }
      finally running.stop()
      assert(total > 3, query)
    }
  }

  test("what is refused") {
    def message(body: => Any) = intercept[AnalysisException](body).getMessage
    assertEquals(
      message(all.cerSnapshot(s"SELECT * $rst", time = "ts")),
      "[CER_SNAPSHOT] A snapshot shows the matches of the last window of time, so the query needs WITHIN over the time column."
    )
    assertEquals(
      message(columns(MemoryStream[E].toDF()).cerSnapshot(queries.head, time = "ts")),
      "[CER_SNAPSHOT] These events are a stream. Give the checkpointLocation of the running query: snapshot(events, checkpoint=…)."
    )
    assertEquals(
      message(all.cerSnapshot(queries.head, time = "ts", checkpoint = "somewhere")),
      "[CER_SNAPSHOT] A checkpoint belongs to a stream, but these events are a batch. Leave out checkpoint."
    )
  }
}
