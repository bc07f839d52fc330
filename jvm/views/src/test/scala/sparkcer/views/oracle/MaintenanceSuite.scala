package sparkcer.views.oracle

import scala.util.Random

import org.apache.spark.sql.Row

import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.testkit.Network

/** After any appends, also late ones, every part of every view is the result of a naive query over all rows. */
final class MaintenanceSuite extends SparkSuite {
  import Network._

  /** Sums of four parts, over a view and a table without parts. */
  private val Window =
    """CREATE VIEW Sums AS
      |INITIALIZE Sums[i] AS SELECT src, sum(loss) AS s FROM M[i] GROUP BY src
      |UPDATE Sums[j] AS SELECT src, sum(loss) AS s FROM M[j] GROUP BY src PARTITION LENGTH 60
      |CREATE VIEW Window AS
      |INITIALIZE Window[i] AS
      |  SELECT w.src, first(city) AS city, sum(s) AS s, min(w.PART_TIMESTAMP) AS since
      |  FROM Sums[i-3..i] w JOIN cities ON w.src = cities.src GROUP BY w.src
      |UPDATE Window[j] AS
      |  WITH w AS (SELECT *, PART_TIMESTAMP AS at FROM Sums[j-3..j])
      |  SELECT w.src, first(city), sum(s), min(at) FROM w JOIN cities ON w.src = cities.src GROUP BY w.src
      |PARTITION LENGTH 1 minute""".stripMargin

  private type Loss = (Long, String, Int)

  /** The rows of each view by part, computed from the definition. */
  private def naive(all: Seq[Loss], first: Long, last: Long): Map[String, Map[Long, Seq[String]]] = {
    val high = all.filter(_._3 > 10).groupBy(r => (r._1, r._2)).map { case (k, rows) => k -> rows.map(_._3) }
    def run(minute: Long, src: String): Option[(Int, Int)] =
      high.get((minute, src)).filter(_ => minute >= first).map { losses =>
        val (ct, sum) = run(minute - 1, src).getOrElse((0, 0))
        (ct + 1, sum + losses.head)
      }
    val sources = all.map(_._2).distinct
    def helper(m: Long) = for (s <- sources; (ct, sum) <- run(m, s)) yield (s, ct, sum)
    def text(rows: Seq[(String, Int, Int)]) = rows.map { case (s, ct, sum) => s"[$s,d,$ct,$sum]" }.sorted
    def sums(from: Long, to: Long) = all.filter(r => r._1 >= from && r._1 <= to).groupBy(_._2).toSeq
    Map(
      "Helper" -> (first to last).map(m => m -> text(helper(m))).toMap,
      "View2" -> (first to last).map(m => m -> text(helper(m).filter(_._2 >= 4))).toMap,
      "Window" -> (first + 3 to last).map { m =>
        m -> sums(m - 3, m).map { case (s, rows) =>
          val since = new java.sql.Timestamp((Begin + rows.map(_._1).min) * 60000)
          s"[$s,city of $s,${rows.map(_._3).sum},$since]"
        }.sorted
      }.toMap
    )
  }

  /** There is one row for each source and minute, as the helper view of the ViewDF paper needs. */
  private def check(v: Views, all: Seq[Loss], last: Long, seed: Int): Unit =
    naive(all, all.map(_._1).min, last).foreach { case (name, parts) =>
      val found =
        v.read(name).collect().toSeq.groupBy(r => r.getAs[java.sql.Timestamp]("PART_TIMESTAMP").getTime / 60000 - Begin)
      val there = v.parts(name).collect().map(_.getLong(0) - Begin).toSet
      assertEquals(there, parts.keySet, clue((name, seed)))
      parts.foreach { case (m, rows) =>
        assertEquals(
          found.getOrElse(m, Nil).map(r => Row.fromSeq(r.toSeq.init).toString).sorted,
          rows,
          clue((name, m, seed))
        )
      }
    }

