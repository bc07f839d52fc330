package sparkcer.internal.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{ImperativeAggregate, TypedImperativeAggregate}
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types.{ArrayType, DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.state.{WireReader, WireWriter}
import sparkcer.internal.stream.RuleTally

/** The rules in tallies ([[sparkcer.internal.stream.RuleTally]]) that are gone, or those that have begun anew: each
  * once, in order. Spark's own `collect_set` cannot be observed.
  */
case class RuleNames(
    child: Expression,
    gone: Boolean,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[mutable.TreeSet[UTF8String]]
    with UnaryLike[Expression] {
  import RuleNames._

  override def dataType: DataType = ArrayType(StringType, containsNull = false)
  override def nullable: Boolean = false

  override def createAggregationBuffer(): Names =
    mutable.TreeSet.empty[UTF8String](Ordering.fromLessThan(_.compareTo(_) < 0))

  override def update(names: Names, input: InternalRow): Names = {
    child.eval(input) match {
      case bytes: Array[Byte] =>
        val tally = RuleTally.read(bytes)
        names ++= (if (gone) tally.gone else tally.begunAnew).map(UTF8String.fromString)
      case _ => ()
    }
    names
  }

  override def merge(names: Names, others: Names): Names = names ++= others
  override def eval(names: Names): Any = new GenericArrayData(names.toArray[Any])

  override def serialize(names: Names): Array[Byte] = {
    val out = new WireWriter
    names.foreach(n => out.array(n.getBytes))
    out.result()
  }

  override def deserialize(bytes: Array[Byte]): Names = {
    val in = new WireReader(bytes, 0, bytes.length)
    val names = createAggregationBuffer()
    while (!in.done) names += UTF8String.fromBytes(in.array())
    names
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate = copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate = copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(c: Expression): RuleNames = copy(child = c)
}

object RuleNames {
  private type Names = mutable.TreeSet[UTF8String]
}
