package sparkcer.views.delta

import scala.collection.mutable
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.cerbridge.Sessions

import sparkcer.views.catalog.{Catalog, Table}
import sparkcer.views.store.Storage

/** If Delta is available in the session, tables and views are also Delta tables, see [[DeltaLog]]. Exceptions are those
  * with columns that Delta does not support, and those with parts that share a folder because they were rolled up or
  * computed together when Delta was not available: in Delta, a file belongs to one partition.
  */
private[views] final class DeltaTables(spark: SparkSession, root: Path, conf: Configuration) {
  lazy val isOn: Boolean =
    Try(DataSource.lookupDataSource("delta", Sessions.session(spark).sessionState.conf)).isSuccess

  private val logs = mutable.Map.empty[String, DeltaLog]

  /** Updates all logs to the catalog, and deletes the logs of dropped tables. */
  def publish(catalog: Catalog, storage: Storage): Unit = if (isOn) synchronized {
    val fitting = catalog.tables.filter(t => DeltaLog.fits(t.columns) && !sharesFolders(t))
    fitting.foreach { t =>
      logs.getOrElseUpdate(t.name, new DeltaLog(spark, new Path(root, t.name), conf)).publish(t, catalog.version)
    }
    for {
      f <- storage.folders() if catalog.tables.forall(_.name != f.getPath.getName)
      log <- storage.list(f.getPath.getName) if log.getPath.getName == DeltaLog.Folder
    } {
      logs -= f.getPath.getName
      log.getPath.getFileSystem(conf).delete(log.getPath, true)
    }
  }

  private def sharesFolders(t: Table): Boolean =
    t.folders.exists(_.rolled) || t.parts.iterator.map(_.folders.length).sum > t.folders.length
}
