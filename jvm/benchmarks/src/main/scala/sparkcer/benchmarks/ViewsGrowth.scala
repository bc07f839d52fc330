package sparkcer.benchmarks

import java.nio.file.Files
import java.util.UUID

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.expr

import sparkcer.views.Views

/** The cost of one update of a view over a table that has a number of parts already. The parts are small, so that
  * everything that grows with their number shows.
  */
final class ViewsGrowth(spark: SparkSession, val parts: Int) {
  private val folder = Files.createTempDirectory("growth")
  private val views = Views.open(spark, folder.toString)
  private var arrived = 0
  views.createTable("M", "t TIMESTAMP, src STRING, loss INT", "t", "60 seconds")
  append(parts)
  views.sql(ViewsGrowth.Runs): Unit
  views.maintain().collect(): Unit

  private def append(parts: Int): Unit = {
    val rows = spark
      .range(arrived.toLong * ViewsGrowth.Rows, (arrived.toLong + parts) * ViewsGrowth.Rows)
      .select(
        expr(s"timestamp_seconds(1420070400 + (id div ${ViewsGrowth.Rows}) * 60)").as("t"),
        expr(s"concat('s', id % ${ViewsGrowth.Rows})").as("src"),
        expr("CAST(pmod(hash(id), 30) AS INT)").as("loss")
      )
    views.append("M", rows, batch = Some(UUID.randomUUID().toString)): Unit
    arrived += parts
  }

  /** Seconds of an append of one part, and of the maintenance after it. */
  def update(): (Double, Double) =
    (seconds(append(1)), seconds { val done = views.maintain().collect(); require(done.length == 1) })

  /** Seconds to open the views and to read all rows of the table. A view is read in the same way. */
  def read(): Double = seconds {
    val rows = Views.open(spark, folder.toString).read("M").selectExpr("count(loss)").head().getLong(0)
    require(rows == arrived.toLong * ViewsGrowth.Rows)
  }

  def rollUp(): Unit =
    views.rollUp("M", new java.sql.Timestamp((1420070400L + arrived * 60L) * 1000), "1 hour"): Unit

  def delete(): Unit = SparkRun.delete(folder)

  private def seconds(body: => Unit): Double = {
    val start = System.nanoTime()
    body
    (System.nanoTime() - start) / 1e9
  }
}

object ViewsGrowth {
  private val Rows = 20

  private val Runs =
    """CREATE VIEW Runs AS
      |INITIALIZE Runs[i] AS SELECT src, 1L AS ct, CAST(loss AS BIGINT) AS total FROM M[i] WHERE loss > 10
      |UPDATE Runs[j] AS
      |  SELECT New.src, coalesce(Prev.ct, 0) + 1, coalesce(Prev.total, 0) + New.loss
      |  FROM M[j] AS New LEFT OUTER JOIN Runs[j-1] AS Prev ON New.src = Prev.src WHERE New.loss > 10
      |PARTITION LENGTH 60""".stripMargin
}
