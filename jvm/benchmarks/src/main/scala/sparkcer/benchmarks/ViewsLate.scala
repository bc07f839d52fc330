package sparkcer.benchmarks

import java.nio.file.Files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.expr

import sparkcer.views.Views

/** What a late row costs in a window of sums, by the number of parts that came after it. With prefix sums, each of
  * these parts of the helper view has the row in its sums, and is recomputed. With sums of panes, only the windows that
  * have the row are. The parts are small, so that the time is that of the steps.
  *
  * A third view reads one part more than the one over prefix sums. This is what a view would have to read if the sums
  * began anew every n parts: those before its window, those at its end, and those at the last beginning in between.
  */
final class ViewsLate(spark: SparkSession, parts: Int, val window: Int) {
  import ViewsLate._

  private val folder = Files.createTempDirectory("late")
  private val views = Views.open(spark, folder.toString)
  private var arrived = 0
  views.createTable("M", "t TIMESTAMP, src STRING, loss INT", "t", "60 seconds")
  arrive(parts)
  views.sql(
    s"""CREATE VIEW Prefix AS SELECT src, sum(loss) AS s FROM M [WINDOW $window minutes] GROUP BY src;
       |CREATE VIEW Panes AS SELECT src, sum(CAST(loss AS DOUBLE)) AS s FROM M [WINDOW $window minutes] GROUP BY src;
       |CREATE VIEW Third AS INITIALIZE Third[i] AS ${third("i")} UPDATE Third[j] AS ${third("j")}
       |PARTITION LENGTH 60""".stripMargin,
    backfill = true
  )
  views.maintain().collect(): Unit

  private def third(j: String) =
    s"""SELECT Cur.src, Cur.sum_loss - coalesce(Old.sum_loss, 0) + coalesce(Edge.sum_loss, 0) AS s
       |FROM Prefix_helper[$j] AS Cur
       |LEFT OUTER JOIN Prefix_helper[$j-$window] AS Old ON Cur.src <=> Old.src AND Cur.age >= $window
       |LEFT OUTER JOIN Prefix_helper[$j-1] AS Edge ON Cur.src <=> Edge.src AND Cur.age >= $window""".stripMargin

  private def arrive(parts: Int): Unit = {
    append(arrived, parts)
    arrived += parts
  }

  private def append(first: Int, parts: Int): Unit = views.append(
    "M",
    spark
      .range(first.toLong * Rows, (first.toLong + parts) * Rows)
      .select(
        expr(s"timestamp_seconds(1420070400 + (id div $Rows) * 60)").as("t"),
        expr(s"concat('s', id % $Rows)").as("src"),
        expr("CAST(pmod(hash(id), 30) AS INT)").as("loss")
      )
  ): Unit

  /** A part arrives. Returns the milliseconds of each view. */
  def update(): Map[String, Vector[Double]] = {
    arrive(1)
    maintained()
  }

  /** Rows are appended once more for a part that so many parts came after. Returns the milliseconds of all parts that
    * are computed again.
    */
  def late(after: Int): Map[String, Vector[Double]] = {
    append(arrived - 1 - after, 1)
    maintained()
  }

  private def maintained(): Map[String, Vector[Double]] =
    views.maintain().collect().toVector.groupMap(_.getString(0))(_.getAs[Long]("ms").toDouble)

  def delete(): Unit = SparkRun.delete(folder)
}

object ViewsLate {
  private val Rows = 20
}
