package sparkcer.views.oracle

import scala.util.Random

import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.RandomViews

/** Views after random appends, late rows, restarts and roll-ups against their definitions. */
final class RandomViewsSuite extends SparkSuite {
  private val cases = if (Properties.Long) 2000 else 60

  test("random views have the rows of their definitions") {
    val start = Random.nextInt().toLong
    (0 until cases).foreach { n =>
      val kind = RandomViews.Kinds(n % RandomViews.Kinds.length)
      assertEquals(new RandomViews(start + n, kind).run(), None, clue(s"seed ${start + n}, ${kind.name}"))
    }
  }

  /** The number of the first of 60 cases that differs. */
  private def finding(kind: RandomViews.Kind, fault: RandomViews.Fault): Option[Long] =
    (1L to 60L).find(seed => new RandomViews(seed, kind, fault).run().exists(_.startsWith(s"${kind.name}: ")))

  Vector(
    ("a sum that is wrong by one in one part of fifty", RandomViews.WrongSum, RandomViews.NoFault),
    ("one part of ten that is skipped", RandomViews.Sums, RandomViews.Skipped),
    ("late rows that are ignored in one part of ten", RandomViews.Sums, RandomViews.Ignored),
    ("rows for one part of ten that are appended twice", RandomViews.Sums, RandomViews.Doubled)
  ).foreach { case (what, kind, fault) =>
    test(s"$what: this is found in 60 cases")(assert(finding(kind, fault).isDefined))
  }
}