  test("random appends, late and with gaps") {
    spark
      .sql("SELECT concat('s', id) AS src, concat('city of s', id) AS city FROM range(5)")
      .createOrReplaceTempView("cities")
    val seeds = if (Properties.Long) 20 else 2
    (1 to seeds).foreach { _ =>
      val seed = Random.nextInt()
      val random = new Random(seed)
      val v = open(spark)
      v.sql(s"$View2; $Helper; $Window")
      var all = Seq.empty[Loss]
      var last = 4L
      (0 until 6).foreach { step =>
        val fresh = for {
          minute <- if (step == 0) Seq(0L, 4L) else Seq.fill(random.nextInt(3) + 1)(random.nextLong(last + 3))
          src <- (0 until 5).map(n => s"s$n")
          // Views begin with the first part that they see: there must be one for each of the first minutes.
          if (step == 0 && src == "s0" || random.nextInt(3) > 0) && !all.exists(r => r._1 == minute && r._2 == src)
        } yield (minute, src, random.nextInt(30))
        val rows = fresh.distinctBy(r => (r._1, r._2))
        v.append("M", Network.rows(spark, rows: _*))
        all ++= rows
        last = last.max(rows.map(_._1).maxOption.getOrElse(0L))
        if (step == 5 || random.nextBoolean()) {
          v.maintain()
          check(v, all, last, seed)
          assertEquals(told(v.maintain()), Nil, clue(seed))
        }
      }
    }
  }

  test("a view starts at the smallest newest part of its sources, or with the first, as asked") {
    val v = open(spark)
    v.createTable("N", Schema, "t", "60")
    v.append("M", rows(spark, (0, "s", 1), (9, "s", 1)))
    v.append("N", rows(spark, (2, "s", 1), (7, "s", 1)))
    v.sql(
      "CREATE VIEW A AS INITIALIZE A[i] AS SELECT M.src FROM M[i] JOIN N[i] UPDATE A[j] AS SELECT M.src FROM M[j] JOIN N[j] PARTITION LENGTH 60"
    )
    v.sql(
      "CREATE VIEW B AS INITIALIZE B[i] AS SELECT M.src FROM M[i-1] JOIN N[i] UPDATE B[j] AS SELECT src FROM M[j] CROSS JOIN (SELECT 1 FROM B[j-2]) PARTITION LENGTH 60",
      backfill = true
    )
    assertEquals(
      told(v.maintain()),
      // B[4] stands for the empty parts up to B[8].
      Seq("A[7] initialized", "B[2] initialized", "B[3] initialized", "B[4] updated", "B[9] updated")
    )
    // The next parts wait for a source.
    val text = v.explain()
    assert(text.contains(s"  next: ${Begin + 8} (2015-01-01 00:08:00Z) by UPDATE, waits for N[${Begin + 8}]"), text)
    assert(text.contains(s"  next: ${Begin + 10} (2015-01-01 00:10:00Z) by UPDATE, waits for M[${Begin + 10}]"), text)
  }

  test("the overview and the diagrams") {
    val v = open(spark)
    assertEquals(
      v.explain(),
      "Table M: parts of 1 minute by t\n  parts: none yet"
    )
    v.sql(s"$View2; $Helper; $View3")
    v.append("M", rows(spark, (0 to 3).map(m => (m.toLong, "s", 20)): _*))
    v.maintain()
    v.append("M", rows(spark, (1, "x", 20)))
    val text = v.explain()
    assert(text.contains(s"  stale: ${Begin + 1} because M[${Begin + 1}] changed"), text)
    assert(text.contains(s"  stale if these change: ${Begin + 2}..${Begin + 3}"), text)
    assertEquals(
      text.linesIterator.filter(_.contains("late rows")).toSeq,
      Seq("  late rows: can change all later parts, because UPDATE reads Helper[j-1]; each is computed again")
    )
    assert(text.contains(s"waits for M[${Begin + 4}..${Begin + 59}]"), text)
    assertEquals(
      v.diagram("mermaid"),
      """flowchart LR
        |  M[("M<br/>1 minute")]
        |  Helper("Helper<br/>1 minute")
        |  View2("View2<br/>1 minute")
        |  View3("View3<br/>1 hour")
        |  M -->|"[j]"| Helper
        |  Helper -->|"[j-1]"| Helper
        |  Helper -->|"[j]"| View2
        |  M -->|"[j*60..j*60+59]"| View3""".stripMargin
    )
    assert(v.diagram("dot").contains("""  "Helper" -> "Helper" [label="[j-1]"];"""))
  }
}
