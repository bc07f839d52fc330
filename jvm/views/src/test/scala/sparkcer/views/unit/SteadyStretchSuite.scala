package sparkcer.views.unit

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.Row

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.testkit.{Network, TestFolders}

/** A gap in the data is one step for each view, and its parts have the rows that they would have one by one. */
final class SteadyStretchSuite extends SparkSuite {
  import Network._

  private def both(name: String, first: String, next: String) =
    s"CREATE VIEW $name AS INITIALIZE $name[i] AS $first UPDATE $name[j] AS $next PARTITION LENGTH 60"

  private def same(name: String, query: String) =
    both(name, query.replace("[j", "[i"), query)

  private val count = same("N", "SELECT count(*) AS n, sum(loss) AS s FROM M[j]")
  private val above = same("Above", "SELECT n + 1 AS n FROM N[j] WHERE n < 5")
  private val total =
    both(
      "Total",
      "SELECT sum(loss) AS s FROM M[i]",
      "SELECT sum(s) AS s FROM (SELECT s FROM Total[j-1] UNION ALL SELECT loss FROM M[j])"
    )

  /** The first part of each row of a report, the number of parts, and the rows of each. */
  private def steps(report: Seq[Row], view: String) = report
    .filter(_.getString(0) == view)
    .sortBy(_.getLong(1))
    .map(r => (r.getLong(1) - Begin, r.getAs[Long]("parts"), r.getAs[Long]("rows")))

