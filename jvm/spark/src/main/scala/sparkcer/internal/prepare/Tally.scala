package sparkcer.internal.prepare

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.execution.{CodegenSupport, InputAdapter, SparkPlan, UnaryExecNode, WholeStageCodegenExec}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{ArrayType, BinaryType, BooleanType, DataType, IntegerType, LongType}

import sparkcer.internal.stream.{BucketOf, Processor}

/** Ends each partition of a stream's prepared events with one more row, which is no event: its column `tally` has the
  * numbers of the events that were read and dropped. In this way they become part of the progress of the query, which
  * does not show the metrics of operators.
  *
  * @param visits
  *   if the first micro-batch of each run visits all buckets: it has one more row for each of them, whose `tally` is
  *   empty and whose `group` is the bucket
  */
case class Tally(child: LogicalPlan, visits: Option[RunStarts] = None) extends UnaryNode {
  @transient override lazy val references: AttributeSet = child.outputSet
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(c: LogicalPlan): Tally = copy(child = c)
}

case class TallyExec(child: SparkPlan, visits: Option[RunStarts]) extends UnaryExecNode with CodegenSupport {
  override def nodeName: String = "CerTally"
  override def output: Seq[Attribute] = child.output

  private val fields = output.map(a => (a.name, a.dataType, a.nullable))

  /** The very metrics that the events' operator counts with: inside a task they have what the task counted. */
  private def counted: Vector[SQLMetric] = {
    val metrics = child match {
      case WholeStageCodegenExec(p) => p.metrics
      case InputAdapter(p)          => p.metrics
      case p                        => p.metrics
    }
    Tally.Numbers.map(metrics)
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val rowOfTask = new Tally.RowOfTask(fields, counted)
    val events = child.execute().mapPartitions(_ ++ Iterator.single(0).map(_ => rowOfTask.get()))
    // In a partition of its own, because a micro-batch without events has no other.
    if (visits.exists(_.isFirst(sparkContext))) {
      val columns = fields
      events.union(sparkContext.parallelize(Seq(0), 1).flatMap { _ =>
        BucketOf.current().iterator.map(Tally.row(columns, Array.empty, _))
      })
    } else events
  }

  /** Visits need a partition more, which generated code cannot add. */
  override def supportCodegen: Boolean = visits.isEmpty

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  override def usedInputs: AttributeSet = AttributeSet.empty

  /** The child's code returns when it has a row, and is called again. It comes to its end when it has no row any more,
    * and has then added what it counted to the metrics.
    */
  override protected def doProduce(ctx: CodegenContext): String = {
    val input = child.asInstanceOf[CodegenSupport].produce(ctx, this)
    val told = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "cerTold")
    val rowOfTask = ctx.addReferenceObj("tally", new Tally.RowOfTask(fields, counted))
    val row = ctx.freshName("tallyRow")
    val name = ctx.freshName("tellTally")
    val tell = ctx.addNewFunction(
      name,
      s"""
         |private void $name() throws java.io.IOException {
         |  final InternalRow $row = $rowOfTask.get();
         |  ${consume(ctx, null, row)}
         |}""".stripMargin
    )
    s"""
       |$input
       |if (!$told) {
       |  $told = true;
       |  $tell();
       |}""".stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = consume(ctx, input)

  override protected def withNewChildInternal(c: SparkPlan): TallyExec = copy(child = c)
}

object Tally {
  val Column = "tally"
  val numbersType: DataType = ArrayType(LongType, containsNull = false)

  /** The tally of the task that it is in, once the task has read its events. */
  final private[prepare] class RowOfTask(fields: Seq[(String, DataType, Boolean)], counted: Vector[SQLMetric])
      extends Serializable {
    def get(): InternalRow = row(fields, counted.map(_.value).toArray, Processor.First)
  }

  /** A row that is no event.
    *
    * @param fields
    *   the name and type of each column, and whether it can be NULL
    */
  private[prepare] def row(
      fields: Seq[(String, DataType, Boolean)],
      numbers: Array[Long],
      group: Int
  ): InternalRow = {
    val values = fields.map {
      case (Column, _, _)          => new GenericArrayData(numbers)
      case (_, _, true)            => null
      case (_, BinaryType, false)  => Array.empty[Byte]
      case (_, IntegerType, false) => group
      case (_, BooleanType, false) => false
      case (_, _, false)           => 0L
    }
    UnsafeProjection.create(fields.map(_._2).toArray)(new GenericInternalRow(values.toArray[Any]))
  }

  /** The metrics of [[PrepareExec]], in the order of their numbers. */
  private[sparkcer] val Numbers =
    Vector(PrepareExec.Events, PrepareExec.Dropped, PrepareExec.NullKeys, PrepareExec.NullTimes)
}
