package sparkcer.benchmarks

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions._

import sparkcer.views.Views

/** Measurements as files and, part by part, in a table of views. */
final class LossTable(spark: SparkSession, rows: Long, high: Int) {
  val files = new LossFiles(spark, rows, high)
  private val folder = Files.createTempDirectory("views")
  val views: Views = Views.open(spark, folder.toString)
  views.createTable("M", LossFiles.Schema, "t", s"${LossFiles.Length} seconds")
  private var arrived = 0

  /** All parts before this one are in the table. */
  def next: Int = arrived

  /** More parts are made and stored. */
  def arrive(parts: Int): Unit = {
    (arrived until arrived + parts).foreach(files.write)
    views.append("M", files.parts(arrived, arrived + parts - 1))
    arrived += parts
  }

  def delete(): Unit = {
    SparkRun.delete(folder)
    files.delete()
  }
}

/** A view over measurements, in the three ways of Section 7 of the ViewDF paper. Each call brings the view to a part
  * and writes its rows; parts come in their order.
  */
abstract class ViewWays(spark: SparkSession, table: LossTable) {
  protected val files: LossFiles = table.files
  private val folder: Path = Files.createTempDirectory("ways")

  /** The statements or the query that define the view. */
  protected def definition: String

  /** The view itself last. */
  protected def viewNames: Seq[String]

  /** By the plain query over `scope` parts. */
  def naive(i: Int, scope: Int): DataFrame

  /** The rows that naive reads: once, even where the plain query needs them twice. */
  def naiveRows(i: Int, scope: Int): Long = scope * files.part(i).count()

  /** The same updates as the views', written down as DataFrames over known folders. */
  def hardCoded(i: Int, isFirst: Boolean): Unit

  def runNaive(i: Int, scope: Int): Unit = naive(i, scope).write.mode("overwrite").parquet(at("Naive", 0))

  def hardCodedRows(i: Int): DataFrame = spark.read.parquet(at("View", i))

  protected def at(table: String, i: Int): String = folder.resolve(s"$table/$i").toString
  protected def save(rows: DataFrame, table: String, i: Int): Unit = rows.write.parquet(at(table, i))
  protected def saved(table: String, first: Int, last: Int, schema: String): DataFrame =
    spark.read.schema(schema).parquet((first to last).map(at(table, _)): _*)

  /** The view starts with what has arrived: at the first part that can be made, or at the last. */
  def begin(backfill: Boolean): Unit = {
    table.views.sql(definition, backfill).collect(): Unit
    table.views.maintain().collect(): Unit
  }

  /** The number of rows that the updates read. */
  def maintain(): Long = table.views.maintain().collect().map(_.getAs[Long]("rows_read")).sum

  def viewRows(i: Int): DataFrame = table.views.read(viewNames.last, files.partOf(i)).drop("PART_TIMESTAMP")

  def delete(): Unit = {
    viewNames.reverse.foreach(table.views.drop(_))
    SparkRun.delete(folder)
  }
}

/** View2 of Section 2 of the ViewDF paper, by hand or, as View1, by translation. */
final class LossRuns(spark: SparkSession, table: LossTable, translated: Boolean) extends ViewWays(spark, table) {
  protected def viewNames: Seq[String] = if (translated) Seq("View1_helper", "View1") else Seq("Helper", "View2")

  protected def definition: String = if (translated) LossRuns.View1 else LossRuns.View2

  /** The rows since the pair's last low measurement. */
  def naive(i: Int, scope: Int): DataFrame = {
    files.parts(math.max(0, i - scope + 1), i).createOrReplaceTempView("M")
    spark.sql("""SELECT src, dest, count(*) AS ct, sum(loss) AS sum_loss
                |FROM M LEFT JOIN (SELECT src, dest, max(t) AS low FROM M WHERE loss <= 10 GROUP BY src, dest) USING (src, dest)
                |WHERE loss > 10 AND (low IS NULL OR t > low)
                |GROUP BY src, dest HAVING count(*) >= 4""".stripMargin)
  }

  private val Helper = "src STRING, dest STRING, ct BIGINT, sum_loss BIGINT"

  def hardCoded(i: Int, isFirst: Boolean): Unit = {
    val high = files.part(i).where("loss > 10").select("src", "dest", "loss")
    val helper =
      if (isFirst) high.select(col("src"), col("dest"), lit(1L).as("ct"), col("loss").cast("bigint").as("sum_loss"))
      else {
        val before = saved("Helper", i - 1, i - 1, Helper)
        high
          .join(before, high("src") <=> before("src") && high("dest") <=> before("dest"), "left_outer")
          .select(
            high("src"),
            high("dest"),
            (coalesce(col("ct"), lit(0L)) + 1).as("ct"),
            (coalesce(col("sum_loss"), lit(0L)) + col("loss")).as("sum_loss")
          )
      }
    save(helper, "Helper", i)
    save(saved("Helper", i, i, Helper).where("ct >= 4"), "View", i)
  }
}

