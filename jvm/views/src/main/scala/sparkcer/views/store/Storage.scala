package sparkcer.views.store

import java.io.FileNotFoundException
import java.util.UUID

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile

import org.apache.spark.sql.{Column, DataFrame, DataFrameWriter, Row, SaveMode, SparkSession}
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.datasources.{DataSource, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.{Plans, Sessions}
import org.apache.spark.sql.types._

import sparkcer.views.catalog.{DataFile, DataFolder, Part, Table}
import sparkcer.views.statement.PartRange

/** The rows of parts in Parquet files: `<table>/<folder>/….parquet`. A folder that was written here belongs to no part
  * until the catalog names it.
  */
private[views] final class Storage(spark: SparkSession, root: Path) {
  import Storage._

  // One copy of all settings, which takes milliseconds to create: it is used for each file of each part.
  private val hadoop = Sessions.session(spark).sessionState.newHadoopConf()
  private val fs: FileSystem = root.getFileSystem(hadoop)
  // Without them, Parquet reads all settings of Hadoop from their files again for each footer.
  private val footers = HadoopReadOptions.builder(hadoop).build()

  private val sessions = new PartSession(spark)

  /** Writes rows of one part to a new folder. */
  def write(table: String, rows: DataFrame): WrittenRows = {
    val folder = s"$table/${UUID.randomUUID()}"
    val query = sessions.query(rows)
    val target = DataSource(
      Sessions.session(query),
      className = "parquet",
      options = Committer + ("path" -> new Path(root, folder).toString)
    )
    // As DataFrameWriter does it. But that keeps the plan, which has the metrics, to itself.
    val command = target.planForWriting(SaveMode.ErrorIfExists, Plans.planOf(query))
    val done = Plans.dataFrame(query.sparkSession, command).queryExecution.commandExecuted
    val (made, count) = written(folder)
    WrittenRows(made, count, WrittenRows.read(done))
  }

  /** Writes rows of several parts, each part to its own new folder. The column `part` has the number of the part. Rows
    * in which it is NULL are under None.
    */
  def writeParts(table: String, rows: DataFrame, part: Column): Map[Option[Long], (DataFolder, Long)] = {
    val folder = s"$table/${UUID.randomUUID()}"
    val together =
      sessions.rebalanced(rows.withColumn(PartColumns.Number, part).hint("rebalance", col(PartColumns.Number)))
    save(together.write.partitionBy(PartColumns.Number), folder)
    list(folder)
      .filter(_.isDirectory)
      .map { f =>
        val name = f.getPath.getName
        name.stripPrefix(s"${PartColumns.Number}=").toLongOption -> written(s"$folder/$name")
      }
      .toMap
  }

  /** Writes rows of several parts to one new folder, with the numbers of the parts. */
  def writeRolled(table: String, rows: DataFrame): DataFolder = {
    val folder = s"$table/${UUID.randomUUID()}"
    save(rows.repartition(1).sortWithinPartitions(PartColumns.Number).write, folder)
    dataFolder(folder, dataFiles(folder), rolled = true)
  }

  private def save(writer: DataFrameWriter[Row], folder: String): Unit =
    writer.options(Committer).parquet(new Path(root, folder).toString)

  def delete(folder: String): Unit = {
    fs.delete(new Path(root, folder), true)
    // An append writes a folder with a folder for each part. It is deleted with the last of these.
    val parent = new Path(root, folder).getParent
    if (folder.count(_ == '/') == 2 && !list(parent).exists(_.isDirectory)) fs.delete(parent, true): Unit
  }

  /** The folders of all tables, also of dropped ones. */
  def folders(): Vector[FileStatus] = list(root).filter(_.isDirectory)

  def list(folder: String): Vector[FileStatus] = list(new Path(root, folder))

  private def list(folder: Path): Vector[FileStatus] =
    try fs.listStatus(folder).toVector
    catch { case _: FileNotFoundException => Vector.empty }

  private def dataFiles(folder: String): Vector[FileStatus] =
    list(folder).filter(f => f.isFile && !f.getPath.getName.startsWith("_") && !f.getPath.getName.startsWith("."))

  private def dataFolder(folder: String, files: Vector[FileStatus], rolled: Boolean): DataFolder =
    DataFolder(folder, rolled, files.map(f => DataFile(f.getPath.getName, f.getLen, f.getModificationTime)))

  /** A folder with those of its files that are as they were written. */
  def left(folder: DataFolder): DataFolder = {
    val sizes = list(folder.path).map(f => f.getPath.getName -> f.getLen).toMap
    val there = folder.files.filter(f => sizes.get(f.name).contains(f.size))
    if (there.length == folder.files.length) folder else folder.copy(files = there)
  }

  /** A folder that was just written, and the number of its rows. */
  private def written(folder: String): (DataFolder, Long) = {
    val files = dataFiles(folder)
    (dataFolder(folder, files, rolled = false), count(files))
  }

  /** The number of rows, from the footers of the files. */
  private def count(files: Vector[FileStatus]): Long = files.map { f =>
    val reader = ParquetFileReader.open(HadoopInputFile.fromStatus(f, hadoop), footers)
    try reader.getRecordCount
    finally reader.close()
  }.sum

  /** The rows of parts, with the number of the part in a column. To plan it, no folder is listed and no file is read.
    */
  def scan(table: Table, parts: Seq[Part]): DataFrame = {
    val (rolled, plain) = (for (p <- parts; f <- p.folders) yield p.index -> table.folder(f)).partition(_._2.rolled)
    val one =
      if (plain.isEmpty) None
      else
        Some(
          relation(
            table.columns,
            PartNumber,
            plain.map { case (n, p) => StoredFiles(PartRange(n, n), statuses(p)) }.toVector
          )
        )
    def several(folders: Seq[(DataFolder, Seq[Long])]) = {
      val numbers = folders.flatMap(_._2).sorted
      val files = folders.map { case (f, of) => StoredFiles(PartRange(of.min, of.max), statuses(f)) }
      relation(StructType(table.columns.fields ++ PartNumber.fields), new StructType(), files.toVector)
        .where(within(numbers))
    }
    // A folder can have old rows of parts that were recomputed since, and that now have another folder. Such folders are
    // scanned one by one, and all others together.
    lazy val uses = table.parts.flatMap(_.folders).groupMapReduce(identity)(_ => 1L)(_ + _)
    val (whole, outdated) = rolled
      .groupMap(_._2)(_._1)
      .toVector
      .partition { case (f, _) => f.parts > 0 && uses(f.path) == f.parts }
    val many = (if (whole.isEmpty) Vector.empty else Vector(several(whole))) ++ outdated.map(f => several(Seq(f)))
    val plans = one.toVector ++ many
    val all = table.columns.fieldNames.map(PartColumns.quoted) :+ col(PartColumns.Number)
    if (plans.isEmpty) empty(table.columns.add(PartColumns.Number, LongType))
    else plans.map(_.select(all.toIndexedSeq: _*)).reduce(_ unionAll _)
  }

  private def statuses(p: DataFolder): Vector[FileStatus] =
    p.files.map { f =>
      val path = fs.makeQualified(new Path(new Path(root, p.path), f.name))
      new FileStatus(f.size, false, 1, 128L << 20, f.modified, path)
    }

  private def within(numbers: Seq[Long]): Column =
    if (numbers.last - numbers.head + 1 == numbers.length) col(PartColumns.Number).between(numbers.head, numbers.last)
    else col(PartColumns.Number).isin(numbers: _*)

  private def relation(data: StructType, partition: StructType, files: Vector[StoredFiles]): DataFrame = {
    val session = Sessions.session(sessions.scan(files.length))
    Plans.dataFrame(
      spark,
      LogicalRelation(
        HadoopFsRelation(PartsIndex(root, partition, files), partition, data, None, new SmallFiles, Map.empty)(session)
      )
    )
  }

  private def empty(schema: StructType): DataFrame = Plans.dataFrame(spark, Storage.empty(schema))
}

private[views] object Storage {

  /** Each task moves its files to the folder when it ends, and there is no `_SUCCESS` file: nobody reads a folder
    * before the catalog names it. This saves renames, which are copies on object stores.
    */
  private val Committer = Map(
    "mapreduce.fileoutputcommitter.algorithm.version" -> "2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs" -> "false"
  )

  private val PartNumber = new StructType().add(PartColumns.Number, LongType)

  def empty(schema: StructType): LogicalPlan =
    LocalRelation(schema.map(f => AttributeReference(f.name, f.dataType)()), Nil)
}
