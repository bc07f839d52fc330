package sparkcer.engine.oracle

import sparkcer.engine.testkit.Harness

/** The examples of chain-CEA, Section 6, on the list of its Figure 3 (rebuilt from what the text says of it): which of
  * the events before are totally different from a tuple. Positions from 1, as there.
  */
class EdIndexSuite extends munit.FunSuite {
  private val list = Vector((1, 4), (2, 5), (4, 3), (2, 4), (2, 3), (5, 3), (5, 3))

  /** The positions of those of the first `n` that differ from the tuple in each attribute that it has. */
  private def different(n: Int, a: Option[Int], b: Option[Int]): Vector[Int] = {
    val tests = a.map(_ => "s.a != r.a") ++ b.map(_ => "s.b != r.b")
    val events = list.take(n).map { case (x, y) => s"S(a=$x,b=$y)" } :+ s"R(a=${a.getOrElse(0)},b=${b.getOrElse(0)})"
    Harness
      .run(s"SELECT s FROM T WHERE (S AS s ; R AS r) FILTER ${tests.mkString(" AND ")}", events.mkString(" "))
      .map(m => "\\{(\\d+)}".r.findFirstMatchIn(m).get.group(1).toInt + 1)
      .sorted
  }

  test("example 14: s7[a] = s5, s7[ab] = s4, s7[b] = s4, s7[ba] = s1") {
    assertEquals(different(6, Some(5), None), Vector(1, 2, 3, 4, 5))
    assertEquals(different(6, Some(5), Some(3)), Vector(1, 2, 4))
    assertEquals(different(6, None, Some(3)), Vector(1, 2, 4))
    assertEquals(different(6, Some(2), Some(3)), Vector(1))
  }

  test("example 15: s8[a] = s7, s8[b] = s4, s8[ab] = s8[ba] = s1") {
    assertEquals(different(7, Some(2), None), Vector(1, 3, 6, 7))
    assertEquals(different(7, None, Some(3)), Vector(1, 2, 4))
    assertEquals(different(7, Some(2), Some(3)), Vector(1))
  }
}
