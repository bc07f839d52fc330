package sparkcer.benchmarks

import java.io.File
import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, SparkSession}

/** A stock event as a row. `ts` is `stock_time` as a timestamp. */
final case class Stock(
    `type`: String,
    id: Long,
    name: String,
    volume: Long,
    price: Double,
    stock_time: Long,
    ts: java.sql.Timestamp
)

/** The stream `stocks` as Parquet files in time order, each a micro-batch. */
final class StockFiles(folder: Path) {

  /** How many events a file has, if all have as many. */
  var perFile = 0

  /** @param files
    *   of `perFile` events each
    */
  def write(spark: SparkSession, files: Int, perFile: Int): Unit = {
    this.perFile = perFile
    write(spark, Vector.fill(files)(perFile))
  }

  /** @param sizes
    *   how many events each file has
    */
  def write(spark: SparkSession, sizes: Vector[Int]): Unit = {
    import spark.implicits._
    val before = sizes.scanLeft(0L)(_ + _)
    spark
      .range(0, sizes.length.toLong, 1, sizes.length)
      .as[Long]
      .flatMap(file => StockFiles.rows(file.toInt, sizes(file.toInt), before(file.toInt)))
      .write
      .option("parquet.enable.summary-metadata", "false")
      .mode("overwrite")
      .parquet(folder.toString)
    // A stream takes files in the order of these times.
    parts.zipWithIndex.foreach { case (f, i) => require(f.setLastModified(1000000000000L + i * 1000L)) }
  }

  def delete(): Unit = SparkRun.delete(folder)

  def parts: Vector[File] = folder.toFile.listFiles.filter(_.getName.startsWith("part-")).sortBy(_.getName).toVector

  def batch(spark: SparkSession): DataFrame = spark.read.parquet(folder.toString)

  /** One file a micro-batch. */
  def stream(spark: SparkSession): DataFrame = spark.readStream
    .schema(batch(spark).schema)
    .option("maxFilesPerTrigger", "1")
    .parquet(folder.toString)
}

object StockFiles {

  /** Longer than a file of 500,000 events lasts at 10 a second. */
  private val MillisPerEvent = 101L

  def temporary(): StockFiles = new StockFiles(Files.createTempDirectory("stocks"))

  private def rows(file: Int, n: Int, before: Long): Iterator[Stock] = {
    val events = Streams("stocks", n, Streams.Seed + file)
    val (volume, time) = (events.integers("volume"), events.integers("stock_time"))
    val (kind, name, price) = (events.column("type"), events.column("name"), events.column("price"))
    val shift = before * MillisPerEvent
    Iterator.range(0, n).map { i =>
      events.at = i
      val t = time(i) + shift
      Stock(
        events.ref(kind).toString,
        before + i,
        events.ref(name).toString,
        volume(i),
        events.double(price),
        t,
        new java.sql.Timestamp(t)
      )
    }
  }
}
