package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.plans.logical._

/** The operators between the source of a stream and the query. */
private[sparkcer] object Upstream {

  /** Is there a stateful operator, which may hold rows back until the watermark passes them? The list is that of
    * Spark's own check of streaming plans (`UnsupportedOperationChecker`), which is private, without LIMIT, which holds
    * no rows back.
    */
  def keepsState(plan: LogicalPlan): Boolean = plan.exists {
    case a: Aggregate                  => a.isStreaming
    case d: Distinct                   => d.isStreaming
    case d: Deduplicate                => d.isStreaming
    case d: DeduplicateWithinWatermark => d.isStreaming
    case j: Join                       => j.left.isStreaming && j.right.isStreaming
    // FlatMapGroupsWithState, TransformWithState and their forms for Python, whose names depend on the version of Spark
    case other => other.isStreaming && other.nodeName.contains("WithState")
  }
}
