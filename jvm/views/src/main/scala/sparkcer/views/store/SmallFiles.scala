package sparkcer.views.store

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** Parquet for many small files. For each file that it opens, Spark copies all settings of Hadoop, more than a
  * thousand: about a third of the work of its tasks, by a profile of a scan of 10,000 files with 20 rows each. Nearly
  * all of them have their default values, and only file systems ask for those: readers have the same defaults in their
  * code. So the file system is created with all settings, and the files are read with those that someone has set.
  */
private[views] final class SmallFiles extends ParquetFileFormat {
  override def buildReaderWithPartitionValues(
      spark: SparkSession,
      dataSchema: StructType,
      partitionSchema: StructType,
      requiredSchema: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      hadoopConf: Configuration
  ): PartitionedFile => Iterator[InternalRow] = {
    // The file system in the cache is the one that the reader gets. Without a cache, it would create its own.
    val isCached = !hadoopConf.asScala.exists(e => e.getKey.endsWith(".disable.cache") && e.getValue.toBoolean)
    val settings = if (isCached) SmallFiles.set(hadoopConf) else hadoopConf
    val read = super.buildReaderWithPartitionValues(
      spark,
      dataSchema,
      partitionSchema,
      requiredSchema,
      filters,
      options,
      settings
    )
    if (isCached) {
      val all = spark.sparkContext.broadcast(new SerializableConfiguration(hadoopConf))
      file => {
        file.toPath.getFileSystem(all.value.value): Unit
        read(file)
      }
    } else read
  }
}

private[views] object SmallFiles {

  /** The settings that are not from the files with Hadoop's defaults. */
  def set(all: Configuration): Configuration = {
    val some = new Configuration(false)
    all.asScala.foreach { e =>
      val sources = all.getPropertySources(e.getKey)
      if (sources == null || !sources.forall(_.endsWith("-default.xml"))) some.set(e.getKey, e.getValue)
    }
    some
  }
}
