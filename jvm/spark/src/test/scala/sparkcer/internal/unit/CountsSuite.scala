package sparkcer.internal.unit

import sparkcer.internal.stream.Counts

/** What a bucket returns of its counts. */
class CountsSuite extends munit.FunSuite {
  test("numbers have their names in order, and those that are not added up are among them") {
    val counts = Counts(input = 3, late = 4, lateness = 5)
    val named = Counts.Names.zip(counts.numbers).filter(_._2 != 0)
    assertEquals(named, Vector("input" -> 3L, "late" -> 4L, "lateness" -> 5L))
    assertEquals(Counts.Largest.diff(Counts.Names.toSet), Set.empty[String])
  }
}
