package sparkcer.internal.unit

import sparkcer.internal.stream.{Counts, RuleCounts, RuleTally}

/** What a bucket returns of its counts. */
class CountsSuite extends munit.FunSuite {
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
