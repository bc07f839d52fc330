package sparkcer.internal.unit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{BinaryType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.internal.rules.{CostliestRules, RuleNames}
import sparkcer.internal.stream.{RuleCounts, RuleTally}

/** What the metrics of a set have of its rules. */
class CostliestRulesSuite extends munit.FunSuite {
  private val tally = BoundReference(0, BinaryType, nullable = true)
  private val costliest = CostliestRules(tally)

  private def row(rules: (String, Long)*): InternalRow =
    InternalRow(RuleTally(rules.map { case (id, ms) => RuleCounts(id, 1, 2, 3, 4, ms * 1000000) }, Nil, Nil).bytes)

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
    def row(gone: String*) = InternalRow(RuleTally(Nil, Seq("begun"), gone).bytes)
    val names = RuleNames(tally, gone = true)
    val (left, right) = (names.createAggregationBuffer(), names.createAggregationBuffer())
    Seq(row("b", "a"), row("b"), row(), InternalRow(null)).foreach(names.update(left, _))
    names.update(right, row("", "c", "b"))
    val all = names.eval(names.merge(left, names.deserialize(names.serialize(right)))).asInstanceOf[ArrayData]
    assertEquals(all.toArray[UTF8String](StringType).toVector.map(_.toString), Vector("", "a", "b", "c"))
    val begun = RuleNames(tally, gone = false)
    val one = begun.eval(begun.update(begun.createAggregationBuffer(), row("a"))).asInstanceOf[ArrayData]
    assertEquals(one.toArray[UTF8String](StringType).toVector.map(_.toString), Vector("begun"))
  }
}
