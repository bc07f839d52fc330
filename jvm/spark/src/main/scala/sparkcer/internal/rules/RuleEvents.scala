package sparkcer.internal.rules

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types._

import sparkcer.internal.prepare.{Tally => Numbers}

/** What happens to events before the shuffle, for a set of rules: an event is sent once to each group of rules, those
  * with the same PARTITION BY columns, in which it meets a condition, with the numbers of these conditions. An event
  * that meets none is dropped.
  *
  * @param conditions
  *   of all rules
  * @param tested
  *   the columns that the conditions read, in the order in which they are bound
  * @param groups
  *   what decides to which groups an event is sent
  * @param keys
  *   the PARTITION BY columns of each group
  * @param kept
  *   the columns that are kept of an event
  */
case class RuleEvents(
    conditions: ConditionTable,
    tested: Seq[Attribute],
    groups: RuleGroups,
    time: Expression,
    order: Option[Expression],
    keys: Seq[Seq[Expression]],
    kept: Seq[Expression],
    output: Seq[Attribute],
    child: LogicalPlan
) extends UnaryNode {
  override def producedAttributes: AttributeSet = outputSet

  /** The same over the columns that it reads. */
  def pruned: RuleEvents = copy(child = Project(child.output.filter(references.contains), child))

  override def simpleString(maxFields: Int): String = "CerRuleEvents"
  override protected def withNewChildInternal(c: LogicalPlan): RuleEvents = copy(child = c)
}

/** @param of
  *   for each condition, the groups with a rule that has it
  * @param needAll
  *   for each group, whether a rule in it must see every event
  * @param rules
  *   for each condition, the names of the rules that have it, for messages
  */
final private[rules] class RuleGroups(
    val of: Array[Array[Int]],
    val needAll: Array[Boolean],
    val rules: Array[String]
) extends Serializable

object RuleEvents {
  val Group = 0
  val Key = 1
  val Time = 2
  val Order = 3
  val Arrival = 4
  val Met = 5
  val Payload = 6
  val First = 7
  val Tally = 8

  /** @param streaming
    *   whether rows may be those of a [[sparkcer.internal.prepare.Tally]], and say whether they are the first of their
    *   event
    */
  private[rules] def output(streaming: Boolean): Seq[Attribute] = Seq(
    "group" -> IntegerType,
    "key" -> BinaryType,
    "time" -> LongType,
    "order" -> LongType,
    "arrival" -> LongType,
    "met" -> BinaryType,
    "payload" -> BinaryType
  ).map { case (name, t) => AttributeReference(name, t, nullable = false)() } ++
    (if (streaming)
       Seq(
         AttributeReference("first", BooleanType, nullable = false)(),
         AttributeReference(Numbers.Column, Numbers.numbersType)()
       )
     else Nil)
}

case class RuleEventsExec(
    conditions: ConditionTable,
    tested: Seq[Attribute],
    groups: RuleGroups,
    time: Expression,
    order: Option[Expression],
    keys: Seq[Seq[Expression]],
    kept: Seq[Expression],
    output: Seq[Attribute],
    child: SparkPlan
) extends UnaryExecNode {
  override def nodeName: String = "CerRuleEvents"
  override def simpleString(maxFields: Int): String = nodeName
  override def producedAttributes: AttributeSet = outputSet

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "events" -> SQLMetrics.createMetric(sparkContext, "events"),
    "nullTimes" -> SQLMetrics.createMetric(sparkContext, "events without a time"),
    "nullKeys" -> SQLMetrics.createMetric(sparkContext, "events with a NULL key, by group"),
    "dropped" -> SQLMetrics.createMetric(sparkContext, "events dropped before the shuffle"),
    "sent" -> SQLMetrics.createMetric(sparkContext, "events sent, by group")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    def bound(e: Expression) = BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(child.output))
    val places = tested.map(a => child.output.indexWhere(_.exprId == a.exprId)).toArray
    val table = ForTasks(sparkContext, conditions.moved(places(_)))
    val counts = metrics
    val (of, at, keyColumns) = (groups, (time +: order.toSeq).map(bound), keys.map(_.map(bound)))
    val (columns, fields) = (kept.map(bound), output.length)
    child.execute().mapPartitionsWithIndex { (partition, rows) =>
      new SentEvents(table.value, of, at, keyColumns, columns, fields, rows, partition, counts)
    }
  }

  override protected def withNewChildInternal(c: SparkPlan): RuleEventsExec = copy(child = c)
}
