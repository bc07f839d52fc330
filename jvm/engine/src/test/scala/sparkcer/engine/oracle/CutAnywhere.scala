package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.Formula
import sparkcer.engine.evaluate.Evaluator
import sparkcer.engine.testkit._

/** Constructs that depend on time, each with each strategy, and random cases of them: whole, and saved after each event
  * and loaded on the way.
  *
  * @param names
  *   of the constructs, which `draw` draws
  */
abstract class CutAnywhere(names: Vector[String], short: Gen[Case], long: Gen[Case])
    extends EveryStrategy(names.map(_ -> (Gen.const(_: Formula)))) {
  override def cases: Int = 500

  implicit private val drawn: Arbitrary[Case] = Arbitrary(short)

  property("matches are those of the definition, whenever deadlines are fired") {
    forAll { (c: Case, drop: Boolean, remove: Boolean, lazily: Boolean, states: Byte) =>
      val limits = if (states < 0) Evaluator.Limits() else Evaluator.Limits(states = 1 + (states & 3))
      c.program.fold(Prop.undecided) { program =>
        c.expected.fold(Prop.undecided) { right =>
          val found = Harness.run(program, c.events, Harness.Options(limits, drop, remove, lazily))
          (found == right) :| Match.difference(found, right)
        }
      }
    }
  }

  property("in streams many windows long, cut and loaded on the way") {
    forAll(long, Gen.choose(1, 9)) { (c: Case, often: Int) =>
      val both = for (right <- c.expected; program <- c.program) yield {
        val found = Harness.cutAndLoaded(program, c.events, often).finish().matches
        (found == right) :| Match.difference(found, right)
      }
      both.getOrElse(Prop.undecided)
    }
  }
}
