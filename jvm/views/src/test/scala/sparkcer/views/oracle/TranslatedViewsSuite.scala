package sparkcer.views.oracle

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}

import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.testkit.{MadeRows, TestFolders}

/** Translated views with the maintainer. In whatever order rows arrive, each part of each view is the result of the
  * plain query over all rows that have arrived.
  */
class TranslatedViewsSuite extends SparkSuite {
  private val Grouped = "GROUP BY g, h"
  private val over10 = (_: Map[Int, Row], row: Row) => !row.isNullAt(3) && row.getInt(3) > 10
  private val run = PatternOracle(Vector(PatternOracle.Variable(false, over10), PatternOracle.Variable(true, over10)))

  private case class Window(name: String, select: String, minutes: Int, slide: Int, rest: String) {
    def text: String =
      s"CREATE VIEW $name AS SELECT $select FROM M [WINDOW $minutes minutes SLIDE $slide minutes] $rest"
  }

  private val windows = Seq(
    Window("View5", "g, h, max(loss) AS m, sum(d) AS s", 3, 1, Grouped),
    Window("Extremes", "g, h, max(loss) AS m, min(d) AS l", 3, 1, Grouped),
    Window("View6", "g, h, sum(loss) AS s, avg(dec) AS p", 3, 1, s"$Grouped HAVING count(*) < 5"),
    Window("Hopping", "g, count(*) AS ct, sum(big) AS s", 4, 2, "GROUP BY g")
  )

  private def frame(rows: Seq[Row]): DataFrame =
    spark.createDataFrame(java.util.Arrays.asList(rows: _*), MadeRows.Schema)

  private def rowsOf(v: Views, view: String): Map[Long, Seq[String]] = {
    val numbers = v.parts(view).collect().map(_.getAs[Long]("part"))
    val seconds = if (view == "Hopping") 120L else 60L
    val rows = v
      .read(view)
      .collect()
      .groupMap(_.getAs[java.sql.Timestamp]("PART_TIMESTAMP").getTime / 1000 / seconds)(r => Row.fromSeq(r.toSeq.init))
    numbers.map(n => n -> rows.getOrElse(n, Array.empty[Row]).map(_.toString).sorted.toSeq).toMap
  }

  for (seed <- 1 to (if (Properties.Long) 6 else 1))
    test(s"late rows, in random order ($seed)") {
      val rng = new Random(seed)
      val v = Views.open(spark, TestFolders.make("views"))
      v.createTable("M", MadeRows.Schema, "t", "1 minute")
      v.sql(
        "CREATE VIEW View1 AS SELECT g, h, count(*) AS ct, sum(loss) AS s FROM M PATTERN [a, b+] WHERE a.loss > 10 AND b.loss > 10 " +
          (Grouped +: windows.map(_.text)).mkString("; ")
      )
      val all = MadeRows.parts(rng, 8, most = 1, idle = 0.1).toVector.flatMap { case (p, rows) => rows.map(p -> _) }
      // All rows of the first part, and then the others in random order.
      val (first, others) = all.partition(_._1 == MadeRows.First)
      val batches = first +: rng.shuffle(others).grouped(others.length / 3 + 1).toVector
      var there = Vector.empty[(Long, Row)]
      batches.foreach { batch =>
        v.append("M", frame(batch.map(_._2)))
        v.maintain()
        there ++= batch
        check(v, there)
      }
      assert(v.maintain().isEmpty, "nothing is left to do")
    }

  private def check(v: Views, there: Vector[(Long, Row)]): Unit = {
    val parts = MadeRows.First to there.map(_._1).max
    val runs = for {
      (_, rows) <- there.groupBy(r => (r._2.getString(1), r._2.getInt(2))).toVector
      (part, found) <- run.matches(rows.toMap, parts)
      losses = found.map(_.getInt(3).toLong)
    } yield part -> Row(found.head.getString(1), found.head.getInt(2), losses.length.toLong, losses.sum).toString
    val byPart = runs.groupMap(_._1)(_._2)
    assertEquals(rowsOf(v, "View1"), parts.map(p => p -> byPart.getOrElse(p, Vector.empty).sorted.toSeq).toMap)
    for (w <- windows) {
      val found = rowsOf(v, w.name)
      if (parts.length > 7) assert(found.nonEmpty, w.name)
      found.foreach { case (part, rows) =>
        val last = (part + 1) * w.slide - 1
        frame(there.filter(r => r._1 > last - w.minutes && r._1 <= last).map(_._2)).createOrReplaceTempView("M")
        val naive = spark.sql(s"SELECT ${w.select} FROM M ${w.rest}").collect().map(_.toString).sorted.toSeq
        assertEquals(rows, naive, s"${w.name}[$part]")
      }
    }
  }
}
