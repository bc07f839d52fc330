package sparkcer.internal.testkit

import scala.concurrent.duration.{Duration, DurationInt}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

/** Tests on one local session, which all suites share. */
abstract class SparkSuite extends munit.FunSuite with AdaptiveSparkPlanHelper {
  protected val spark: SparkSession = SparkSuite.spark

  /** A busy machine may take its time. */
  override val munitTimeout: Duration = 10.minutes

  protected def operator[A <: SparkPlan](df: DataFrame)(pick: PartialFunction[SparkPlan, A]): A =
    collect(df.queryExecution.executedPlan)(pick).head

  /** Runs a stream into the files of a folder, from the checkpoint beside them, over what is fed to it. */
  protected def toFiles(matches: DataFrame, folder: String)(feed: => Unit): Unit = {
    val running = matches.writeStream
      .format("parquet")
      .option("path", folder + "/out")
      .option("checkpointLocation", folder + "/checkpoint")
      .start()
    feed
    running.processAllAvailable()
    running.stop()
  }

  protected def withConf(setting: (String, String))(body: => Unit): Unit = {
    val before = spark.conf.getOption(setting._1)
    spark.conf.set(setting._1, setting._2)
    try body
    finally before.fold(spark.conf.unset(setting._1))(spark.conf.set(setting._1, _))
  }
}

object SparkSuite {

  /** In builds for a Spark that has a Delta, it is on the session too. */
  private val delta = "io.delta.sql.DeltaSparkSessionExtension"
  private val hasDelta = getClass.getClassLoader.getResource(delta.replace('.', '/') + ".class") != null
  private val deltaSettings = Map(
    "spark.sql.catalog.spark_catalog" -> "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions" -> "2" // of 50, for the log of a small table
  )

  private[sparkcer] lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[4]") // Real-Time Mode needs a slot for each input and each shuffle partition
    .config("spark.default.parallelism", "2")
    .appName("spark-cer")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.extensions", "sparkcer.CerExtension" + (if (hasDelta) s",$delta" else ""))
    .config(if (hasDelta) deltaSettings else Map.empty[String, Any])
    .config(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
    .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    .getOrCreate()
}
