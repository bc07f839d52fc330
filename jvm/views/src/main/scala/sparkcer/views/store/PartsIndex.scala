package sparkcer.views.store

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.{LongType, StructType}

import sparkcer.views.statement.PartRange

/** Files with rows of a part, or of a range of parts that were rolled up. */
private[views] final case class StoredFiles(parts: PartRange, files: Vector[FileStatus])

/** Tells Spark which files to scan. The files are known from the catalog, so that no folder is listed. Files of parts
  * that do not meet a condition on the number of the part are left out.
  */
private[views] final case class PartsIndex(root: Path, partitionSchema: StructType, stored: Vector[StoredFiles])
    extends FileIndex {
  def rootPaths: Seq[Path] = Seq(root)

  def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val conditions = (partitionFilters ++ dataFilters).filter { f =>
      f.deterministic && f.references.nonEmpty && f.references.forall(_.name == PartColumns.Number) &&
      !SubqueryExpression.hasSubquery(f)
    }
    val bound = conditions.reduceOption(And(_, _)).map { c =>
      Predicate.createInterpreted(c.transform { case a: AttributeReference => BoundReference(0, LongType, a.nullable) })
    }
    stored
      .filter(s => bound.forall(p => s.parts.indexes.exists(n => p.eval(InternalRow(n)))))
      .groupBy(_.parts)
      .toVector
      .sortBy(_._1.first)
      .map { case (parts, same) =>
        val values = if (partitionSchema.isEmpty) InternalRow.empty else InternalRow(parts.first)
        PartitionDirectory(values, same.flatMap(_.files).toArray)
      }
  }

  def inputFiles: Array[String] = stored.flatMap(_.files).map(_.getPath.toString).toArray
  def refresh(): Unit = ()
  lazy val sizeInBytes: Long = stored.flatMap(_.files).map(_.getLen).sum
}