object LossRuns {
  val View2: String =
    """CREATE VIEW Helper AS
      |INITIALIZE Helper[i] AS
      |  SELECT src, dest, 1L AS ct, CAST(loss AS BIGINT) AS sum_loss FROM M[i] WHERE loss > 10
      |UPDATE Helper[j] AS
      |  SELECT New.src, New.dest, coalesce(Prev.ct, 0) + 1, coalesce(Prev.sum_loss, 0) + New.loss
      |  FROM M[j] AS New LEFT OUTER JOIN Helper[j-1] AS Prev ON New.src <=> Prev.src AND New.dest <=> Prev.dest
      |  WHERE New.loss > 10
      |PARTITION LENGTH 60;
      |CREATE VIEW View2 AS
      |INITIALIZE View2[i] AS SELECT src, dest, ct, sum_loss FROM Helper[i] WHERE ct >= 4
      |UPDATE View2[j] AS SELECT src, dest, ct, sum_loss FROM Helper[j] WHERE ct >= 4
      |PARTITION LENGTH 60""".stripMargin

  val View1: String =
    """CREATE VIEW View1 AS SELECT src, dest, count(*) AS ct, sum(loss) AS sum_loss FROM M PATTERN [a, b, c, d+]
      |WHERE a.loss > 10 AND b.loss > 10 AND c.loss > 10 AND d.loss > 10 GROUP BY src, dest""".stripMargin
}

/** An aggregate of each link in a sliding window. */
abstract class WindowWays(spark: SparkSession, table: LossTable, window: Int, name: String, aggregate: String)
    extends ViewWays(spark, table) {
  protected def viewNames: Seq[String] = Seq(s"${name}_helper", name)
  protected def definition: String =
    s"CREATE VIEW $name AS SELECT link, $aggregate FROM M [WINDOW $window minutes] GROUP BY link"

  def naive(i: Int, scope: Int): DataFrame = files.parts(i - window + 1, i).groupBy("link").agg(expr(aggregate))
}

/** The largest loss of each link (View5). */
final class WindowMax(spark: SparkSession, table: LossTable, window: Int)
    extends WindowWays(spark, table, window, "View5", "max(loss) AS top") {
  private val Helper = "link STRING, top INT, age INT"

  def hardCoded(i: Int, isFirst: Boolean): Unit = {
    val now = files.part(i).groupBy("link").agg(max("loss").as("top")).withColumn("age", lit(0))
    val helper =
      if (isFirst) now
      else {
        val before = saved("Helper", i - 1, i - 1, Helper)
        val kept = before
          .join(now, before("link") <=> now("link"), "left_outer")
          .where(
            before("age") + 1 < window && (now("age").isNull || coalesce(
              now("top") < before("top"),
              before("top").isNotNull
            ))
          )
          .select(before("link"), before("top"), before("age") + 1)
        now.unionAll(kept)
      }
    save(helper, "Helper", i)
    if (i >= window - 1)
      save(saved("Helper", i, i, Helper).groupBy("link").agg(max("top").as("top")), "View", i)
  }
}

/** The sum of the losses of each link (View6). */
final class WindowSum(spark: SparkSession, table: LossTable, window: Int)
    extends WindowWays(spark, table, window, "View6", "sum(loss) AS total") {
  private val Helper = "link STRING, total BIGINT, ct_loss BIGINT, ct BIGINT, age INT, idle INT"

  def hardCoded(i: Int, isFirst: Boolean): Unit = {
    val now = files
      .part(i)
      .select(
        col("link"),
        coalesce(col("loss"), lit(0)).cast("bigint").as("total"),
        when(col("loss").isNull, 0L).otherwise(1L).as("ct_loss"),
        lit(1L).as("ct"),
        lit(0).as("age"),
        lit(0).as("idle")
      )
    val all =
      if (isFirst) now
      else
        now.unionAll(
          saved("Helper", i - 1, i - 1, Helper)
            .selectExpr("link", "total", "ct_loss", "ct", "age + 1 AS age", "idle + 1 AS idle")
            .where(col("idle") < window)
        )
    val helper = all
      .groupBy("link")
      .agg(
        sum("total").as("total"),
        sum("ct_loss").as("ct_loss"),
        sum("ct").as("ct"),
        max("age").as("age"),
        min("idle").as("idle")
      )
    save(helper, "Helper", i)
    if (i >= window) {
      val (cur, old) =
        (saved("Helper", i, i, Helper).as("Cur"), saved("Helper", i - window, i - window, Helper).as("Old"))
      save(
        cur
          .join(old, col("Cur.link") <=> col("Old.link") && col("Cur.age") >= window, "left_outer")
          .select(
            col("Cur.link"),
            (col("Cur.ct") - coalesce(col("Old.ct"), lit(0L))).as("ct"),
            (col("Cur.ct_loss") - coalesce(col("Old.ct_loss"), lit(0L))).as("ct_loss"),
            (col("Cur.total") - coalesce(col("Old.total"), lit(0L))).as("total")
          )
          .where("ct > 0")
          .select(col("link"), when(col("ct_loss") > 0, col("total")).as("total")),
        "View",
        i
      )
    }
  }
}
