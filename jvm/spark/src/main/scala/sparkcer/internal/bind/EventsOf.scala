package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

import sparkcer.engine.evaluate.Program

/** The events that a match has in one variable, and aggregates over them, as expressions over the column of the
  * variable.
  *
  * The sum, average, minimum, maximum and count are Spark's own aggregates: what each does with one more value, and
  * what it returns at the end, are expressions, and `aggregate` applies them to the array. So their types, NULLs and
  * errors are Spark's by construction, and values are added in the order of events, in a batch as in a stream.
  */
final private[bind] class EventsOf(variable: Program.Column, column: Attribute, event: StructType) {
  private val single = variable.multiplicity.atMostOne

  /** The events as an array. */
  private def array: Expression =
    if (!single) column
    else if (variable.multiplicity.atLeastOne) CreateArray(Seq(column))
    else
      If(
        IsNull(column),
        Literal(new GenericArrayData(Array.empty[Any]), ArrayType(event, containsNull = true)),
        CreateArray(Seq(column))
      )

  def count: Expression =
    if (!single) Cast(Size(column, legacySizeOfNull = false), LongType)
    else If(IsNull(column), Literal(0L), Literal(1L))

  /** The first and the last event, or NULL if there is none. */
  def first: Expression = if (single) column else item(Literal(0))
  def last: Expression = if (single) column else item(Subtract(Size(column, legacySizeOfNull = false), Literal(1)))

  private def item(i: Expression): Expression = GetArrayItem(column, i, failOnError = false)

  /** The value of an expression for one event; NULL if there is none. */
  def ofOne(one: Expression, value: Expression): Expression =
    If(IsNull(one), Literal(null, value.dataType), value.transform(over(one)))

  /** The values of an expression for all events, without NULLs, in order. */
  def values(value: Expression): Expression = {
    val element = newElement
    ArrayCompact(ArrayTransform(array, LambdaFunction(value.transform(over(element)), Seq(element))))
  }

  /** The number of different values. Those are equal that SQL's `=` takes for equal. */
  def distinct(value: Expression): Expression =
    Cast(Size(ArrayDistinct(values(Comparable(value))), legacySizeOfNull = false), LongType)

  /** One of Spark's aggregates over all events. */
  def folded(call: Expression): Expression = call match {
    case AggregateExpression(function: DeclarativeAggregate, _, _, _, _) => folded(function)
    case other => throw new IllegalStateException(s"not an aggregate by expressions: $other")
  }

  private def folded(f: DeclarativeAggregate): Expression = {
    val names = f.aggBufferAttributes
    def state(values: Seq[Expression]) =
      CreateNamedStruct(values.zipWithIndex.flatMap { case (v, i) => Seq(Literal(s"_$i"), v) })
    val zero = state(f.initialValues)
    def newState = NamedLambdaVariable("state", zero.dataType, nullable = true)
    def from(s: Expression): PartialFunction[Expression, Expression] = {
      case a: Attribute if names.exists(_.exprId == a.exprId) =>
        GetStructField(s, names.indexWhere(_.exprId == a.exprId))
    }
    val (before, end, element) = (newState, newState, newElement)
    ArrayAggregate(
      array,
      zero,
      LambdaFunction(
        state(f.updateExpressions.map(_.transform(from(before) orElse over(element)))),
        Seq(before, element)
      ),
      LambdaFunction(f.evaluateExpression.transform(from(end)), Seq(end))
    )
  }

  private def newElement = NamedLambdaVariable("event", event, nullable = false)

  private def over(one: Expression): PartialFunction[Expression, Expression] = {
    case a: Attribute if a.name == MeasureText.Event => one
  }
}
