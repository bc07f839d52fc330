package sparkcer.internal.prepare

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode, WholeStageCodegenExec}

/** Ends each partition of a stream's prepared events with a row that says what was dropped: it has no payload, and the
  * numbers in place of times. So they can be told in the progress of the query, where metrics of operators are not.
  */
case class Tally(child: LogicalPlan) extends UnaryNode {
  @transient override lazy val references: AttributeSet = child.outputSet
  override def output: Seq[Attribute] = child.output.map(a => if (a.name == "payload") a.withNullability(true) else a)
  override protected def withNewChildInternal(c: LogicalPlan): Tally = copy(child = c)
}

case class TallyExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "CerTally"
  override def output: Seq[Attribute] = child.output.map(a => if (a.name == "payload") a.withNullability(true) else a)

  override protected def doExecute(): RDD[InternalRow] = {
    // The very metrics that the events' operator counts with: inside a task they have what the task counted.
    val counted = child match {
      case WholeStageCodegenExec(p) => p.metrics
      case p                        => p.metrics
    }
    val numbers = Tally.Numbers.map(counted)
    val fields = output
    child.execute().mapPartitions { rows =>
      rows ++ Iterator.single(0).map { _ =>
        val values = fields.map { a =>
          Tally.Places.indexOf(a.name) match {
            case -1 => if (a.name == "key") Array.empty[Byte] else if (a.nullable) null else 0L
            case i  => numbers(i).value
          }
        }
        UnsafeProjection.create(fields.map(_.dataType).toArray)(new GenericInternalRow(values.toArray[Any]))
      }
    }
  }

  override protected def withNewChildInternal(c: SparkPlan): TallyExec = copy(child = c)
}

object Tally {

  /** The numbers, and the columns of the row that they stand in. */
  private[sparkcer] val Numbers =
    Vector(PrepareExec.Events, PrepareExec.Dropped, PrepareExec.NullKeys, PrepareExec.NullTimes)
  private[sparkcer] val Places = Vector("time", "arrival", "mask0", "order")
}
