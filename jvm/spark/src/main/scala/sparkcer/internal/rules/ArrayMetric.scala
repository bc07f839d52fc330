package sparkcer.internal.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types.DataType

/** A metric that is made of arrays, of which most rows have none.
  *
  * All that it evaluates are expressions of Spark: a task returns them to the driver with what it has aggregated, and
  * the driver does not find our classes where the jar was added to a running session.
  *
  * @param child
  *   an array, or NULL
  * @param both
  *   makes one array of two
  * @param told
  *   makes the metric of the array that is left in the end, which is NULL if there was none
  */
final private[rules] case class ArrayMetric(
    child: Expression,
    both: (Expression, Expression) => Expression,
    told: Expression => Expression
) extends DeclarativeAggregate
    with UnaryLike[Expression] {
  private lazy val all = AttributeReference("all", child.dataType)()

  private def added(a: Expression, b: Expression) = If(IsNull(b), a, If(IsNull(a), b, both(a, b)))

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(all)
  override lazy val initialValues: Seq[Expression] = Seq(Literal(null, child.dataType))
  override lazy val updateExpressions: Seq[Expression] = Seq(added(all, child))
  override lazy val mergeExpressions: Seq[Expression] = Seq(added(all.left, all.right))
  override lazy val evaluateExpression: Expression = told(all)

  override def dataType: DataType = evaluateExpression.dataType
  override def nullable: Boolean = evaluateExpression.nullable
  override protected def withNewChildInternal(c: Expression): ArrayMetric = copy(child = c)
}
