package sparkcer.internal.rules

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, Partitioning}
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** A set of rules over the events of a batch, which come sorted by time.
  *
  * @param untils
  *   the times up to which events are complete, where matches wait for a deadline, see [[RulePlan.until]]
  */
case class RuleRecognize(set: RuleSetPlan, untils: Seq[Expression], output: Seq[Attribute], child: LogicalPlan)
    extends UnaryNode {
  @transient override lazy val references: AttributeSet = child.outputSet
  override def producedAttributes: AttributeSet = outputSet
  override def simpleString(maxFields: Int): String = s"CerRules ${set.rules.length} rules"
  override protected def withNewChildInternal(c: LogicalPlan): RuleRecognize = copy(child = c)
}

case class RuleRecognizeExec(set: RuleSetPlan, untils: Seq[Expression], output: Seq[Attribute], child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "CerRules"
  override def simpleString(maxFields: Int): String = s"$nodeName ${set.rules.length} rules"
  override def producedAttributes: AttributeSet = outputSet
  override def outputPartitioning: Partitioning = UnknownPartitioning(child.outputPartitioning.numPartitions)

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(ClusteredDistribution(Seq(child.output(RuleEvents.Group), child.output(RuleEvents.Key))))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(Seq(RuleEvents.Time, RuleEvents.Order, RuleEvents.Arrival).map(i => SortOrder(child.output(i), Ascending)))

  override lazy val metrics: Map[String, SQLMetric] =
    Map("matches" -> SQLMetrics.createMetric(sparkContext, "matches"))

  override protected def doExecute(): RDD[InternalRow] = {
    val complete = untils.map(e => Option(e.eval()).fold(Long.MinValue)(_.asInstanceOf[Long])).toArray
    val rules = ForTasks(sparkContext, set)
    val matches = longMetric("matches")
    child.execute().mapPartitions { rows =>
      new RuleBatch(rules.value, complete, rows).map { row =>
        matches.add(1)
        row
      }
    }
  }

  override protected def withNewChildInternal(c: SparkPlan): RuleRecognizeExec = copy(child = c)
}
