package sparkcer.internal.testkit

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.nio.file.{Files, Path}
import java.sql.Timestamp
import java.util.zip.{ZipEntry, ZipInputStream, ZipOutputStream}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, SQLContext, SparkSession}

import sparkcer._
import sparkcer.internal.testkit.Memory.MemoryStream

/** Streams that are stopped in the middle, with events held, matches begun and timers set. Their checkpoints are kept
  * among the resources of the tests, one folder for each format of the state, and every later spark-cer must go on with
  * them, or refuse them in words.
  *
  * When the format changes, a checkpoint of the new one is added, written on the oldest Spark there is a build for:
  * {{{
  * SBT_OPTS=-Dspark=… scripts/sbt "spark/Test/runMain sparkcer.internal.testkit.Checkpoints jvm/spark/src/test/resources/checkpoints/format-…"
  * }}}
  */
object Checkpoints {
  final case class Sample(name: String, query: String, snapshots: Boolean = false)

  val samples: Seq[Sample] = Seq(
    Sample("plain", "SELECT * FROM S WHERE (A AS x ; B+ AS ys ; C AS z) PARTITION BY [key] WITHIN 30 seconds"),
    Sample(
      "correlated",
      "SELECT x, ys, z FROM S WHERE (A AS x ; B+ AS ys ; C AS z) " +
        "FILTER x.ref = ys.ref AND ys[v > PREV.v] AND z[abs(v - x.v) < 4] AND z.v > ys.v WITHIN 30 seconds"
    ),
    Sample("max", "SELECT MAX * FROM S WHERE (A ; B+ ; C) PARTITION BY [key] WITHIN 20 seconds"),
    Sample(
      "snapshots",
      "SELECT * FROM S WHERE (A AS x ; C AS z) PARTITION BY [key] WITHIN 20 seconds",
      snapshots = true
    )
  )

  /** Compiled otherwise since format 2: a condition beside one with PREV has become a test of its own. */
  val mixed: Sample = Sample(
    "mixed",
    "SELECT * FROM S WHERE (A AS x ; B+ AS ys ; C AS z) FILTER ys[v > 1 AND v > PREV.v] WITHIN 20 seconds"
  )

  private type Row = (String, Timestamp, Int, String, Int, Double)

  /** What the micro-batches bring, out of order within the watermark's delay. The last one only moves the watermark. */
  private val batches: Seq[Seq[Row]] = {
    val rng = new scala.util.Random(5)
    def event(kind: String, second: Double, id: Int): Row = (
      kind,
      new Timestamp(1700000000000L + (second * 1000).toLong),
      id,
      s"k${rng.nextInt(3)}",
      rng.nextInt(3),
      rng.nextInt(12) / 2.0
    )
    val all = (0 until 90).map(i => event(rng.shuffle(Seq("A", "B", "C", "X")).head, i, i))
    val arrived = all.zipWithIndex.sortBy { case (_, i) => i + rng.nextDouble() * 8 }.map(_._1)
    val (before, after) = arrived.splitAt(15 * Stop)
    before.grouped(15).toSeq ++ Seq(after, Seq(event("X", 500, 500)))
  }

  /** Micro-batches before the stop. */
  private def Stop = 3

  private def columns(df: DataFrame) = df.toDF("type", "ts", "id", "key", "ref", "v")

  /** Out of order within this delay, and one that has come is read when one has come that is so much later. */
  private val Delay = 10

  def events(spark: SparkSession): DataFrame = {
    import spark.implicits._
    columns(batches.flatten.toDF())
  }

  /** Of them, those that are read before the stop. */
  def read(spark: SparkSession): DataFrame = {
    import spark.implicits._
    val come = batches.take(Stop).flatten
    val last = come.map(_._2.getTime).max
    columns(come.filter(_._2.getTime < last - Delay * 1000).toDF())
  }

  /** The same events in a stream that has not begun. */
  final class Run(spark: SparkSession, sample: Sample, checkpoint: Path) {
    import spark.implicits._
    implicit private val sqlContext: SQLContext = spark.sqlContext
    private val input = MemoryStream[Row]
    val events: DataFrame = columns(input.toDF()).withWatermark("ts", s"$Delay seconds")

    /** Runs the stream from where the checkpoint is, through some of the micro-batches. The identities of the matches.
      */
    private def run(from: Int, until: Int): Seq[String] = {
      val matches = events.cer(sample.query, snapshots = sample.snapshots)
      val found = mutable.ArrayBuffer.empty[String]
      val collect: (DataFrame, Long) => Unit = (rows, _) => found ++= rows.select("match_id").as[String].collect()
      batches.take(from).foreach(b => input.addData(b: _*))
      val running = matches.writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint.toString).start()
      try
        batches.slice(from, until).foreach { b =>
          input.addData(b: _*)
          running.processAllAvailable()
        }
      finally running.stop()
      found.toSeq.sorted
    }

    def begin(): Seq[String] = run(0, Stop)
    def resume(): Seq[String] = run(Stop, batches.length)
  }

  // Files

  private val Before = "matches-before-the-stop.txt"

  /** Spark writes absolute paths into a checkpoint. */
  private val Place = "file:/the/checkpoint"

  def main(args: Array[String]): Unit = {
    val folder = Files.createDirectories(Path.of(args.head))
    (samples :+ mixed).foreach { s =>
      val checkpoint = Files.createTempDirectory("cer")
      val found = new Run(SparkSuite.spark, s, checkpoint).begin()
      Files.writeString(checkpoint.resolve(Before), found.mkString("", "\n", "\n")): Unit
      pack(checkpoint, folder.resolve(s"${s.name}.zip"))
    }
    SparkSuite.spark.stop()
  }

  private def pack(checkpoint: Path, zip: Path): Unit = {
    val out = new ZipOutputStream(Files.newOutputStream(zip))
    val files = Files.walk(checkpoint).iterator().asScala.filter(Files.isRegularFile(_)).toVector.sorted
    files.filterNot(_.getFileName.toString.endsWith(".crc")).foreach { f =>
      out.putNextEntry(new ZipEntry(checkpoint.relativize(f).toString))
      out.write(replaced(Files.readAllBytes(f), s"file:$checkpoint", Place))
    }
    out.close()
  }

  /** The checkpoint of a format in a folder of its own, and the identities of the matches found before the stop. */
  def unpack(format: Int, sample: Sample): (Path, Seq[String]) = {
    val checkpoint = Files.createTempDirectory("cer")
    val in = new ZipInputStream(getClass.getResourceAsStream(s"/checkpoints/format-$format/${sample.name}.zip"))
    Iterator.continually(in.getNextEntry).takeWhile(_ != null).foreach { entry =>
      val file = checkpoint.resolve(entry.getName)
      Files.createDirectories(file.getParent)
      Files.write(file, replaced(in.readAllBytes(), Place, s"file:$checkpoint"))
    }
    in.close()
    (checkpoint, Files.readString(checkpoint.resolve(Before), UTF_8).linesIterator.toVector)
  }

  private def replaced(bytes: Array[Byte], what: String, by: String): Array[Byte] =
    new String(bytes, ISO_8859_1).replace(what, by).getBytes(ISO_8859_1)
}
