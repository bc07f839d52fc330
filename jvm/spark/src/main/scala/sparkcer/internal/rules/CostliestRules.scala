package sparkcer.internal.rules

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{ImperativeAggregate, TypedImperativeAggregate}
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.internal.stream.RuleTally

/** The sums of what rules did ([[sparkcer.internal.stream.RuleTally]]) by rule, of the rules that took the most time,
  * the costliest first. Spark's own `collect_list` cannot be observed, and a thousand rules would fill the progress of
  * a query.
  */
case class CostliestRules(
    child: Expression,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[mutable.HashMap[String, Array[Long]]]
    with UnaryLike[Expression] {
  import CostliestRules._

  override def dataType: DataType = Type
  override def nullable: Boolean = false

  override def createAggregationBuffer(): mutable.HashMap[String, Array[Long]] = mutable.HashMap.empty

  override def update(sums: Sums, input: InternalRow): Sums = {
    child.eval(input) match {
      case bytes: Array[Byte] =>
        RuleTally.read(bytes).did.foreach(r => add(sums, r.rule, Array(r.events, r.matches, r.nodes, r.bytes, r.nanos)))
      case _ => ()
    }
    sums
  }

  override def merge(sums: Sums, others: Sums): Sums = {
    others.foreach { case (rule, numbers) => add(sums, rule, numbers) }
    sums
  }

  private def add(sums: Sums, rule: String, numbers: Array[Long]): Unit = {
    val own = sums.getOrElseUpdate(rule, new Array[Long](Numbers))
    numbers.indices.foreach(i => own(i) += numbers(i))
  }

  override def eval(sums: Sums): Any = {
    val most = sums.toVector.sortBy { case (rule, numbers) => (-numbers(Nanos), rule) }.take(Most)
    new GenericArrayData(most.map { case (rule, numbers) =>
      val shown = numbers.clone()
      shown(Nanos) /= 1000000
      InternalRow.fromSeq(UTF8String.fromString(rule) +: shown.toSeq)
    })
  }

  override def serialize(sums: Sums): Array[Byte] = {
    val all = sums.toVector.map { case (rule, numbers) => (rule.getBytes(UTF_8), numbers) }
    val out = ByteBuffer.allocate(all.map { case (rule, _) => 4 + rule.length + 8 * Numbers }.sum)
    all.foreach { case (rule, numbers) =>
      out.putInt(rule.length).put(rule)
      numbers.foreach(out.putLong)
    }
    out.array
  }

  override def deserialize(bytes: Array[Byte]): Sums = {
    val in = ByteBuffer.wrap(bytes)
    val sums = createAggregationBuffer()
    while (in.hasRemaining) {
      val rule = new Array[Byte](in.getInt())
      in.get(rule)
      sums(new String(rule, UTF_8)) = Array.fill(Numbers)(in.getLong())
    }
    sums
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate = copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate = copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(c: Expression): CostliestRules = copy(child = c)
}

object CostliestRules {
  private type Sums = mutable.HashMap[String, Array[Long]]

  private val Type: DataType = ArrayType(
    StructType.fromDDL(
      "rule_id STRING NOT NULL, events BIGINT NOT NULL, matches BIGINT NOT NULL, nodes BIGINT NOT NULL, " +
        "bytes BIGINT NOT NULL, ms BIGINT NOT NULL"
    ),
    containsNull = false
  )

  private val Numbers = 5
  private val Nanos = 4

  /** How many rules are shown. */
  private val Most = 20
}
