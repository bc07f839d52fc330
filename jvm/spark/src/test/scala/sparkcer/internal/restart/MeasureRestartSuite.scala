package sparkcer.internal.restart

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, SQLContext}
import org.apache.spark.sql.streaming.StreamingQueryException

import sparkcer._
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream
import sparkcer.internal.unit.StreamSuite

/** Measures and HAVING may change on a checkpoint. The selected variables and the kept columns may not. */
class MeasureRestartSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private type Row = (String, Long, String, Int, Double)

  private def query(list: String, having: String = "") =
    s"SELECT $list FROM S WHERE (A AS x ; B+ AS more ; C AS z) PARTITION BY [key] WITHIN 30 [t]$having"

  /** A stream that is stopped after each event. */
  final private class Stream {
    private val checkpoint = Files.createTempDirectory("cer").toString
    private val input = MemoryStream[Row]
    private var now = 0L

    def events: DataFrame = input.toDF().toDF("type", "t", "key", "n", "price")

    /** The rows that the query returns for one more event. */
    def send(kind: String, n: Int, text: String, params: Map[String, Any] = Map.empty): Seq[String] = {
      var found = Seq.empty[String]
      val collect: (DataFrame, Long) => Unit = (rows, _) => found ++= rows.drop("match_id").collect().map(_.toString)
      val matches = events.cer(text, time = "t", params = params)
      val running = matches.writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint).start()
      try {
        now += 1
        input.addData((kind, now, "k", n, n / 2.0))
        running.processAllAvailable()
      } finally running.stop()
      found.sorted
    }
  }

  test("measures and HAVING change, and the state goes on") {
    val s = new Stream
    assertEquals(s.send("A", 1, query("x, more, z")), Seq())
    assertEquals(s.send("B", 2, query("x, more, z, sum(more.n) AS s")), Seq())
    assertEquals(s.send("C", 3, query("x AS a, more AS b, z AS c, sum(more.n) AS s", " HAVING s > 1")).length, 1)
    assertEquals(s.send("B", 4, query("FLAT x, more, z, 1 AS one", " HAVING count(more) > 9")), Seq())
    assertEquals(
      s.send("C", 5, query("x.n, more, z", " HAVING sum(more.n) > :least"), Map("least" -> 5)),
      Seq(s"[k,1,5,1,ArraySeq([B,2,k,2,1.0], [B,4,k,4,2.0]),[C,5,k,5,2.5]]")
    )
    // Another value of a parameter that only HAVING has.
    assertEquals(s.send("C", 6, query("x.n, more, z", " HAVING sum(more.n) > :least"), Map("least" -> 6)), Seq())
    // The same variables in another order, and other columns of them if those that are kept are the same.
    assertEquals(s.send("C", 7, query("z, x, more")).length, 3)
    assertEquals(s.send("C", 8, query("*")).length, 3)
  }

  test("variables that are only in measures, and the columns that they read") {
    val s = new Stream
    s.send("A", 1, query("sum(more.n) AS s, last(z.price) AS p")): Unit
    s.send("B", 2, query("max(more.price) AS m", " HAVING min(z.n) > 0")): Unit
    assertEquals(s.send("C", 3, query("collect(more.n) AS ns, z.price")), Seq("[k,1,3,ArraySeq(2),1.5]"))
    val advice = "Start with a new checkpointLocation, or go back to what it was."
    assertEquals(
      refused(s.send("C", 4, query("collect(more.n) AS ns, z.n AS zn"))),
      "[CER_STATE_MISMATCH] The events have other columns than when the checkpoint was written.\n" +
        s"Then: n INT NOT NULL,price DOUBLE NOT NULL\nNow:  n INT NOT NULL\n$advice"
    )
    assertEquals(
      refused(s.send("C", 4, query("collect(more.n) AS ns, z.price, x.n"))),
      "[CER_STATE_MISMATCH] The checkpoint was written by another query.\n" +
        s"Then: ${query("more, z")}\nNow:  ${query("x, more, z")}\n$advice"
    )
    // The events that came with the refused queries are read now.
    assertEquals(
      s.send("C", 5, query("count(more) AS c, sum(z.price * z.n) AS p")),
      Seq("[k,1,4,1,8.0]", "[k,1,5,1,8.0]", "[k,1,6,1,12.5]")
    )
  }

  private def refused(body: => Any): String = {
    val e = intercept[StreamingQueryException](body)
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toVector.last.getMessage
  }

  test("measures add nothing to the state") {
    def bytes(list: String, having: String): Seq[Long] = {
      val input = MemoryStream[Row]
      val matches = input.toDF().toDF("type", "t", "key", "n", "price").cer(query(list, having), time = "t")
      val collect: (DataFrame, Long) => Unit = (rows, _) => rows.collect(): Unit
      val running = matches.writeStream
        .foreachBatch(collect)
        .option("checkpointLocation", Files.createTempDirectory("cer").toString)
        .start()
      try
        Seq("A", "B", "B", "C").zipWithIndex.foreach { case (kind, i) =>
          input.addData((kind, i.toLong, "k", i, 0.5))
          running.processAllAvailable()
        }
      finally running.stop()
      StreamSuite.metrics(running).map(_.getAs[Long]("bytes"))
    }
    val plain = bytes("x, more, z", "")
    assert(plain.exists(_ > 0), plain)
    assertEquals(bytes("x, more, z, sum(more.n) AS s, avg(x.price) AS p, last(z) AS l", " HAVING s > 1"), plain)
  }
}
