package sparkcer.internal.unit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types.{ArrayType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.internal.rules.{CostliestRules, RuleNames}

/** What the metrics of a set have of its rules. */
class CostliestRulesSuite extends munit.FunSuite {
  private val rule =
    StructType.fromDDL("rule STRING, events BIGINT, matches BIGINT, nodes BIGINT, bytes BIGINT, nanos BIGINT")
  private val costliest = CostliestRules(BoundReference(0, ArrayType(rule), nullable = true))

  private def row(rules: (String, Long)*): InternalRow = {
    val structs = rules.map { case (id, ms) =>
      InternalRow(UTF8String.fromString(id), 1L, 2L, 3L, 4L, ms * 1000000)
    }
    InternalRow(new GenericArrayData(structs.toArray[Any]))
  }

  test("the rules that took the most time come first, and no more than 20 are shown") {
    val rules = (0 until 50).map(i => (f"r$i%02d", (i * 37L) % 50 + 10))
    val (left, right) = (costliest.createAggregationBuffer(), costliest.createAggregationBuffer())
    rules.grouped(7).foreach(some => costliest.update(left, row(some: _*)))
    // One is cheap in each task and dear in all of them.
    (0 until 40).foreach(_ => costliest.update(right, row("r00" -> 2L)))
    costliest.update(right, InternalRow(null))
    val all = costliest.merge(left, costliest.deserialize(costliest.serialize(right)))
    val shown = costliest.eval(all).asInstanceOf[ArrayData]
    val found = (0 until shown.numElements()).map { i =>
      val r = shown.getStruct(i, 6)
      (r.getUTF8String(0).toString, r.getLong(1), r.getLong(5))
    }
    val right20 =
      ("r00", 41L, 90L) +: rules.filter(_._1 != "r00").sortBy(-_._2).take(19).map { case (id, ms) => (id, 1L, ms) }
    assertEquals(found.toVector, right20.toVector)
  }

  test("names are shown once, in order") {
    val names = RuleNames(BoundReference(0, ArrayType(StringType), nullable = true))
    def row(some: String*) = InternalRow(new GenericArrayData(some.map(UTF8String.fromString(_): Any).toArray))
    val (left, right) = (names.createAggregationBuffer(), names.createAggregationBuffer())
    Seq(row("b", "a"), row("b"), row(), InternalRow(null)).foreach(names.update(left, _))
    names.update(right, row("", "c", "b"))
    val all = names.eval(names.merge(left, names.deserialize(names.serialize(right)))).asInstanceOf[ArrayData]
    assertEquals(all.toArray[UTF8String](StringType).toVector.map(_.toString), Vector("", "a", "b", "c"))
  }
}
