package sparkcer.benchmarks

import java.nio.file.Files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.expr

import sparkcer.views.Views

/** What a late row costs in a window of sums, by the number of parts that came after it. Each of these parts of the
  * helper view has the row in its sums, and is recomputed. The parts are small, so that the time is that of the steps.
  */
final class ViewsLate(spark: SparkSession, parts: Int, window: Int) {
  private val folder = Files.createTempDirectory("late")
  private val views = Views.open(spark, folder.toString)
  views.createTable("M", "t TIMESTAMP, src STRING, loss INT", "t", "60 seconds")
  append(0, parts)
  views.sql(
    s"CREATE VIEW W AS SELECT src, sum(loss) AS s FROM M [WINDOW $window minutes] GROUP BY src",
    backfill = true
  )
  views.maintain().collect(): Unit

  private def append(first: Int, parts: Int): Unit = views.append(
    "M",
    spark
      .range(first.toLong * ViewsLate.Rows, (first.toLong + parts) * ViewsLate.Rows)
      .select(
        expr(s"timestamp_seconds(1420070400 + (id div ${ViewsLate.Rows}) * 60)").as("t"),
        expr(s"concat('s', id % ${ViewsLate.Rows})").as("src"),
        expr("CAST(pmod(hash(id), 30) AS INT)").as("loss")
      )
  ): Unit

  /** Appends rows once more for a part that so many parts came after. Returns the seconds of the maintenance, and how
    * many parts it computed.
    */
  def late(after: Int): (Double, Int) = {
    append(parts - 1 - after, 1)
    val start = System.nanoTime()
    val done = views.maintain().collect()
    ((System.nanoTime() - start) / 1e9, done.length)
  }

  /** Seconds in which the plain query computes as many windows, one after the other. */
  def plain(): Double = {
    val start = System.nanoTime()
    (0 until window).foreach { n =>
      val rows = views.sql(
        s"SELECT src, sum(loss) AS s FROM M[${ViewsLate.First + n}..${ViewsLate.First + n + window - 1}] GROUP BY src"
      )
      rows.write.mode("overwrite").parquet(folder.resolve("plain").toString)
    }
    (System.nanoTime() - start) / 1e9
  }

  def delete(): Unit = SparkRun.delete(folder)
}

object ViewsLate {
  private val Rows = 20
  private val First = 1420070400L / 60
}
