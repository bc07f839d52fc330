package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.{DataType, StructType}

/** The bytes of a row as a struct.
  *
  * @param always
  *   whether the bytes are never NULL, which the type of the column cannot express
  */
case class Unpack(child: Expression, schema: StructType, always: Boolean) extends UnaryExpression {
  override def dataType: DataType = schema
  override def nullable: Boolean = !always

  override protected def nullSafeEval(bytes: Any): Any = Unpack.row(bytes.asInstanceOf[Array[Byte]], schema.length)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val unpack = Unpack.getClass.getName.stripSuffix("$")
    nullSafeCodeGen(ctx, ev, bytes => s"${ev.value} = $unpack.row($bytes, ${schema.length});")
  }

  override protected def withNewChildInternal(c: Expression): Unpack = copy(child = c)
}

object Unpack {
  def row(bytes: Array[Byte], fields: Int): UnsafeRow = {
    val row = new UnsafeRow(fields)
    row.pointTo(bytes, bytes.length)
    row
  }
}
