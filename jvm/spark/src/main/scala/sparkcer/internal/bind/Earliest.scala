package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.{DataType, LongType}

/** The earliest time that is not too long before the time of an event, for a sub-window `(φ WITHIN d)` and for the
  * window of a snapshot.
  *
  * @param child
  *   the time of the event as a long, see [[sparkcer.internal.prepare.AsLong]]
  * @param size
  *   of the window, in the units of the clock
  */
case class Earliest(child: Expression, clock: Clock, size: BigDecimal) extends UnaryExpression {
  override def dataType: DataType = LongType

  override protected def nullSafeEval(time: Any): Any = before(time.asInstanceOf[Long])

  def before(time: Long): Long = clock.bound(time, Some(size))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val self = ctx.addReferenceObj("earliest", this)
    nullSafeCodeGen(ctx, ev, time => s"${ev.value} = $self.before($time);")
  }

  override protected def withNewChildInternal(c: Expression): Earliest = copy(child = c)
}
