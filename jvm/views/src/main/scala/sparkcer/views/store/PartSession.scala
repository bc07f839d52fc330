package sparkcer.views.store

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, CTERelationRef, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.cerbridge.{Plans, Sessions}

/** Runs the queries that write parts, and scans of many parts, in copies of the user's session, with settings that suit
  * them. A copy is used until the settings of the user's session change. A new copy for each update would cost more
  * than it saves, because Spark compiles the generated code again in each.
  */
private[views] final class PartSession(spark: SparkSession) {
  import PartSession._

  @volatile private var copies = Map.empty[Map[String, String], Copy]

  /** A query over little input runs without adaptive execution, which plans again after each stage. That would take
    * longer than such a stage: a quarter of the time of an update. Over more input it is on.
    */
  def query(rows: DataFrame): DataFrame = {
    val bytes = input(Plans.planOf(rows))
    if (bytes > Little) rows
    else {
      val cores = spark.sparkContext.defaultParallelism.min(MostTasks)
      in(
        rows,
        SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false",
        SQLConf.SHUFFLE_PARTITIONS.key -> (if (bytes <= OneTask) 1 else cores).toString
      )
    }
  }

  /** Rows that are written by part, in files of a size that suits several tasks. This needs adaptive execution, which
    * Spark turns off in the micro-batches of a stream. Metrics of `DataFrame.observe` arrive only in the user's
    * session, so a plan that has them stays there.
    */
  def rebalanced(rows: DataFrame): DataFrame =
    if (Plans.planOf(rows).exists(_.isInstanceOf[CollectMetrics])) rows
    else
      in(
        rows,
        SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "true",
        SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES.key -> FileBytes.toString
      )

  /** The session of a scan, by whose settings Spark packs files into tasks: of thousands of small files, 256 into a
    * task instead of 32, unless the user has set how many.
    */
  def scan(files: Int): SparkSession = {
    val cost = SQLConf.FILES_OPEN_COST_IN_BYTES.key
    if (files < ManyFiles || Sessions.session(spark).sessionState.conf.contains(cost)) spark
    else copy(Map(cost -> OpenCost.toString))
  }

  private def in(rows: DataFrame, changes: (String, String)*): DataFrame =
    Plans.dataFrame(copy(changes.toMap), Plans.planOf(rows))

  private def copy(changes: Map[String, String]): SparkSession = {
    val settings = Sessions.session(spark).sessionState.conf.getAllConfs
    copies.get(changes).filter(_.settings == settings).map(_.session).getOrElse {
      val session = Sessions.copy(spark)
      changes.foreach { case (key, value) => session.conf.set(key, value) }
      synchronized(copies += changes -> Copy(settings, session))
      session
    }
  }
}

private[views] object PartSession {

  /** @param settings
    *   of the session when it was copied
    */
  private final case class Copy(settings: Map[String, String], session: SparkSession)

  /** The bytes that a plan reads, as Spark estimates them. If Spark does not know, the estimate is very large. */
  private def input(plan: LogicalPlan): BigInt =
    (plan +: plan.subqueriesAll)
      .flatMap(_.collectLeaves())
      .filterNot(_.isInstanceOf[CTERelationRef])
      .map(_.stats.sizeInBytes)
      .sum

  private val Little = BigInt(32L << 20)
  private val OneTask = BigInt(1L << 20)
  private val MostTasks = 8
  private val ManyFiles = 256
  private val OpenCost = 512L << 10

  /** In the shuffle, where rows are two or three times as large as in Parquet. */
  private val FileBytes = 8L << 20
}
