package sparkcer.views.store

import org.apache.spark.sql.catalyst.plans.logical.{CommandResult, LogicalPlan}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

import sparkcer.views.catalog.DataFolder

/** A folder that was just written.
  *
  * @param rows
  *   how many rows it has
  * @param read
  *   how many rows were read to compute them, by the metrics of Spark: what the scans returned, before any filter that
  *   is not part of the scan
  */
private[views] final case class WrittenRows(folder: DataFolder, rows: Long, read: Long)

private[views] object WrittenRows extends AdaptiveSparkPlanHelper {

  /** The rows that a command has read.
    *
    * @param command
    *   a plan in which Spark has run the command
    */
  def read(command: LogicalPlan): Long = command match {
    case done: CommandResult => scanned(done.commandPhysicalPlan)
    case other               => throw new IllegalStateException(s"not a command that was run: ${other.nodeName}")
  }

  private def scanned(plan: SparkPlan): Long =
    collectWithSubqueries(plan) { case leaf: LeafExecNode => leaf.metrics.get("numOutputRows").fold(0L)(_.value) }.sum
}
