package sparkcer.internal.unit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types.{ArrayType, LongType}

import sparkcer.internal.stream.{CountMetric, Counts, RuleCounts, RuleTally}

/** How the counts of buckets become metrics of a query. */
class CountMetricSuite extends munit.FunSuite {
  private val counts = BoundReference(0, ArrayType(LongType, containsNull = false), nullable = true)

  private def row(numbers: Long*): InternalRow = InternalRow(new GenericArrayData(numbers.toArray))
  private val noCounts = InternalRow(null)

  /** The metric of two tasks with these rows. The buffers have other columns before that of the metric. */
  private def metric(number: Int, largest: Boolean)(tasks: Seq[InternalRow]*): Any = {
    val metric = CountMetric(counts, number, largest, mutableAggBufferOffset = 2, inputAggBufferOffset = 1)
    val all = new GenericInternalRow(3)
    metric.initialize(all)
    tasks.foreach { rows =>
      val one = metric.withNewMutableAggBufferOffset(1)
      val buffer = new GenericInternalRow(2)
      one.initialize(buffer)
      rows.foreach(one.update(buffer, _))
      metric.merge(all, buffer)
    }
    metric.eval(all)
  }

  test("numbers are added up, or the largest of them is told; rows without counts change nothing") {
    val tasks = Seq(Seq(row(1, 7), noCounts, row(2, 30)), Seq(noCounts), Seq(row(40, 5)))
    assertEquals(metric(0, largest = false)(tasks: _*), 43L: Any)
    assertEquals(metric(1, largest = false)(tasks: _*), 42L: Any)
    assertEquals(metric(0, largest = true)(tasks: _*), 40L: Any)
    assertEquals(metric(1, largest = true)(tasks: _*), 30L: Any)
    assertEquals(metric(1, largest = true)(), 0L: Any)
  }

  test("numbers have their names in order, and those that are not added up are among them") {
    val counts = Counts(input = 3, late = 4, lateness = 5)
    val named = Counts.Names.zip(counts.numbers).filter(_._2 != 0)
    assertEquals(named, Vector("input" -> 3L, "late" -> 4L, "lateness" -> 5L))
    assertEquals(Counts.Largest.diff(Counts.Names.toSet), Set.empty[String])
  }

  test("what rules did is read as it was written") {
    val tally = RuleTally(
      Vector(RuleCounts("", 0, 0, 0, 0, 0), RuleCounts("naïve", 1, -2, 3, Long.MaxValue, Long.MinValue)),
      Vector("a", "b"),
      Vector.empty
    )
    assertEquals(RuleTally.read(tally.bytes), tally)
    assertEquals(RuleTally.read(RuleTally(Nil, Nil, Nil).bytes), RuleTally(Nil, Nil, Nil))
  }
}
