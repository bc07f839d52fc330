package sparkcer.internal.unit

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.types._

import sparkcer._
import sparkcer.internal.batch.{RecognizeExec, Spread}
import sparkcer.internal.testkit.SparkSuite
import sparkcer.internal.testkit.Memory.MemoryStream

/** The thread from end to end: the same query over a batch and over a stream. */
class CerSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private val query = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > 20] WITHIN 30 [t]"

  private val trades = Seq(
    ("SELL", 0L, 25.0, "a"),
    ("BUY", 10L, 5.0, "b"),
    ("SELL", 20L, 10.0, "c"),
    ("BUY", 30L, 5.0, "d"),
    ("BUY", 31L, 5.0, "e"),
    ("SELL", 40L, 30.0, "f"),
    ("HOLD", 50L, 1.0, "g"),
    ("BUY", 60L, 5.0, "h")
  )

  private def pairs(df: DataFrame): Set[(String, String)] =
    df.select($"x.id", $"y.id").collect().map(r => (r.getString(0), r.getString(1))).toSet

  private val expected = Set(("a", "b"), ("a", "d"), ("f", "h"))

  test("a batch gives typed matches") {
    val matches = trades.toDF("type", "t", "price", "id").cer(query)
    assertEquals(matches.columns.toSeq, Seq("match_id", "start", "end", "x", "y"))
    assertEquals(matches.schema("start").dataType, LongType: DataType)
    assertEquals(
      matches.schema("x").dataType,
      StructType.fromDDL("type STRING, t BIGINT NOT NULL, price DOUBLE NOT NULL, id STRING"): DataType
    )
    assertEquals(pairs(matches), expected)
    assertEquals(matches.select("match_id").distinct().count(), 3L)
    assertEquals(matches.where("x.id = 'f'").select("start", "end", "y.price").head(), Row(40L, 60L, 5.0))
  }

  test("a stream gives the same, with the same identities") {
    implicit val sqlContext: org.apache.spark.sql.SQLContext = spark.sqlContext
    val input = MemoryStream[(String, Long, Double, String)]
    val stream = input.toDF().toDF("type", "t", "price", "id").cer(query)
    val running = stream.writeStream.format("memory").queryName("matches").outputMode("append").start()
    trades.grouped(3).foreach { part =>
      input.addData(part: _*)
      running.processAllAvailable()
    }
    running.stop()
    val batch = trades.toDF("type", "t", "price", "id").cer(query)
    assertEquals(pairs(spark.table("matches")), expected)
    assertEquals(
      spark.table("matches").collect().map(_.toString).sorted.toSeq,
      batch.collect().map(_.toString).sorted.toSeq
    )
  }

  test("keys run apart from each other") {
    val matches = trades
      .map { case (k, t, p, id) => (k, t, p, id, if (t < 35) "1" else "2") }
      .toDF("type", "t", "price", "id", "card")
      .cer(query.replace("WITHIN", "PARTITION BY [card] WITHIN"))
    assertEquals(pairs(matches), expected)
    assertEquals(matches.select("card").as[String].collect().sorted.toSeq, Seq("1", "1", "2"))
  }

  test("slices of time give what one task gives") {
    val rng = new scala.util.Random(5)
    var now = -20000L
    val events = Seq
      .fill(3000) {
        now += rng.nextInt(30)
        (rng.shuffle(Seq("A", "B", "C")).head, now, rng.nextInt(100))
      }
      .toDF("type", "t", "n")
    for (strategy <- Seq("", "LAST", "MAX", "DISTINCT")) {
      val text =
        s"SELECT $strategy x, z FROM S WHERE (A AS x ; B+ ; C AS z) FILTER x[n < 10] AND z[n < 10] WITHIN 200 [t]"
      val sliced = events.cer(text)
      // One key for all: the same query on one task.
      val whole = events
        .withColumn("k", org.apache.spark.sql.functions.lit(1))
        .cer(text.replace("WITHIN", "PARTITION BY [k] WITHIN"))
      def rows(df: DataFrame) = df.select("start", "end", "x.t", "z.t").collect().map(_.toString).sorted.toSeq
      assertEquals(rows(sliced), rows(whole))
      assertEquals(sliced.select("match_id").distinct().count(), sliced.count())
      assert(operator(sliced) { case r: RecognizeExec => r }.spread.isInstanceOf[Spread.BySlice])
      assert(sliced.count() > 10)
    }
  }
}
