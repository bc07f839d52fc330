package sparkcer.spark

import org.apache.spark.sql.SparkSession

/** One local session for all suites of a JVM. */
object SparkFixture {
  lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("spark-cer")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
    .getOrCreate()
}
