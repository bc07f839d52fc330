package sparkcer.internal.prepare

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType, StructField, StructType}
import org.apache.spark.unsafe.Platform

/** Columns as the bytes of one row, which Spark then passes on without looking into them. With a `time`, the head of a
  * [[Payload]] comes first.
  */
case class Pack(time: Option[Expression], columns: Seq[Expression]) extends Expression {
  override def children: Seq[Expression] = time.toSeq ++ columns
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false

  @transient private lazy val projection = UnsafeProjection.create(columns)

  override def eval(input: InternalRow): Any = {
    val row = projection(input)
    val head = time.size * Payload.Head
    val bytes = new Array[Byte](head + row.getSizeInBytes)
    time.foreach(t =>
      Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET, Option(t.eval(input)).fold(0L)(_.asInstanceOf[Long]))
    )
    row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + head)
    bytes
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val row = GenerateUnsafeProjection.createCode(ctx, columns)
    val head = time.size * Payload.Head
    val platform = classOf[Platform].getName
    val (timeCode, putTime) = time.map(_.genCode(ctx)) match {
      case Some(t) => (t.code, s"$platform.putLong(${ev.value}, $platform.BYTE_ARRAY_OFFSET, ${t.value});")
      case None    => (EmptyBlock, "")
    }
    ev.copy(
      code = code"""
        ${row.code}
        $timeCode
        final byte[] ${ev.value} = new byte[$head + ${row.value}.getSizeInBytes()];
        $putTime
        ${row.value}.writeToMemory(${ev.value}, $platform.BYTE_ARRAY_OFFSET + $head);""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Pack =
    if (time.isEmpty) copy(columns = c) else Pack(Some(c.head), c.tail)
}

/** Columns as a row inside another row, written in place. */
case class PackRow(columns: Seq[Expression]) extends Expression {
  override def children: Seq[Expression] = columns
  override def nullable: Boolean = false
  override lazy val dataType: DataType =
    StructType(columns.zipWithIndex.map { case (c, i) => StructField(s"_$i", c.dataType, c.nullable) })

  @transient private lazy val projection = UnsafeProjection.create(columns)

  override def eval(input: InternalRow): Any = projection(input)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val row = GenerateUnsafeProjection.createCode(ctx, columns)
    ev.copy(code = row.code, isNull = FalseLiteral, value = row.value)
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): PackRow = copy(columns = c)
}
