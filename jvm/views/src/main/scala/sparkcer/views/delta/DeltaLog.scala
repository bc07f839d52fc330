package sparkcer.views.delta

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.util.Locale

import scala.annotation.tailrec

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.json4s._
import org.json4s.jackson.{JsonMethods, Serialization}

import org.apache.spark.sql.{Encoders, SparkSession}
import org.apache.spark.sql.functions.{struct, to_json}
import org.apache.spark.sql.cerbridge.{Columns, Sessions}
import org.apache.spark.sql.types._

import sparkcer.views.catalog.{AtomicFiles, DataFile, Table}
import sparkcer.views.statement.PartQuery
import sparkcer.views.store.PartColumns

/** The log of a Delta table, `_delta_log` in the folder of a table or a view. It names the same files as the catalog,
  * so that any reader of Delta can read them, also in earlier versions. PART_TIMESTAMP is the partition column.
  *
  * Views read the catalog and never the log. The log is updated by the difference between the two, so a log that a
  * crash left behind is updated by the next run.
  *
  * The log is written here, by the open specification of its format, because the data files exist already. Delta's own
  * writer would write them again.
  */
private[views] final class DeltaLog(spark: SparkSession, folder: Path, conf: Configuration) {
  import DeltaLog._

  private val log = new Path(folder, Folder)
  private val files = new AtomicFiles(log, conf)
  private var known = State()

  /** Updates the log to a version of the catalog, unless it is already at a later version. */
  @tailrec
  def publish(table: Table, catalog: Long): Unit = {
    if (known.version < 0 || files.exists(version(known.version + 1))) known = load()
    if (known.catalog <= catalog && !advance(table, catalog)) publish(table, catalog)
  }

  /** False if another writer was faster. */
  private def advance(table: Table, catalog: Long): Boolean = {
    val wanted = entries(table)
    val about = metaData(table)
    val isNew = known.schema != Some(about._1) || known.id != Some(table.id)
    val head = if (isNew) Seq(protocol(table.columns), about._2) else Nil
    val removed = known.paths.diff(wanted.keySet).toVector.sorted.map(remove)
    val added = wanted.toVector.filterNot(w => known.paths(w._1)).sortBy(_._1).map((add _).tupled)
    if (head.isEmpty && removed.isEmpty && added.isEmpty) true
    else {
      val next = known.version + 1
      val lines = Vector(commitInfo, txn(catalog)) ++ head ++ removed ++ added
      val won = files.put(version(next), lines.mkString("\n").getBytes(UTF_8))
      if (won) {
        known = State(next, catalog, Some(table.id), Some(about._1), wanted.keySet)
        if (next > 0 && next % CheckpointEvery == 0)
          checkpoint(next, Vector(protocol(table.columns), about._2, txn(catalog)) ++ wanted.map((add _).tupled))
      }
      won
    }
  }

  /** The whole state in one file, so that readers need not start with the first version. */
  private def checkpoint(at: Long, lines: Vector[String]): Unit = {
    val temporary = new Path(log, s".checkpoint-$at")
    spark.read
      .schema(Actions)
      .json(Sessions.session(spark).createDataset(lines)(Encoders.STRING))
      .coalesce(1)
      .write
      .mode("overwrite")
      .parquet(temporary.toString)
    val fs = log.getFileSystem(conf)
    val made = fs.listStatus(temporary).map(_.getPath).find(_.getName.endsWith(".parquet")).get
    fs.rename(made, new Path(log, checkpointFile(at)))
    fs.delete(temporary, true)
    val out = fs.create(new Path(log, LastCheckpoint), true)
    try out.write(s"""{"version":$at,"size":${lines.length}}""".getBytes(UTF_8))
    finally out.close()
  }

  private def load(): State = {
    val last = files.read(LastCheckpoint).map(b => JsonMethods.parse(new String(b, UTF_8)) \ "version").collect {
      case JInt(v) => v.toLong
    }
    val start = last.fold(State())(v => checkpointed(v).foldLeft(State(v))(_ after _))
    Iterator
      .iterate(start.version + 1)(_ + 1)
      .map(v => files.read(version(v)).map(v -> _))
      .takeWhile(_.isDefined)
      .flatten
      .foldLeft(start) { case (state, (v, bytes)) =>
        new String(bytes, UTF_8).linesIterator.filter(_.nonEmpty).foldLeft(state.copy(version = v))(_ after _)
      }
  }

  private def checkpointed(at: Long): Iterator[String] = {
    val rows = spark.read.schema(Actions).parquet(new Path(log, checkpointFile(at)).toString)
    rows
      .select(to_json(struct(rows.columns.map(PartColumns.quoted).toIndexedSeq: _*)))
      .collect()
      .iterator
      .map(_.getString(0))
  }
}

