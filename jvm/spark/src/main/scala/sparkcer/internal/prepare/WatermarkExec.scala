package sparkcer.internal.prepare

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, Project}
import org.apache.spark.sql.execution.{CodegenSupport, ProjectExec, SparkPlan}
import org.apache.spark.sql.types.TimestampType
import org.apache.spark.unsafe.types.CalendarInterval

/** Spark's operator for a watermark, with the same effect, as generated code. Spark's own takes rows: before a query
  * that drops most events, each event would be made a row first, only for its time to be read. (For a filter, Spark
  * moves the watermark behind it. Here the events that are dropped must move the watermark, too.)
  *
  * It is a subclass, because Spark finds the times that were seen in the operators of that class.
  */
final class WatermarkExec(node: UUID, column: Attribute, least: CalendarInterval, input: SparkPlan)
    extends SparkWatermark.Exec(node, column, least, input)
    with CodegenSupport {

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(ctx, this)

  override def usedInputs: AttributeSet = AttributeSet(eventTime)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    s"${see(ctx, input)}\n${consume(ctx, input)}"

  /** The code that takes note of an event's time.
    *
    * @param columns
    *   of the event, with that of the time in a variable
    */
  def see(ctx: CodegenContext, columns: Seq[ExprCode]): String = {
    val time = columns(child.output.indexWhere(_.exprId == eventTime.exprId))
    // Spark reads a NULL as 0.
    val millis = s"${time.isNull} ? 0L : Math.floorDiv(${time.value}, 1000L)"
    s"${ctx.addReferenceObj("watermark", eventTimeStats)}.add($millis);"
  }

  override protected def withNewChildInternal(c: SparkPlan): WatermarkExec =
    new WatermarkExec(nodeId, eventTime, delay, c)
}

object WatermarkExec {

  /** The plan of the events of a query.
    *
    * @param later
    *   plans what is none of a watermark's affairs
    */
  def plan(events: LogicalPlan, later: LogicalPlan => SparkPlan): SparkPlan = events match {
    case w: EventTimeWatermark if w.eventTime.dataType == TimestampType =>
      new WatermarkExec(w.nodeId, w.eventTime, w.delay, later(w.child))
    case Project(columns, w: EventTimeWatermark) => ProjectExec(columns, plan(w, later))
    case other                                   => later(other)
  }
}
