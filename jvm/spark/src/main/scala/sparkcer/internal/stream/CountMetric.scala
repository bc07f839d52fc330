package sparkcer.internal.stream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{DataType, LongType, StructType}

/** A metric of a stream: the sum, or the largest, of one of the numbers that buckets return ([[Counts]]).
  *
  * Spark's own `sum` would do, but generates code for it in each task: for all metrics of a small micro-batch that
  * takes longer than to evaluate its events.
  */
final case class CountMetric(
    child: Expression,
    number: Int,
    largest: Boolean,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0
) extends ImperativeAggregate
    with UnaryLike[Expression] {
  private val result = AttributeReference("result", LongType, nullable = false)()

  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def aggBufferAttributes: Seq[AttributeReference] = Seq(result)
  override def aggBufferSchema: StructType = DataTypeUtils.fromAttributes(aggBufferAttributes)
  override lazy val inputAggBufferAttributes: Seq[AttributeReference] = aggBufferAttributes.map(_.newInstance())

  override def initialize(buffer: InternalRow): Unit = buffer.setLong(mutableAggBufferOffset, 0)

  override def update(buffer: InternalRow, row: InternalRow): Unit = child.eval(row) match {
    case numbers: ArrayData => add(buffer, numbers.getLong(number))
    case _                  => ()
  }

  override def merge(buffer: InternalRow, other: InternalRow): Unit = add(buffer, other.getLong(inputAggBufferOffset))

  private def add(buffer: InternalRow, n: Long): Unit = {
    val before = buffer.getLong(mutableAggBufferOffset)
    buffer.setLong(mutableAggBufferOffset, if (largest) math.max(before, n) else before + n)
  }

  override def eval(buffer: InternalRow): Any = buffer.getLong(mutableAggBufferOffset)

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate = copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate = copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(c: Expression): CountMetric = copy(child = c)
}
