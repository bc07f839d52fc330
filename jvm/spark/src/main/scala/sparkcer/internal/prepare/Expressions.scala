package sparkcer.internal.prepare

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  And,
  EqualTo,
  Expression,
  Literal,
  PredicateHelper,
  UnaryExpression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

import sparkcer.internal.bind.Clock
import sparkcer.internal.stream.Bucket

/** At most 64 conditions to bits: bit i says whether condition i is TRUE. The query's conditions are this one expression in the
  * generated code of the scan's stage.
  */
case class Mask(conditions: Seq[Expression]) extends Expression {
  override def children: Seq[Expression] = conditions
  override def dataType: DataType = LongType
  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    var mask = 0L
    conditions.indices.foreach { i =>
      val passes = conditions(i).eval(input)
      if (passes != null && passes.asInstanceOf[Boolean]) mask |= 1L << i
    }
    mask
  }

  /** Conditions that begin alike, as those of one event type do, share the beginning; and where beginnings compare one
    * thing with different constants, only one of them can hold.
    */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val mask = ctx.addMutableState(CodeGenerator.JAVA_LONG, "cerMask")
    val groups = Mask.grouped(conditions)
    val exclusive = groups.length > 1 && Mask.areExclusive(groups.map(_._1))
    def test(condition: Expression, body: String, other: String) = {
      val c = condition.genCode(ctx)
      s"""
         |${c.code}
         |if (!${c.isNull} && ${c.value}) {
         |  $body
         |} $other""".stripMargin
    }
    def bits(rests: Seq[(Option[Expression], Int)]) = rests.map { case (rest, i) =>
      val set = s"$mask |= ${1L << i}L;"
      rest.fold(set)(test(_, set, ""))
    }
    val all =
      if (exclusive && conditions.length <= Mask.FewConditions)
        groups.foldRight("") { case ((first, rests), other) =>
          test(first, bits(rests).mkString("\n"), if (other.isEmpty) "" else s"else {\n$other\n}")
        }
      else {
        val tests = groups.flatMap { case (first, rests) =>
          rests.grouped(Mask.FewConditions).map(some => test(first, bits(some).mkString("\n"), ""))
        }
        ctx.splitExpressionsWithCurrentInputs(tests, "cerMask")
      }
    ev.copy(
      code = code"""
        $mask = 0L;
        $all
        final long ${ev.value} = $mask;""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Mask = copy(conditions = c)
}

private[sparkcer] object Mask extends PredicateHelper {

  /** More of them are spread over methods, which the compiler of Java likes small. */
  private val FewConditions = 16

  /** First conditions, each with what is left of the conditions that begin with it, and their numbers. */
  private def grouped(conditions: Seq[Expression]): Seq[(Expression, Seq[(Option[Expression], Int)])] = {
    val split = conditions.zipWithIndex.map { case (g, i) =>
      val all = splitConjunctivePredicates(g)
      (all.head, (all.tail.reduceOption(And), i))
    }
    val firsts = split.map(_._1.canonicalized).distinct
    firsts.map { f =>
      val mine = split.filter(_._1.canonicalized == f)
      (mine.head._1, mine.map(_._2))
    }
  }

  private def areExclusive(conditions: Seq[Expression]): Boolean = {
    val compared = conditions.collect { case EqualTo(x, Literal(v, StringType)) if v != null => (x.canonicalized, v) }
    compared.length == conditions.length && compared.map(_._1).distinct.length == 1 &&
    compared.map(_._2).distinct.length == compared.length
  }
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

/** Columns as a row of their own inside another, written in place. */
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

  /** Newer Sparks keep the checkpoint's number apart from the session's. Were it somewhere else, and the session's not
    * the same, the number in the checkpoint's own log would not fit ([[LogMeaning]]), and the stream would fail.
    */
  private val OfCheckpoint = "spark.sql.streaming.internal.stateStore.partitions"

  def current(): Array[Int] = {
    val conf = SQLConf.get
    Bucket.ids(conf.getConfString(OfCheckpoint, conf.numShufflePartitions.toString).toInt).toArray
  }
}
