package sparkcer.internal.restart

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, SQLContext}
import org.apache.spark.sql.cerbridge.Columns
import org.apache.spark.sql.functions.{col, hash, lit}
import org.apache.spark.sql.streaming.StreamingQueryException

import sparkcer._
import sparkcer.internal.prepare.Pack
import sparkcer.internal.stream.BucketOf
import sparkcer.internal.testkit.{Checkpoints, SparkSuite}
import sparkcer.internal.testkit.Memory.MemoryStream

/** What goes on from a checkpoint, and what is refused. */
class CheckpointSuite extends SparkSuite {
  private val session = spark
  import session.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def identities(df: DataFrame): Seq[String] = df.select("match_id").as[String].collect().sorted.toSeq

  for (sample <- Checkpoints.samples)
    test(s"one of format 1 goes on where it was stopped: ${sample.name}") {
      val (checkpoint, before) = Checkpoints.unpack(1, sample)
      val after = new Checkpoints.Run(spark, sample, checkpoint).resume()
      assertEquals((before ++ after).sorted, identities(Checkpoints.events(spark).cer(sample.query, time = "ts")))
      assert(before.nonEmpty && after.nonEmpty)
    }

  test("one of format 1 serves a snapshot") {
    val sample = Checkpoints.samples.find(_.snapshots).get
    val (checkpoint, _) = Checkpoints.unpack(1, sample)
    val stream = new Checkpoints.Run(spark, sample, checkpoint).events
    val found = identities(stream.cerSnapshot(sample.query, checkpoint = checkpoint.toString))
    assertEquals(found, identities(Checkpoints.read(spark).cerSnapshot(sample.query, time = "ts")))
    assert(found.nonEmpty)
  }

  private def refused(body: => Any): String = {
    val e = intercept[StreamingQueryException](body)
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toVector.last.getMessage
  }

  private val advice = "Start with a new checkpointLocation, or go back to what it was."

  test("one of format 1 whose query is compiled otherwise now is refused") {
    val (checkpoint, _) = Checkpoints.unpack(1, Checkpoints.mixed)
    assertEquals(
      refused(new Checkpoints.Run(spark, Checkpoints.mixed, checkpoint).resume()),
      "[CER_STATE_MISMATCH] This version of spark-cer compiles the query differently from the one that wrote the checkpoint. Start with a new checkpointLocation, or use that version."
    )
  }

  private type Row = (String, String, Long, String)
  private val query = "SELECT a[t], b[t] FROM S WHERE (A AS a ; B AS b) PARTITION BY [k] WITHIN 10 [t]"

  /** A key for each of two buckets. */
  private lazy val keys: Seq[String] = {
    val ids = BucketOf.ids(2)
    def bucket(k: String) = {
      val packed = Columns.column(Pack(None, Seq(Columns.expression(lit(k)))))
      ids(Math.floorMod(spark.range(1).select(hash(packed)).as[Int].head(), 2))
    }
    ids.map(id => Iterator.from(0).map(i => s"k$i").find(bucket(_) == id).get)
  }

  /** Runs a stream over one more event, from the checkpoint in a folder. */
  private def run(folder: String, input: MemoryStream[Row])(row: Row)(query: DataFrame => DataFrame): Unit =
    toFiles(query(input.toDF().toDF("type", "kind", "t", "k")), folder)(input.addData(row): Unit)

  test("another type column is refused, also where all keys are new") {
    for ((one, other) <- Seq((keys.head, keys.last), (keys.last, keys.head))) {
      val folder = Files.createTempDirectory("cer").toString
      val input = MemoryStream[Row]
      run(folder, input)(("A", "B", 1, one))(_.cer(query))
      assertEquals(
        refused(run(folder, input)(("A", "B", 2, other))(_.cer(query, eventType = "kind"))),
        s"[CER_STATE_MISMATCH] The checkpoint was written with type='type', and now there is type='kind'. $advice"
      )
      // As it was, it goes on, and nothing is lost.
      run(folder, input)(("B", "A", 3, one))(_.cer(query))
      val found = spark.read.parquet(folder + "/out").select("a.t", "b.t").as[(Long, Long)].collect().toSeq
      assertEquals(found, Seq((1L, 3L)))
    }
  }

  test("another type of the key is refused") {
    val folder = Files.createTempDirectory("cer").toString
    val input = MemoryStream[Row]
    run(folder, input)(("A", "", 1, "1"))(_.cer(query))
    assertEquals(
      refused(run(folder, input)(("B", "", 2, "1"))(_.withColumn("k", col("k").cast("int")).cer(query))),
      "[CER_STATE_MISMATCH] A column of PARTITION BY or WITHIN has another type than when the checkpoint was written.\n" +
        s"Then: k STRING, BIGINT\nNow:  k INT, BIGINT\n$advice"
    )
  }

  /** As if Spark kept the number of partitions in a place that nobody here knows. */
  private def rewritten(checkpoint: Path, before: String, after: String): Unit =
    Files.walk(checkpoint.resolve("offsets")).iterator().asScala.filter(Files.isRegularFile(_)).toVector.foreach { f =>
      if (f.toString.endsWith(".crc")) Files.delete(f)
      else Files.writeString(f, Files.readString(f).replace(before, after)): Unit
    }

  test("another number of partitions than the checkpoint's is refused") {
    val folder = Files.createTempDirectory("cer").toString
    val input = MemoryStream[Row]
    withConf("spark.sql.shuffle.partitions" -> "3")(run(folder, input)(("A", "", 1, "1"))(_.cer(query)))
    rewritten(
      Path.of(folder, "checkpoint"),
      "\"spark.sql.shuffle.partitions\":\"3\"",
      "\"spark.sql.shuffle.partitions\":\"1\""
    )
    assertEquals(
      refused(run(folder, input)(("B", "", 2, "1"))(_.cer(query))),
      s"[CER_STATE_MISMATCH] The checkpoint was written with 3 buckets of keys, one for each shuffle partition, and now there are 1. $advice"
    )
  }

  test("a snapshot asks the same of a checkpoint") {
    val folder = Files.createTempDirectory("cer").toString
    val input = MemoryStream[Row]
    run(folder, input)(("A", "B", 1, "k"))(_.cer(query, snapshots = true))
    val events = input.toDF().toDF("type", "kind", "t", "k")
    val snapshot = events.cerSnapshot(query, checkpoint = folder + "/checkpoint", eventType = "kind")
    val e = intercept[Exception](snapshot.collect())
    assertEquals(
      Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toVector.last.getMessage,
      s"[CER_STATE_MISMATCH] The checkpoint was written with type='type', and now there is type='kind'. $advice"
    )
  }
}
