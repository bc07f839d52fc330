package sparkcer.internal.prepare

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.cerbridge.Columns
import org.apache.spark.sql.types._

import sparkcer.internal.bind.Clock

/** The value of a time column as a long in the same order. */
case class AsLong(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType

  override protected def nullSafeEval(value: Any): Any = value match {
    case d: Double  => Clock.ordered(d)
    case f: Float   => Clock.ordered(f.toDouble)
    case d: Decimal => d.toUnscaledLong
    case n          => n.asInstanceOf[Number].longValue
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val clock = Clock.getClass.getName.stripSuffix("$")
    nullSafeCodeGen(
      ctx,
      ev,
      v =>
        child.dataType match {
          case DoubleType | FloatType => s"${ev.value} = $clock.ordered((double) $v);"
          case _: DecimalType         => s"${ev.value} = $v.toUnscaledLong();"
          case _                      => s"${ev.value} = (long) $v;"
        }
    )
  }

  override protected def withNewChildInternal(c: Expression): AsLong = copy(child = c)
}

object AsLong {
  def of(c: Column): Column = Columns.column(AsLong(Columns.expression(c)))
}
