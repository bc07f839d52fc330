package sparkcer.internal.batch

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, ClusteredDistribution, Distribution, Partitioning}
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import sparkcer.internal.bind.Plan
import sparkcer.internal.prepare.EventLayout

/** A query over the prepared events of a batch, which come sorted.
  *
  * @param unread
  *   the columns of the output that nobody reads, by number; they stay empty
  * @param until
  *   the time up to which the events are complete, where matches wait for a deadline
  * @param output
  *   the columns of the plan's [[sparkcer.internal.output.MatchSchema]]
  */
case class Recognize(
    plan: Plan,
    layout: EventLayout,
    spread: Spread,
    unread: Set[Int],
    until: Option[Expression],
    output: Seq[Attribute],
    child: LogicalPlan
) extends UnaryNode {
  @transient override lazy val references: AttributeSet = child.outputSet
  override def producedAttributes: AttributeSet = outputSet
  override def simpleString(maxFields: Int): String = s"CerRecognize ${spread.words}"
  override protected def withNewChildInternal(c: LogicalPlan): Recognize = copy(child = c)
}

case class RecognizeExec(
    plan: Plan,
    layout: EventLayout,
    spread: Spread,
    unread: Set[Int],
    until: Option[Expression],
    output: Seq[Attribute],
    child: SparkPlan
) extends UnaryExecNode {

  override def nodeName: String = "CerRecognize"
  override def simpleString(maxFields: Int): String = s"$nodeName ${spread.words}"
  override def verboseStringWithOperatorId(): String =
    s"""
       |$formattedNodeName
       |Spread: ${spread.words}
       |Query: ${plan.query.text.trim.split("\\s+").mkString(" ")}
       |""".stripMargin
  override def producedAttributes: AttributeSet = outputSet
  override def outputPartitioning: Partitioning = UnknownPartitioning(child.outputPartitioning.numPartitions)

  private def input(name: String) = child.output.find(_.name == name)

  override def requiredChildDistribution: Seq[Distribution] = Seq(spread match {
    case Spread.OneTask(_) => AllTuples
    case Spread.ByKey(_)   => ClusteredDistribution(input("key").toSeq)
    case Spread.BySlice(_) => ClusteredDistribution(input("slice").toSeq)
  })

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = {
    val inOrder = Seq("time", "order", "arrival").flatMap(input)
    val all = if (spread == Spread.ByKey(inTime = false)) input("key").toSeq ++ inOrder else inOrder
    Seq(all.map(SortOrder(_, Ascending)))
  }

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "matches" -> SQLMetrics.createMetric(sparkContext, "matches"),
    "keys" -> SQLMetrics.createMetric(sparkContext, "keys"),
    "largest" -> SQLMetrics.createAverageMetric(sparkContext, "events kept in the largest substream"),
    "nodes" -> SQLMetrics.createAverageMetric(sparkContext, "nodes kept in the largest substream")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val complete = until.fold(Long.MaxValue)(e => Option(e.eval()).fold(Long.MinValue)(_.asInstanceOf[Long]))
    val batch = new Batch(plan, spread, unread, complete)
    val (layoutOfTask, counts) = (layout, metrics)
    child.execute().mapPartitions { rows =>
      val sizes = new Batch.Sizes
      val matches = batch(rows.map(layoutOfTask.event), sizes)
      new Iterator[InternalRow] {
        def hasNext: Boolean = matches.hasNext || { report(); false }

        def next(): InternalRow = {
          counts("matches").add(1)
          matches.next()
        }

        private var reported = false
        private def report(): Unit = if (!reported) {
          reported = true
          counts("keys").add(sizes.substreams)
          counts("largest").set(sizes.events.toDouble)
          counts("nodes").set(sizes.nodes.toDouble)
        }
      }
    }
  }

  override protected def withNewChildInternal(c: SparkPlan): RecognizeExec = copy(child = c)
}
