package sparkcer.views.unit

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.testkit.Network

/** The views of the ViewDF paper, from statements to rows. */
final class ViewsSuite extends SparkSuite {
  import Network._

  test("the example of Section 2 of ViewDF: a pair is reported from its fourth high loss on") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    val losses = Seq(6, 12, 15, 24, 20, 16, 7)
    losses.zipWithIndex.foreach { case (loss, minute) =>
      v.append("M", rows(spark, (minute.toLong, "s", loss)))
      v.maintain()
      val expected = minute match {
        case 4 => Seq("[s,d,4,71]")
        case 5 => Seq("[s,d,5,87]")
        case _ => Nil
      }
      assertEquals(texts(v.read("View2", Begin + minute).drop("PART_TIMESTAMP")), expected, clue(minute))
    }
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try
      assertEquals(
        texts(v.sql("SELECT * FROM View2 WHERE PART_TIMESTAMP = '2015-01-01 00:04'").drop("PART_TIMESTAMP")),
        Seq("[s,d,4,71]")
      )
    finally spark.conf.unset("spark.sql.session.timeZone")
  }

  test("columns that differ in their case, on a session that tells them apart") {
    val twice = intercept[CerException](open(spark).createTable("C", "t TIMESTAMP, T INT", "t", "60")).getMessage
    assertEquals(twice, "[CER_VIEW_DEFINITION] C would have 2 columns 't'. Give each column its own name.")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try {
      val v = open(spark)
      v.createTable("C", "T INT, t TIMESTAMP, k STRING, K INT", "t", "60")
      v.sql(
        "CREATE VIEW V AS INITIALIZE V[i] AS SELECT k, sum(K) AS n, max(T) AS N FROM C[i] GROUP BY k UPDATE V[j] AS SELECT k, sum(K) AS n, max(T) AS N FROM C[j] GROUP BY k PARTITION LENGTH 60"
      )
      v.sql(
        "CREATE VIEW W AS SELECT k, sum(K) AS n, max(T) AS N FROM C [WINDOW 1 minute] GROUP BY k"
      )
      v.append("C", spark.sql("SELECT 3 AS K, 'x' AS k, timestamp'2015-01-01 00:00:30' AS t, 7 AS T"))
      v.maintain()
      Seq("V", "W").foreach { name =>
        assertEquals(texts(v.read(name).select("k", "n", "N")), Seq("[x,3,7]"), clue(name))
      }
      assertEquals(texts(v.read("C").select("T", "k", "K")), Seq("[7,x,3]"))
    } finally spark.conf.unset("spark.sql.caseSensitive")
  }

  test("statements in spark.sql, beside Spark's own") {
    val folder = Network.folder()
    spark.conf.set("spark.cer.views.path", folder)
    try {
      val v = Views.open(spark, folder)
      v.createTable("M", Schema, "t", "60")
      assertEquals(spark.sql(Helper).head().getString(0), Helper)
      v.append("M", rows(spark, (0, "s", 20)))
      assertEquals(told(v.maintain()), Seq("Helper[0] initialized"))
      val again = intercept[org.apache.spark.sql.AnalysisException](spark.sql(Helper)).getMessage
      assertEquals(
        again,
        "[CER_VIEW_CATALOG] There is already a table or view 'Helper'. Drop it first, or use another name."
      )
      val pattern =
        "CREATE VIEW P AS SELECT src, count(*) AS n FROM M PATTERN [a, b+] WHERE a.loss > 1 AND b.loss > 1 GROUP BY src"
      val window = "CREATE VIEW W AS SELECT src, max(loss) AS top FROM M [WINDOW 3 minutes] GROUP BY src"
      assertEquals(spark.sql(pattern).count(), 2L)
      assertEquals(spark.sql(window).count(), 2L)
    } finally spark.conf.unset("spark.cer.views.path")
    spark.sql("CREATE OR REPLACE TEMP VIEW own AS SELECT 'INITIALIZE' AS x")
    spark.sql(
      "CREATE VIEW paned AS SELECT id, lead(id) OVER w AS b FROM range(3) AS pattern WINDOW w AS (ORDER BY id)"
    ): Unit
    assertEquals(spark.sql("SELECT * FROM paned").count(), 3L)
    spark.sql("DROP VIEW paned")
    assertEquals(spark.sql("SELECT * FROM own WHERE x = :a", Map("a" -> "INITIALIZE")).count(), 1L)
  }

  test("late data: only parts that are affected are recomputed, and an unchanged part ends the chain") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    v.append("M", rows(spark, (0 to 9).map(m => (m.toLong, "s", if (m == 6) 1 else 20)): _*))
    v.maintain()
    assertEquals(told(v.maintain()), Nil)
    v.append("M", rows(spark, (3, "x", 30)))
    assertEquals(told(v.maintain()), Seq("Helper[3] recomputed", "Helper[4] unchanged", "View2[3] unchanged"))
    v.append("M", rows(spark, (2, "x", 30)))
    assertEquals(
      told(v.maintain()),
      Seq(
        "Helper[2] recomputed",
        "Helper[3] recomputed",
        "Helper[4] unchanged",
        "View2[2] unchanged",
        "View2[3] unchanged"
      )
    )
  }

  test("parts of an hour over parts of a minute, and a join of two tables") {
    val v = open(spark)
    v.createTable("N", "src STRING, u TIMESTAMP, weight INT", "u", "60")
    v.sql(s"$View3; $J")
    v.append("M", rows(spark, (0 to 120).map(m => (m.toLong, "s", m)): _*))
    v.append("N", spark.sql(s"SELECT 's' AS src, timestamp_seconds(${(Begin + 7) * 60}) AS u, 3 AS weight"))
    v.maintain()
    assertEquals(texts(v.read("View3").select("sum_loss")), Seq("[1770]", "[5370]"))
    assertEquals(texts(v.read("J").select("src", "loss", "weight")), Seq("[s,7,3]"))
  }
}