  test("a view without rows in the gap") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    v.append("M", rows(spark, (0, "s", 20), (3000, "s", 20), (3001, "s", 20)))
    val report = v.maintain().collect().toSeq
    assertEquals(
      steps(report, "Helper"),
      Seq((0L, 1L, 1L), (1L, 1L, 0L), (2L, 2998L, 0L), (3000L, 1L, 1L), (3001L, 1L, 1L))
    )
    assertEquals(
      report.find(r => r.getString(0) == "Helper" && r.getAs[Long]("parts") > 1).get.getString(4),
      s"M[${Begin + 2}..${Begin + 2999}], Helper[${Begin + 1}..${Begin + 2998}] arrived"
    )
    assertEquals(v.parts("Helper").count(), 3002L)
    assertEquals(texts(v.read("Helper").select("ct")), Seq("[1]", "[1]", "[2]"))
    // Late rows in the gap.
    v.append("M", rows(spark, (2000, "s", 20), (2001, "s", 20)))
    assertEquals(
      told(v.maintain()).filter(_.startsWith("Helper")),
      Seq("Helper[2000] recomputed", "Helper[2001] recomputed", "Helper[2002] unchanged")
    )
  }

  test("an aggregate without GROUP BY has a row in each part of the gap, and so has a view over it") {
    val folder = TestFolders.make("stretch")
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    v.sql(s"$count; $above")
    v.append("M", rows(spark, (0, "s", 20), (13, "s", 7), (14, "s", 7)))
    val report = v.maintain().collect().toSeq
    val expected = Seq((0L, 1L, 1L), (1L, 12L, 1L), (13L, 1L, 1L), (14L, 1L, 1L))
    assertEquals(steps(report, "N"), expected)
    assertEquals(steps(report, "Above"), expected)
    def counts(view: String) = v.read(view).groupBy("n").count().collect().map(r => r.getLong(0) -> r.getLong(1)).toMap
    assertEquals(counts("N"), Map(0L -> 12L, 1L -> 3L))
    assertEquals(counts("Above"), Map(1L -> 12L, 2L -> 3L))
    assertEquals(v.read("N").select("PART_TIMESTAMP").distinct().count(), 15L)
    // Late rows in the gap leave the other parts of the stretch as they are.
    v.append("M", rows(spark, (6, "s", 20)))
    assertEquals(v.maintain().count(), 2L)
    // All parts of the stretch are computed again if their file is lost.
    val files = Files.walk(Paths.get(folder, "Above"))
    try files.filter(f => Files.isRegularFile(f)).forEach(f => Files.delete(f))
    finally files.close()
    assertEquals(v.repair().where("action <> 'recomputed'").count(), 0L)
    assertEquals(counts("Above"), Map(1L -> 11L, 2L -> 4L))
    v.rollUp("N", new java.sql.Timestamp((Begin + 8) * 60000), "4 minutes")
    assertEquals(counts("N"), Map(0L -> 11L, 1L -> 4L))
    v.dropParts("N", new java.sql.Timestamp((Begin + 5) * 60000))
    assertEquals(counts("N"), Map(0L -> 7L, 1L -> 3L))
  }

  test("a running total comes to rest in a gap") {
    val v = open(spark)
    v.sql(total)
    v.append("M", rows(spark, (0, "s", 20), (500, "s", 7)))
    assertEquals(steps(v.maintain().collect().toSeq, "Total"), Seq((0L, 1L, 1L), (1L, 499L, 1L), (500L, 1L, 1L)))
    v.append("M", rows(spark, (495, "s", 1)))
    v.maintain()
    val sums = v.read("Total").groupBy("s").count().collect().map(r => r.getLong(0) -> r.getLong(1)).toMap
    assertEquals(sums, Map(20L -> 495L, 21L -> 5L, 28L -> 1L))
  }

  test("queries that can tell the parts of a gap apart are run for each") {
    val v = open(spark)
    v.sql(
      Seq(
        count,
        same("Stamped", "SELECT n, PART_TIMESTAMP AS at FROM N[j]"),
        same("Any", "SELECT count(*) AS n, rand() AS r FROM M[j]"),
        both(
          "Ages",
          "SELECT 0 AS age FROM M[i]",
          "SELECT max(age) + 1 AS age FROM (SELECT age FROM Ages[j-1] UNION ALL SELECT 0 FROM M[j])"
        )
      ).mkString("; ")
    )
    v.append("M", rows(spark, (0, "s", 20), (5, "s", 7)))
    val report = v.maintain().collect().toSeq
    val each = (0L to 5L).map(n => (n, 1L, 1L))
    Seq("Stamped", "Any", "Ages").foreach(view => assertEquals(steps(report, view), each, view))
    assertEquals(v.read("Stamped").where("at = PART_TIMESTAMP").count(), 6L)
    assertEquals(texts(v.read("Ages").select("age")), (0 to 5).map(n => s"[$n]"))
    assertEquals(v.read("Any").select("r").distinct().count(), 6L)
  }

  test(
    "sliding windows with groups: steps only while the window leaves the last rows behind, however long the gap is"
  ) {
    val window = 4
    def steps(gap: Int): Map[String, Int] = {
      val v = open(spark)
      Seq("Sum" -> "sum(loss)", "Top" -> "max(loss)", "Mean" -> "avg(CAST(loss AS DOUBLE))").foreach {
        case (name, of) =>
          v.sql(
            s"CREATE VIEW $name AS SELECT src, $of AS x FROM M [WINDOW $window minutes] GROUP BY src",
            backfill = true
          )
      }
      v.append("M", rows(spark, (0L to 9L).map(m => (m, "s", 20)): _*))
      v.maintain()
      v.append("M", rows(spark, (10L + gap, "s", 20)))
      val report = v.maintain().collect().toSeq
      assertEquals(report.map(_.getAs[Long]("parts")).sum, 6L * (gap + 1))
      assertEquals(texts(v.read("Sum", Begin + 9 + 3).select("x")), Seq("[20]"))
      assertEquals(v.read("Sum", Begin + 9 + 4).count(), 0L)
      report.groupMapReduce(_.getString(0))(_ => 1)(_ + _)
    }
    // The parts that still have rows, the stretch after them, and the part with the new row. A helper view that reads
    // its part before has one more, because its first empty part follows one with rows.
    val expected = Map(
      "Sum_helper" -> (window - 1 + 3),
      "Sum" -> (2 * window - 1 + 2),
      "Top_helper" -> (window - 1 + 3),
      "Top" -> (window - 1 + 2),
      "Mean_helper" -> 2,
      "Mean" -> (window - 1 + 2)
    )
    // A view that begins with the stretch while its helper view still computes it takes one step more for the rest.
    Seq(30, 3000).foreach { gap =>
      val found = steps(gap)
      assertEquals(found.keySet, expected.keySet)
      found.foreach { case (view, n) =>
        val most = expected(view) + (if (view.endsWith("_helper")) 0 else 1)
        assert(n >= expected(view) && n <= most, s"$view: $n steps for a gap of $gap")
      }
    }
  }
}
