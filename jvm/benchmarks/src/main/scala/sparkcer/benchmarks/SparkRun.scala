package sparkcer.benchmarks

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQueryProgress, Trigger}

/** What a run took: time on the wall, and CPU time of its tasks, in seconds. */
final case class Took(wall: Double, cpu: Double)

/** A local session that runs queries into `noop` and takes the time. */
final class SparkRun(cores: Int) {
  val spark: SparkSession = SparkSession
    .builder()
    .master(s"local[$cores]")
    .appName("spark-cer benchmark")
    .config("spark.sql.shuffle.partitions", "2")
    .config(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
    .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    .getOrCreate()

  private val taskNanos = new AtomicLong
  spark.sparkContext.addSparkListener(new SparkListener {
    override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
      Option(end.taskMetrics).foreach(m => taskNanos.addAndGet(m.executorCpuTime): Unit)
  })

  /** One run of a batch. */
  def batch(df: DataFrame): Took = {
    settle()
    val (cpu, start) = (taskNanos.get, System.nanoTime())
    df.write.format("noop").mode("overwrite").save()
    val wall = (System.nanoTime() - start) / 1e9
    settle()
    Took(wall, (taskNanos.get - cpu) / 1e9)
  }

  /** Metrics of tasks come a little later than their results. */
  private def settle(): Unit = {
    var before = -1L
    while (taskNanos.get != before) {
      before = taskNanos.get
      Thread.sleep(100)
    }
  }

  /** One run of a stream over all its files, micro-batch by micro-batch.
    *
    * @param seen
    *   called after the run with its checkpoint
    */
  def stream(df: DataFrame, seen: Path => Unit = _ => ()): Vector[StreamingQueryProgress] = {
    val checkpoint = Files.createTempDirectory("checkpoint")
    val all = stream(df, checkpoint)
    seen(checkpoint)
    SparkRun.delete(checkpoint)
    all
  }

  /** The same from a checkpoint that stays. */
  def stream(df: DataFrame, checkpoint: Path): Vector[StreamingQueryProgress] = {
    val query = df.writeStream
      .format("noop")
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
    query.recentProgress.toVector.filter(_.numInputRows > 0)
  }

  def stop(): Unit = spark.stop()
}

object SparkRun {
  def delete(folder: Path): Unit = {
    val all = Files.walk(folder)
    try all.iterator().asScala.toVector.reverse.foreach(Files.deleteIfExists(_): Unit)
    finally all.close()
  }
}
