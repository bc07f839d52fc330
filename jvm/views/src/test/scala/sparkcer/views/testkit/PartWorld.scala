package sparkcer.views.testkit

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.StructType

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.translate.SourceTable

/** Runs the queries of translated statements on parts that are in memory: what a statement means, without the
  * maintainer. A view starts at the first part for which all source parts of INITIALIZE exist.
  */
final class PartWorld(length: Long) {
  import PartWorld.spark

  private var tables = Map.empty[String, (Long, StructType, Map[Long, Seq[Row]])]

  def table(name: String, schema: StructType, parts: Map[Long, Seq[Row]]): Unit =
    tables += name -> ((length, schema, parts))

  def source(name: String): Option[SourceTable] =
    tables.get(name).map { case (seconds, schema, _) => SourceTable(schema, seconds) }

  def parts(name: String): Map[Long, Seq[Row]] = tables(name)._3

  private val Statement = """(?s)CREATE VIEW (\S+) AS
INITIALIZE \S+\[i\] AS
(.*)
UPDATE \S+\[j\] AS
(.*)
PARTITION LENGTH (\d+)""".r
  private val Reference = """(\w+)\[([ij])(?:\*(\d+))?([+-]\d+)?(?:\.\.[ij](?:\*(\d+))?([+-]\d+)?)?\]""".r

  def run(statement: String): Unit = {
    val Statement(name, initialize, update, seconds) = statement: @unchecked
    val isRecursive = Reference.findAllMatchIn(update).exists(_.group(1) == name)
    val seen = tables.values.flatMap { case (l, _, parts) => parts.keys.map(_ * l / seconds.toLong) }
    def add(schema: StructType, parts: Map[Long, Seq[Row]]): Unit =
      tables += name -> ((seconds.toLong, schema, tables.get(name).fold(parts)(_._3 ++ parts)))
    var frames = Vector.empty[(Long, DataFrame)]
    for (part <- seen.min to seen.max) {
      val isStarted = frames.lastOption.exists(_._1 == part - 1)
      evaluate(if (isStarted) update else initialize, part).foreach { df =>
        frames :+= part -> df
        val schema = frames.head._2.schema
        assert(df.schema.map(_.dataType) == schema.map(_.dataType), s"$name: ${df.schema} is not $schema")
        if (isRecursive) add(schema, Map(part -> df.collect().toSeq))
      }
    }
    if (!isRecursive) frames.headOption.foreach { case (_, df) => add(df.schema, together(frames)) }
  }

  /** The rows of all parts, in one job. */
  private def together(frames: Vector[(Long, DataFrame)]): Map[Long, Seq[Row]] = {
    val all = frames.map { case (part, df) => df.select(lit(part), col("*")) }.reduce(_ unionAll _)
    val rows = all.collect().toSeq.groupMap(_.getLong(0))(r => Row.fromSeq(r.toSeq.tail))
    frames.map { case (part, _) => part -> rows.getOrElse(part, Nil) }.toMap
  }

  /** Nothing if a part is missing. */
  private def evaluate(query: String, part: Long): Option[DataFrame] = {
    def number(text: String, default: Long) = Option(text).fold(default)(_.toLong)
    val references = Reference.findAllMatchIn(query).toVector.map { m =>
      val low = part * number(m.group(3), 1) + number(m.group(4), 0)
      val isRange = m.matched.contains("..")
      val high = if (isRange) part * number(m.group(5), 1) + number(m.group(6), 0) else low
      (m, m.group(1), low, high)
    }
    val exist = references.forall { case (_, table, low, high) =>
      tables.get(table).exists(t => (low to high).forall(t._3.contains))
    }
    if (!exist) None
    else {
      val text = references.reverse.foldLeft(query) { case (sql, (m, table, low, high)) =>
        val view = s"${table}__${low}__$high".replace('-', '_')
        val (_, schema, parts) = tables(table)
        val rows = (low to high).flatMap(parts)
        PartWorld.frame(rows, schema).createOrReplaceTempView(view)
        val alias = if (sql.substring(m.end).trim.toUpperCase.startsWith("AS ")) "" else s" AS $table"
        sql.substring(0, m.start) + view + alias + sql.substring(m.end)
      }
      Some(spark.sql(text))
    }
  }
}

object PartWorld {

  /** Hundreds of queries over a few rows each: with generated code, adaptive execution and shuffles, planning them
    * would take most of the time.
    */
  lazy val spark: SparkSession = {
    val spark = SparkSuite.spark.newSession()
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark
  }

  /** Rows in one partition, which Spark need not shuffle. */
  def frame(rows: Seq[Row], schema: StructType): DataFrame =
    spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema).coalesce(1)
}
