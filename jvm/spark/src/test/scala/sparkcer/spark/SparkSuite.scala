package sparkcer.spark

import scala.concurrent.duration.{Duration, DurationInt}

import org.apache.spark.sql.SparkSession

/** Tests on one local session, which all suites share. */
abstract class SparkSuite extends munit.FunSuite {
  protected val spark: SparkSession = SparkSuite.spark

  /** A busy machine may take its time. */
  override val munitTimeout: Duration = 10.minutes
}

object SparkSuite {
  private[spark] lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("spark-cer")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.extensions", "sparkcer.CerExtension")
    .config(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
    .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    .getOrCreate()
}
