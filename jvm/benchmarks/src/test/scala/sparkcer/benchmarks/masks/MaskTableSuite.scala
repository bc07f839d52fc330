package sparkcer.benchmarks.masks

import scala.util.Random

class MaskTableSuite extends munit.FunSuite {

  /** Three columns (a string, an integer, a string), NULL where None, and conditions with an answer each. */
  private final class Event(values: Vector[Option[AnyRef]], answers: Vector[Boolean]) extends Row {
    var asked = Vector.empty[Int]
    def isNull(column: Int): Boolean = values(column).isEmpty
    def long(column: Int): Long = values(column).get.asInstanceOf[java.lang.Long]
    def ref(column: Int): AnyRef = values(column).orNull
    def test(condition: Int): Boolean = { asked :+= condition; answers(condition) }

    def passes(t: Conjunction): Boolean = {
      val all = t.memberships.forall(m => values(m.column).exists(m.values) != m.excluded) &&
        t.holds.forall(answers) && !t.fails.exists(answers)
      all != t.negated
    }
  }

  // Integers close together are looked up in another way than those far apart.
  private var scale = 1L

  private def constant(column: Int, rng: Random): AnyRef =
    if (column == 1) java.lang.Long.valueOf(rng.nextInt(4).toLong * scale) else new String("v" + rng.nextInt(4))

  private def condition(rng: Random): Conjunction = {
    val columns = (0 until 3).filter(_ => rng.nextInt(3) == 0).toVector
    Conjunction(
      columns.map(c => Membership(c, Set.fill(1 + rng.nextInt(2))(constant(c, rng)), excluded = rng.nextInt(4) == 0)),
      Vector.fill(rng.nextInt(3))(rng.nextInt(5)).distinct,
      Vector.fill(rng.nextInt(2))(rng.nextInt(5)),
      negated = rng.nextInt(4) == 0
    )
  }

  private def event(rng: Random): Event = new Event(
    Vector.tabulate(3)(c => if (rng.nextInt(6) == 0) None else Some(constant(c, rng))),
    Vector.fill(5)(rng.nextBoolean())
  )

  test("masks are what the conditions say, for one word and for several, and no condition is asked twice") {
    val rng = new Random(7)
    for (round <- 1 to 300) {
      scale = if (round % 3 == 0) 1L << 40 else 1L
      val conditions = Vector.fill(1 + rng.nextInt(if (round % 2 == 0) 64 else 200))(condition(rng))
      val table = new MaskTable(conditions)
      for (_ <- 1 to 20) {
        val e = event(rng)
        val mask = if (table.single) Array(table.mask(e)) else table.masks(e)
        conditions.indices.foreach(g =>
          assertEquals((mask(g >> 6) >>> g & 1L) == 1L, e.passes(conditions(g)), s"${conditions(g)}")
        )
        assertEquals(e.asked.distinct, e.asked)
      }
    }
  }

  test("a condition is not asked of an event of another type") {
    val table = new MaskTable(Vector(Conjunction(Vector(Membership(0, Set("A"))), holds = Vector(0))))
    val other = new Event(Vector(Some("B"), None, None), Vector(true))
    assertEquals(table.mask(other), 0L)
    assertEquals(other.asked, Vector.empty)
  }
}
