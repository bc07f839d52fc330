package sparkcer.engine.oracle

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Event, Harness, Match, Properties, Value}

/** The query for the longest runs in docs/language.md: one match for each run that rises and is over. */
class LongestRunSuite extends Properties {
  private val program = Program(
    "SELECT MAX run FROM S WHERE T:{2,} AS run : T AS next FILTER run[p > PREV.p] AND next.p <= last(run).p"
  )

  /** The positions of each run of two values or more, without the last run. */
  private def runs(values: Vector[Int]): Vector[Set[Int]] = {
    val ends = values.indices.drop(1).filter(i => values(i) <= values(i - 1))
    (0 +: ends).zip(ends).map { case (from, until) => (from until until).toSet }.filter(_.size > 1).toVector
  }

  property("one match for each run") {
    forAll(Gen.listOf(Gen.choose(0, 6)).map(_.toVector)) { values =>
      val found = Harness.run(program, values.map(p => Event("T", Map("p" -> Value.Num(p)))))
      val right = runs(values).map(run => Match(Vector.empty, run.min, run.max + 1, Map("run" -> run))).toSet
      (found == right) :| Match.difference(found, right)
    }
  }
}
