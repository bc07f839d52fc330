package sparkcer.views.bench

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.col

import sparkcer.views.catalog.{CatalogFiles, Part}
import sparkcer.views.store.{PartColumns, Storage}

/** Parts of a view that were not computed by the maintainer, which would take minutes for ten thousand of them. They
  * are stored as it stores them: each in a folder of its own.
  */
object FilledView {

  /** The column for the number of the part. */
  val Number: String = PartColumns.Number

  /** @param rows
    *   of the first parts of a view that has none yet, with their numbers
    */
  def fill(spark: SparkSession, folder: String, view: String, rows: DataFrame): Unit = {
    val root = new Path(folder)
    val files = new CatalogFiles(root, spark.sparkContext.hadoopConfiguration)
    val staged = new Storage(spark, root).writeParts(view, rows, col(Number)).map { case (n, w) => n.get -> w }
    files.commit { (c, version) =>
      val table = c(view)
      val parts =
        staged.toVector.sortBy(_._1).map { case (n, (f, count)) => Part(n, Vector(f.path), count, version, 0) }
      require(parts.head.index == table.next.get && parts.last.index - parts.head.index + 1 == parts.length)
      (c.updated(table.copy(parts = parts, folders = staged.values.map(_._1).toVector)), ())
    }
  }
}
