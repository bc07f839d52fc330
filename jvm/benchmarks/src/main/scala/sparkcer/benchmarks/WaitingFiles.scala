package sparkcer.benchmarks

import java.nio.file.{Files, Path}
import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, SparkSession}

/** An event of a shop: a cart is opened, or paid. */
final case class Click(`type`: String, cart: Long, ts: Timestamp)

/** Events as Parquet files, each a micro-batch: first many carts, each with its own key and over some time, then small
  * files of clicks.
  */
final class WaitingFiles(folder: Path) {
  import WaitingFiles._

  /** @param carts
    *   how many there are, a thousand a second
    * @param from
    *   the time of the first small file, in seconds; each is ten seconds after the one before
    * @param clicked
    *   type and cart of each click of a small file: by default [[WaitingFiles.Few]]
    */
  def write(spark: SparkSession, carts: Int, from: Long, clicked: Long => (String, Long) = Few): Unit = {
    import spark.implicits._
    val opened =
      spark.range(0, carts.toLong, 1, 1).as[Long].map(i => Click("cart", i, new Timestamp(1700000000000L + i)))
    opened.write.mode("overwrite").parquet(folder.resolve("0").toString)
    (0 until Small).foreach(n => small(spark, n, from, clicked))
    // A stream takes files in the order of these times.
    (0 to Small).foreach(touch)
  }

  /** One more small file. */
  def writeMore(spark: SparkSession, from: Long, clicked: Long => (String, Long)): Unit = {
    small(spark, Small, from, clicked)
    touch(Small + 1)
  }

  private def small(spark: SparkSession, n: Int, from: Long, clicked: Long => (String, Long)): Unit = {
    import spark.implicits._
    val seen = spark.range(0, Clicks.toLong, 1, 1).as[Long].map { i =>
      val (kind, cart) = clicked(n.toLong * Clicks + i)
      Click(kind, cart, new Timestamp(1700000000000L + (from + 10 * n) * 1000 + i))
    }
    seen.write.mode("overwrite").parquet(folder.resolve((n + 1).toString).toString)
  }

  private def touch(n: Int): Unit =
    folder.resolve(n.toString).toFile.listFiles.filter(_.getName.startsWith("part-")).foreach { f =>
      require(f.setLastModified(1000000000000L + n * 1000L))
    }

  def delete(): Unit = SparkRun.delete(folder)

  /** One file a micro-batch. */
  def stream(spark: SparkSession): DataFrame = spark.readStream
    .schema("type STRING, cart BIGINT, ts TIMESTAMP")
    .option("maxFilesPerTrigger", "1")
    .option("recursiveFileLookup", "true")
    .parquet(folder.toString)
}

object WaitingFiles {
  val Small = 24

  /** Of each small file, and the keys that they are about. The last click of each key is a payment. */
  private val Clicks = 10000
  private val Touched = 1000

  /** Few carts, none of the others, are opened and paid several times in each file: these keys are touched while the
    * others wait.
    */
  val Few: Long => (String, Long) = i => (if (i / Touched % 2 == 0) "cart" else "pay", -1 - i % Touched)

  /** How many carts are opened in the time between two small files. */
  val Between = 10000

  def temporary(): WaitingFiles = new WaitingFiles(Files.createTempDirectory("waiting"))
}
