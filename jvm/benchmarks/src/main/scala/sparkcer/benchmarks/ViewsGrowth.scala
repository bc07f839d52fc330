package sparkcer.benchmarks

import java.nio.file.Files
import java.util.UUID

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.expr

import sparkcer.views.Views
import sparkcer.views.bench.FilledView

/** The cost of one update of a view that has a number of parts already, as its table has, and of reading them. The
  * parts are small, so that everything that grows with their number shows.
  */
final class ViewsGrowth(spark: SparkSession, val parts: Int) {
  private val folder = Files.createTempDirectory("growth")
  private val views = Views.open(spark, folder.toString)
  private var arrived = 0
  views.createTable("M", "t TIMESTAMP, src STRING, loss INT", "t", "60 seconds")
  append(parts)
  views.sql(ViewsGrowth.Runs, backfill = true): Unit
  FilledView.fill(spark, folder.toString, "Runs", runs())
  require(views.maintain().isEmpty && views.parts("Runs").count() == parts)

  /** What the view has after the parts that have arrived. */
  private def runs(): DataFrame = {
    views.read("M").where("loss > 10").createOrReplaceTempView("high")
    spark.sql(
      s"""SELECT src, count(*) OVER w AS ct, sum(loss) OVER w AS total, part AS ${FilledView.Number} FROM (
         |  SELECT *, part - row_number() OVER (PARTITION BY src ORDER BY part) AS run
         |  FROM (SELECT *, unix_timestamp(PART_TIMESTAMP) div 60 AS part FROM high))
         |WINDOW w AS (PARTITION BY src, run ORDER BY part)""".stripMargin
    )
  }

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

  /** Seconds to open the views and to read all rows of the table, or of the view. */
  def read(name: String): Double = {
    val column = if (name == "M") "loss" else "total"
    val right = if (name == "M") arrived.toLong * ViewsGrowth.Rows else views.read("M").where("loss > 10").count()
    seconds {
      val rows = Views.open(spark, folder.toString).read(name).selectExpr(s"count($column)").head().getLong(0)
      require(rows == right, s"$rows of $right rows of $name")
    }
  }

  /** Does the view have the rows that the plain query computes? */
  def check(): Unit = {
    val (found, right) = (views.read("Runs").selectExpr(Columns: _*), runs().selectExpr(Columns: _*))
    require(found.exceptAll(right).isEmpty && right.exceptAll(found).isEmpty, "the view is wrong")
  }

  private def Columns = Seq("src", "ct", "total")

  def rollUp(): Unit = Seq("M", "Runs").foreach { name =>
    views.rollUp(name, new java.sql.Timestamp((1420070400L + arrived * 60L) * 1000), "1 hour"): Unit
  }

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
