package sparkcer.views.maintain

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, CTERelationRef, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.cerbridge.{Plans, Sessions}

/** Runs what makes parts in copies of the session that have settings for it. A copy serves until the session's own
  * settings change. One for each update would cost more than it saves: Spark compiles generated code anew for each.
  */
private[views] final class PartSession(spark: SparkSession) {
  import PartSession._

  @volatile private var copies = Map.empty[Map[String, String], Copy]

  /** A query over little input is planned once: adaptive execution would plan again after each stage, which takes
    * longer than such a stage, a quarter of an update in all. More input is left to it.
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

  /** Rows that are put together by their parts, in files that several tasks can write and read. That takes adaptive
    * execution, which is off in the batches of a stream. Metrics that the user observes come only in the user's
    * session.
    */
  def rebalanced(rows: DataFrame): DataFrame =
    if (Plans.planOf(rows).exists(_.isInstanceOf[CollectMetrics])) rows
    else
      in(
        rows,
        SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "true",
        SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES.key -> FileBytes.toString
      )

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

  /** The bytes that a plan reads, as far as Spark knows them; what it does not know is more than little. */
  private def input(plan: LogicalPlan): BigInt =
    (plan +: plan.subqueriesAll)
      .flatMap(_.collectLeaves())
      .filterNot(_.isInstanceOf[CTERelationRef])
      .map(_.stats.sizeInBytes)
      .sum

  private val Little = BigInt(32L << 20)
  private val OneTask = BigInt(1L << 20)
  private val MostTasks = 8

  /** In the shuffle, where rows take two or three times as much as in Parquet. */
  private val FileBytes = 8L << 20
}
