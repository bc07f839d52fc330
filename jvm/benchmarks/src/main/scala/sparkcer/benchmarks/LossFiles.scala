package sparkcer.benchmarks

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.StructType

/** Made measurements of packet loss, as in the experiments of the ViewDF paper: each part has a row for each pair of
  * addresses, and ten rows for each link, in the order of their times.
  *
  * @param high
  *   percent of the rows whose loss is above ten
  */
final class LossFiles(spark: SparkSession, rows: Long, high: Int) {
  private val folder: Path = Files.createTempDirectory("loss")

  /** Numbers of parts as a view has them: minutes since 1970. */
  def partOf(i: Int): Long = LossFiles.First + i

  private def path(i: Int): String = folder.resolve(i.toString).toString

  def write(i: Int): Unit = {
    val draw = pmod(xxhash64(col("id"), lit(i)), lit(1000000L))
    spark
      .range(0, rows, 1, 2)
      .select(
        timestamp_seconds(lit(partOf(i) * LossFiles.Length) + (col("id") * LossFiles.Length / rows).cast("int"))
          .as("t"),
        concat(lit("10.0."), (col("id") / 1000).cast("int")).as("src"),
        concat(lit("10.1."), col("id") % 1000).as("dest"),
        concat(lit("link "), col("id") % (rows / 10)).as("link"),
        when(draw % 100 < high, lit(11) + draw % 7).otherwise(draw % 11).cast("int").as("loss")
      )
      .write
      .parquet(path(i))
  }

  def part(i: Int): DataFrame = parts(i, i)

  def parts(first: Int, last: Int): DataFrame =
    spark.read.schema(LossFiles.Schema).parquet((first to last).map(path): _*)

  def delete(): Unit = SparkRun.delete(folder)
}

object LossFiles {
  val Length = 60L
  val First = 23667840L
  val Schema: StructType = StructType.fromDDL("t TIMESTAMP, src STRING, dest STRING, link STRING, loss INT")
}
