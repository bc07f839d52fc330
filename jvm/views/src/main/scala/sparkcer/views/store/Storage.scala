package sparkcer.views.store

import java.io.FileNotFoundException
import java.util.UUID

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile

import org.apache.spark.sql.{Column, DataFrame, DataFrameWriter, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.{Plans, Sessions}
import org.apache.spark.sql.types._

import sparkcer.views.catalog.{DataFile, Part, PartsIndex, Piece, Stored, Table}
import sparkcer.views.maintain.PartSession
import sparkcer.views.statement.Range

/** The rows of parts, in Parquet: `<Table>/<piece>/….parquet`. What is written here belongs to no one until the catalog
  * names it.
  */
private[views] final class Storage(spark: SparkSession, root: Path) {
  import Storage._

  // Made once: a copy of all settings takes milliseconds, and each file of each part is asked for.
  private val hadoop = Sessions.session(spark).sessionState.newHadoopConf()
  private val fs: FileSystem = root.getFileSystem(hadoop)

  private val sessions = new PartSession(spark)

  /** Writes rows as one piece of a table. */
  def write(table: String, rows: DataFrame): (Piece, Long) = {
    val folder = s"$table/${UUID.randomUUID()}"
    save(sessions.query(rows).write, folder)
    written(folder)
  }

  /** Writes rows of several parts, each to a piece of its own, under the number in `part`. Rows whose number is NULL
    * come under None.
    */
  def writeParts(table: String, rows: DataFrame, part: Column): Map[Option[Long], (Piece, Long)] = {
    val folder = s"$table/${UUID.randomUUID()}"
    val together = sessions.rebalanced(rows.withColumn(PartColumn, part).hint("rebalance", col(PartColumn)))
    save(together.write.partitionBy(PartColumn), folder)
    list(folder)
      .filter(_.isDirectory)
      .map { f =>
        val name = f.getPath.getName
        name.stripPrefix(s"$PartColumn=").toLongOption -> written(s"$folder/$name")
      }
      .toMap
  }

  /** Writes rows of several parts as one piece, with their numbers. */
  def writeRolled(table: String, rows: DataFrame): Piece = {
    val folder = s"$table/${UUID.randomUUID()}"
    save(rows.repartition(1).sortWithinPartitions(PartColumn).write, folder)
    piece(folder, dataFiles(folder), rolled = true)
  }

  /** Files go to their place when their task is done, and nothing marks that all are: no one looks at a folder before
    * the catalog names it. That saves renames, which are copies on object stores.
    */
  private def save(writer: DataFrameWriter[Row], folder: String): Unit = writer
    .option("mapreduce.fileoutputcommitter.algorithm.version", "2")
    .option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    .parquet(new Path(root, folder).toString)

  def delete(folder: String): Unit = {
    fs.delete(new Path(root, folder), true)
    // The folder of an append goes with the last of its parts.
    val parent = new Path(root, folder).getParent
    if (folder.count(_ == '/') == 2 && !list(parent).exists(_.isDirectory)) fs.delete(parent, true): Unit
  }

  /** The folders of tables, also of dropped ones. */
  def folders(): Vector[FileStatus] = list(root).filter(_.isDirectory)

  def list(folder: String): Vector[FileStatus] = list(new Path(root, folder))

  private def list(folder: Path): Vector[FileStatus] =
    try fs.listStatus(folder).toVector
    catch { case _: FileNotFoundException => Vector.empty }

  private def dataFiles(folder: String): Vector[FileStatus] =
    list(folder).filter(f => f.isFile && !f.getPath.getName.startsWith("_") && !f.getPath.getName.startsWith("."))

  private def piece(folder: String, files: Vector[FileStatus], rolled: Boolean): Piece =
    Piece(folder, rolled, files.map(f => DataFile(f.getPath.getName, f.getLen, f.getModificationTime)))

  /** A folder that was just written, and its rows. */
  private def written(folder: String): (Piece, Long) = {
    val files = dataFiles(folder)
    (piece(folder, files, rolled = false), count(files))
  }

  /** From the files' footers, without reading a row. */
  private def count(files: Vector[FileStatus]): Long = files.map { f =>
    val reader = ParquetFileReader.open(HadoopInputFile.fromStatus(f, hadoop))
    try reader.getRecordCount
    finally reader.close()
  }.sum

  /** The rows of parts with their numbers, in a column of its own. Nothing is listed and nothing is read for it. */
  def scan(table: Table, parts: Seq[Part]): DataFrame = {
    val (rolled, plain) = (for (p <- parts; f <- p.pieces) yield p.index -> table.piece(f)).partition(_._2.rolled)
    val one =
      if (plain.isEmpty) None
      else
        Some(
          relation(table.columns, PartNumber, plain.map { case (n, p) => Stored(Range(n, n), statuses(p)) }.toVector)
        )
    // A piece may still have rows of parts that were computed anew and are elsewhere now.
    val many = rolled.groupBy(_._2).toVector.map { case (p, of) =>
      val numbers = of.map(_._1).sorted
      val files = Stored(Range(numbers.head, numbers.last), statuses(p))
      relation(StructType(table.columns.fields ++ PartNumber.fields), new StructType(), Vector(files))
        .where(within(numbers))
    }
    val plans = one.toVector ++ many
    val all = table.columns.fieldNames.map(quoted) :+ col(PartColumn)
    if (plans.isEmpty) empty(table.columns.add(PartColumn, LongType))
    else plans.map(_.select(all.toIndexedSeq: _*)).reduce(_ unionAll _)
  }

  private def statuses(p: Piece): Vector[FileStatus] =
    p.files.map { f =>
      val path = fs.makeQualified(new Path(new Path(root, p.folder), f.name))
      new FileStatus(f.size, false, 1, 128L << 20, f.modified, path)
    }

  private def within(numbers: Seq[Long]): Column =
    if (numbers.last - numbers.head + 1 == numbers.length) col(PartColumn).between(numbers.head, numbers.last)
    else col(PartColumn).isin(numbers: _*)

  private def relation(data: StructType, partition: StructType, files: Vector[Stored]): DataFrame = {
    val session = Sessions.session(spark)
    Plans.dataFrame(
      spark,
      LogicalRelation(
        HadoopFsRelation(PartsIndex(root, partition, files), partition, data, None, new ParquetFileFormat, Map.empty)(
          session
        )
      )
    )
  }

  private def empty(schema: StructType): DataFrame = Plans.dataFrame(spark, Storage.empty(schema))
}

private[views] object Storage {

  /** Carries the number of a part where rows of several are together. */
  val PartColumn = "_part"
  private val PartNumber = new StructType().add(PartColumn, LongType)

  def quoted(name: String): Column = col(s"`${name.replace("`", "``")}`")

  def empty(schema: StructType): LogicalPlan =
    LocalRelation(schema.map(f => AttributeReference(f.name, f.dataType)()), Nil)
}
