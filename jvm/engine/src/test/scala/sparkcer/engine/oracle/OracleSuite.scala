package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.evaluate.Evaluator
import sparkcer.engine.testkit._
import sparkcer.engine.testkit.Absences.absentCase
import sparkcer.engine.testkit.Generators.{comparingCase, plainCase, repeatingCase}

/** The engine against the definition: as sets, the same matches. */
class OracleSuite extends AgainstDefinition(plainCase)

/** The same for queries that compare events. */
class ComparisonOracleSuite extends AgainstDefinition(comparingCase)

/** The same for queries with quantifiers, sub-windows and conditions on repetitions. */
class RepetitionOracleSuite extends AgainstDefinition(repeatingCase) {
  override def cases: Int = 500
}

/** The same for queries with events that must not come. */
class AbsenceOracleSuite extends AgainstDefinition(absentCase) {
  override def cases: Int = 500
}

abstract class AgainstDefinition(generator: Gen[Case]) extends Properties {
  override def cases: Int = 2000
  implicit private val arbitrary: Arbitrary[Case] = Arbitrary(generator)

  /** Holds when the engine, run with the options, finds exactly what the definition says. */
  private def agrees(c: Case, options: Harness.Options): Prop = {
    val both = for (right <- c.expected; program <- c.program) yield {
      val found = Harness.run(program, c.events, options)
      (found == right) :| Match.difference(found, right)
    }
    both.getOrElse(Prop.undecided)
  }

  property("the engine finds the matches of the definition") {
    forAll((c: Case) => agrees(c, Harness.Options()))
  }

  property("events without a bit can be dropped where the program says so") {
    forAll((c: Case) => agrees(c, Harness.Options(drop = true)))
  }

  property("keys whose window has passed can be removed") {
    forAll((c: Case) => agrees(c, Harness.Options(remove = true)))
  }

  property("a cache of one to four states, rebuilt at almost every event, finds the same") {
    forAll { (c: Case, n: Byte) =>
      agrees(c, Harness.Options(Evaluator.Limits(states = 1 + (n & 3))))
    }
  }
}
