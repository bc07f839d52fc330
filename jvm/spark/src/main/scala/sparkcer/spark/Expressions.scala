package sparkcer.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  UnaryExpression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** At most 64 guards to bits: bit i says whether guard i is TRUE. The query's predicates are this one expression in the
  * generated code of the scan's stage.
  */
case class Mask(guards: Seq[Expression]) extends Expression {
  override def children: Seq[Expression] = guards
  override def dataType: DataType = LongType
  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    var mask = 0L
    guards.indices.foreach { i =>
      val passes = guards(i).eval(input)
      if (passes != null && passes.asInstanceOf[Boolean]) mask |= 1L << i
    }
    mask
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val mask = ctx.addMutableState(CodeGenerator.JAVA_LONG, "cerMask")
    val tests = guards.zipWithIndex.map { case (g, i) =>
      val guard = g.genCode(ctx)
      s"""
         |${guard.code}
         |if (!${guard.isNull} && ${guard.value}) $mask |= ${1L << i}L;
       """.stripMargin
    }
    val all = ctx.splitExpressionsWithCurrentInputs(tests, "cerMask")
    ev.copy(
      code = code"""
        $mask = 0L;
        $all
        final long ${ev.value} = $mask;""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Mask = copy(guards = c)
}

/** Columns as the bytes of one row, which then pass through Spark untouched. With a `time`, the head of a [[Payload]]
  * comes first.
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

/** The bytes of a row as the struct they are.
  *
  * @param always
  *   whether there always are bytes, which the type of the column cannot say
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

/** The value of a time column as a long that orders as the column does. */
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

/** The bucket of a key, by its hash. There are as many buckets as shuffle partitions, asked for where the query runs:
  * there Spark has put back the number that the checkpoint was started with, on which a key's bucket depends.
  */
case class BucketOf(child: Expression) extends UnaryExpression {
  override def dataType: DataType = IntegerType

  @transient private lazy val ids = BucketOf.current()

  override protected def nullSafeEval(hash: Any): Any = ids(Math.floorMod(hash.asInstanceOf[Int], ids.length))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val of = BucketOf.getClass.getName.stripSuffix("$")
    val ids = ctx.addMutableState("int[]", "cerBuckets", v => s"$v = $of.current();")
    nullSafeCodeGen(ctx, ev, hash => s"${ev.value} = $ids[Math.floorMod($hash, $ids.length)];")
  }

  override protected def withNewChildInternal(c: Expression): BucketOf = copy(child = c)
}

object BucketOf {

  /** Newer Sparks keep the checkpoint's number apart from the session's. */
  private val OfCheckpoint = "spark.sql.streaming.internal.stateStore.partitions"

  def current(): Array[Int] = {
    val conf = SQLConf.get
    Bucket.ids(conf.getConfString(OfCheckpoint, conf.numShufflePartitions.toString).toInt).toArray
  }
}
