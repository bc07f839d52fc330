package sparkcer.views.oracle

import scala.util.Random

import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.RandomViews

/** Views after random steps against their definitions. */
final class RandomViewsSuite extends SparkSuite {
  private val cases = if (Properties.Long) 2000 else 60

  private def kind(n: Int) = RandomViews.Kinds(n % RandomViews.Kinds.length)

  test("random views have the rows of their definitions") {
    // The short form has the cases in which the planted errors below are found; the long form draws others each time.
    val start = if (Properties.Long) Random.nextInt().toLong else 0L
    (0 until cases).foreach { n =>
      assertEquals(new RandomViews(start + n, kind(n)).run(), None, clue(s"seed ${start + n}, ${kind(n).name}"))
    }
  }

  /** The number of the first of 60 cases, of all kinds as above, that differs in its rows. */
  private def finding(fault: RandomViews.Fault): Option[Int] = (0 until 60).find { n =>
    val k = if (kind(n).name == RandomViews.Sums.name) fault.sums else kind(n)
    val one = new RandomViews(n.toLong, k, fault)
    one.isAffected && one.run().exists(!_.startsWith("failed"))
  }

  Vector(
    "a sum that is wrong by one in one part of fifty" -> RandomViews.WrongSum,
    "one part of ten that is skipped" -> RandomViews.Skipped,
    "late rows that are ignored in one part of ten" -> RandomViews.Ignored,
    "rows for one part of ten that are appended twice" -> RandomViews.Doubled,
    "changes outside that are not heeded in one part of ten" -> RandomViews.Unheeded
  ).foreach { case (what, fault) =>
    test(s"$what: this is found in 60 cases")(assert(finding(fault).isDefined))
  }
}