private[views] object DeltaLog {
  val Folder = "_delta_log"
  private val LastCheckpoint = "_last_checkpoint"
  private val CheckpointEvery = 10

  private def version(n: Long) = s"${padded(n)}.json"
  private def checkpointFile(n: Long) = s"${padded(n)}.checkpoint.parquet"

  /** Twenty digits of the ASCII, as the protocol of Delta asks, whatever the default locale writes. */
  private def padded(n: Long) = "%020d".formatLocal(Locale.ROOT, n)

  /** The content of a log.
    *
    * @param version
    *   -1 if there is no log
    * @param catalog
    *   the version of the catalog that the log was updated to
    */
  private final case class State(
      version: Long = -1,
      catalog: Long = 0,
      id: Option[String] = None,
      schema: Option[String] = None,
      paths: Set[String] = Set.empty
  ) {
    def after(line: String): State = {
      val action = JsonMethods.parse(line)
      def text(of: JValue) = of match { case JString(s) => Some(s); case _ => None }
      val (added, removed) = (text(action \ "add" \ "path"), text(action \ "remove" \ "path"))
      val reached = action \ "txn" \ "version" match { case JInt(v) => Some(v.toLong); case _ => None }
      copy(
        catalog = reached.getOrElse(catalog),
        id = text(action \ "metaData" \ "id").orElse(id),
        schema = text(action \ "metaData" \ "schemaString").orElse(schema),
        paths = paths ++ added -- removed
      )
    }
  }

  private implicit val formats: Formats = DefaultFormats

  private def action(name: String, fields: (String, Any)*): String = Serialization.write(Map(name -> fields.toMap))

  private def commitInfo =
    action("commitInfo", "timestamp" -> System.currentTimeMillis(), "operation" -> "WRITE", "engineInfo" -> "spark-cer")

  /** The action in which a writer of Delta notes how far it has come. */
  private def txn(catalog: Long) = action("txn", "appId" -> "spark-cer", "version" -> catalog)

  private def protocol(columns: StructType): String =
    if (exists(columns)(_ == TimestampNTZType)) {
      val features = Seq("timestampNtz")
      action(
        "protocol",
        "minReaderVersion" -> 3,
        "minWriterVersion" -> 7,
        "readerFeatures" -> features,
        "writerFeatures" -> features
      )
    } else action("protocol", "minReaderVersion" -> 1, "minWriterVersion" -> 2)

  /** The schema, and the action that sets it. */
  private def metaData(t: Table): (String, String) = {
    val schema = PartColumns.withTimestamp(t.columns).json
    schema -> action(
      "metaData",
      "id" -> t.id,
      "name" -> t.name,
      "format" -> Map[String, Any]("provider" -> "parquet", "options" -> Map.empty[String, String]),
      "schemaString" -> schema,
      "partitionColumns" -> Seq(PartQuery.TimestampColumn),
      "configuration" -> Map.empty[String, String]
    )
  }

  /** The files of all complete parts by their paths, with the start of the part. */
  private def entries(t: Table): Map[String, (Instant, DataFile)] = (for {
    p <- t.parts
    folder <- p.folders
    file <- t.folder(folder).files
  } yield s"${folder.stripPrefix(s"${t.name}/")}/${file.name}" -> (Instant.ofEpochSecond(
    p.index * t.length
  ) -> file)).toMap

  private def add(path: String, entry: (Instant, DataFile)) = {
    val (begin, file) = entry
    action(
      "add",
      "path" -> path,
      "partitionValues" -> Map(PartQuery.TimestampColumn -> begin.toString),
      "size" -> file.size,
      "modificationTime" -> file.modified,
      "dataChange" -> true
    )
  }

  private def remove(path: String) =
    action("remove", "path" -> path, "deletionTimestamp" -> System.currentTimeMillis(), "dataChange" -> true)

  private val Actions = StructType.fromDDL(
    """protocol STRUCT<minReaderVersion: INT, minWriterVersion: INT, readerFeatures: ARRAY<STRING>, writerFeatures: ARRAY<STRING>>,
      |metaData STRUCT<id: STRING, name: STRING, format: STRUCT<provider: STRING, options: MAP<STRING, STRING>>, schemaString: STRING,
      |  partitionColumns: ARRAY<STRING>, configuration: MAP<STRING, STRING>>,
      |txn STRUCT<appId: STRING, version: BIGINT>,
      |add STRUCT<path: STRING, partitionValues: MAP<STRING, STRING>, size: BIGINT, modificationTime: BIGINT, dataChange: BOOLEAN>""".stripMargin
  )

  /** Does Delta support these columns? */
  def fits(columns: StructType): Boolean = !exists(columns) {
    case s: StringType                               => !Columns.isBinary(s)
    case _: NumericType | BooleanType | BinaryType   => false
    case DateType | TimestampType | TimestampNTZType => false
    case _: StructType | _: ArrayType | _: MapType   => false
    case _                                           => true
  } && !names(columns).exists(_.exists(c => " ,;{}()\n\t=".contains(c)))

  private def exists(t: DataType)(what: DataType => Boolean): Boolean = what(t) || (t match {
    case s: StructType => s.exists(f => exists(f.dataType)(what))
    case a: ArrayType  => exists(a.elementType)(what)
    case m: MapType    => exists(m.keyType)(what) || exists(m.valueType)(what)
    case _             => false
  })

  private def names(t: DataType): Seq[String] = t match {
    case s: StructType => s.flatMap(f => f.name +: names(f.dataType))
    case a: ArrayType  => names(a.elementType)
    case m: MapType    => names(m.keyType) ++ names(m.valueType)
    case _             => Nil
  }
}
