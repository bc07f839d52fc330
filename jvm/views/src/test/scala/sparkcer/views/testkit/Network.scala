package sparkcer.views.testkit

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.types.StructType

import sparkcer.views.Views

/** The example of the ViewDF paper: packet loss between pairs of hosts, with one row for each pair and minute. */
object Network {
  val Begin = 1420070400L / 60 // 2015-01-01 00:00
  val Schema = "t TIMESTAMP, src STRING, dest STRING, loss INT"

  val Helper: String =
    """CREATE VIEW Helper AS
      |INITIALIZE Helper[i] AS
      |  SELECT src, dest, 1 AS ct, loss AS sum_loss FROM M[i] WHERE loss > 10
      |UPDATE Helper[j] AS
      |  SELECT src, dest, ct + 1, sum_loss + loss
      |  FROM (
      |    SELECT New.src AS src, New.dest AS dest, coalesce(Prev.ct, 0) AS ct,
      |           coalesce(Prev.sum_loss, 0) AS sum_loss, New.loss AS loss
      |    FROM M[j] AS New LEFT OUTER JOIN Helper[j-1] AS Prev
      |      ON New.src = Prev.src AND New.dest = Prev.dest
      |    WHERE New.loss > 10)
      |PARTITION LENGTH 60""".stripMargin

  val View2: String =
    """CREATE VIEW View2 AS
      |INITIALIZE View2[i] AS SELECT src, dest, ct, sum_loss FROM Helper[i] WHERE ct >= 4
      |UPDATE View2[j] AS SELECT src, dest, ct, sum_loss FROM Helper[j] WHERE ct >= 4
      |PARTITION LENGTH 60""".stripMargin

  /** The range differs from that of the ViewDF paper, in which the first part has the number 1. Here numbers are Unix
    * times divided by the length, so the first part of an hour has a number that is divisible by 60.
    */
  val View3: String =
    """CREATE VIEW View3 AS
      |INITIALIZE View3[i] AS
      |  SELECT src, dest, sum(loss) AS sum_loss FROM M[i*60 .. i*60+59] GROUP BY src, dest
      |UPDATE View3[j] AS
      |  SELECT src, dest, sum(loss) AS sum_loss FROM M[j*60 .. j*60+59] GROUP BY src, dest
      |PARTITION LENGTH 3600""".stripMargin

  /** Fails for a part with a loss of 0. */
  val Broken: String =
    """CREATE VIEW Broken AS
      |INITIALIZE Broken[i] AS SELECT src, 100 div loss AS q FROM M[i]
      |UPDATE Broken[j] AS SELECT src, 100 div loss AS q FROM M[j]
      |PARTITION LENGTH 60""".stripMargin

  val J: String =
    """CREATE VIEW J AS
      |INITIALIZE J[i] AS SELECT * FROM M[i] NATURAL JOIN N[i]
      |UPDATE J[j] AS SELECT * FROM M[j] NATURAL JOIN N[j]
      |PARTITION LENGTH 60""".stripMargin

  def folder(): String = TestFolders.make("views")

  def open(spark: SparkSession): Views = {
    val v = Views.open(spark, folder())
    v.createTable("M", Schema, time = "t", length = "1 minute")
    v
  }

  /** Rows of (minute since `Begin`, source, loss). */
  def rows(spark: SparkSession, values: (Long, String, Int)*): DataFrame = spark.createDataFrame(
    values.map { case (minute, src, loss) =>
      Row(new Timestamp((Begin + minute) * 60000 + 5000), src, "d", loss)
    }.asJava,
    StructType.fromDDL(Schema)
  )

  /** The views, parts and actions of a report, in the order of views and parts. */
  def told(report: DataFrame): Seq[String] =
    report.collect().toSeq.sortBy(r => (r.getString(0), r.getLong(1))).map { r =>
      s"${r.getString(0)}[${r.getLong(1) - (if (r.getString(0) == "View3") Begin / 60 else Begin)}] ${r.getString(3)}"
    }

  def texts(df: DataFrame): Seq[String] = df.collect().toSeq.map(_.toString).sorted
}
