package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.{SelectList, Strategy}
import sparkcer.engine.evaluate.{Evaluator, Program}
import sparkcer.engine.testkit._
import sparkcer.engine.testkit.Absences.absentCase
import sparkcer.engine.testkit.Endings.waitingCase
import sparkcer.engine.testkit.Generators.{comparingCase, plainCase, repeatingCase}

/** `SELECT COUNT(*)` counts what `SELECT *` lists. */
class CountSuite extends CountsAgainstDefinition(plainCase) {
  test("more matches than could be listed") {
    val events = Event.stream("A " * 40 + "B")
    val counts = new Harness(Program("SELECT COUNT(*) FROM S WHERE A+ ; B")).feed(events).counts
    assertEquals(counts, Map(40 -> ((1L << 40) - 1)))
  }

  test("a number past the largest sticks there") {
    val events = Event.stream("A " * 70 + "B")
    val counts = new Harness(Program("SELECT COUNT(*) FROM S WHERE A+ ; B")).feed(events).counts
    assertEquals(counts, Map(70 -> Long.MaxValue))
  }
}

/** The same for queries that compare events. */
class ComparisonCountSuite extends CountsAgainstDefinition(comparingCase) {

  test("more matches than could be listed, of events that are compared") {
    val events = Event.stream("A(k=1) A(k=2) " * 40 + "B")
    val counts = new Harness(Program("SELECT COUNT(*) FROM S WHERE (A+ PART-BY [k]) ; B")).feed(events).counts
    assertEquals(counts, Map(80 -> 2 * ((1L << 40) - 1)))
  }
}

/** The same for queries with quantifiers, sub-windows and conditions on repetitions. */
class RepetitionCountSuite extends CountsAgainstDefinition(repeatingCase) {
  override def cases: Int = 300
}

/** The same for queries with events that must not come. */
class AbsenceCountSuite extends CountsAgainstDefinition(absentCase) {
  override def cases: Int = 300
}

/** The same for queries that end with events that must not come. */
class WaitingCountSuite extends CountsAgainstDefinition(waitingCase) {
  override def cases: Int = 300
}

abstract class CountsAgainstDefinition(generator: Gen[Case]) extends Properties {
  override def cases: Int = 1000
  implicit private val arbitrary: Arbitrary[Case] = Arbitrary(generator)

  /** The same case with COUNT(*), half of the time without the strategies that have to list what they count. */
  private def counting(c: Case, plain: Boolean): Case = {
    val strategy = if (plain) Strategy.All else c.query.select.strategy
    val select =
      c.query.select.copy(list = SelectList.Count, strategy = strategy, distinct = c.query.select.distinct && !plain)
    Case(Simpler.valid(c.query.copy(select = select)("")), c.events)
  }

  /** Holds when `run` counts what the definition says. */
  private def agrees(c: Case)(run: Program => Map[Int, Long]): Prop = {
    val both = for (right <- c.expected.map(Oracle.counts); program <- c.program) yield {
      val found = run(program)
      (found == right) :| s"counted $found, right is $right"
    }
    both.getOrElse(Prop.undecided)
  }

  private def agrees(c: Case, options: Harness.Options): Prop =
    agrees(c)(program => new Harness(program, options).feed(c.events).finish().counts)

  property("counts are those of the definition") {
    forAll((c: Case, plain: Boolean) => agrees(counting(c, plain), Harness.Options()))
  }

  property("with events dropped, and keys removed whose window has passed") {
    forAll((c: Case, plain: Boolean) => agrees(counting(c, plain), Harness.Options(drop = true, remove = true)))
  }

  property("with a cache of one to four states") {
    forAll { (c: Case, n: Byte, plain: Boolean) =>
      agrees(counting(c, plain), Harness.Options(Evaluator.Limits(states = 1 + (n & 3))))
    }
  }

  property("with the state saved and loaded after every event") {
    forAll { (c: Case, plain: Boolean, full: Boolean) =>
      val counted = counting(c, plain)
      agrees(counted) { program =>
        val harness = new Harness(program)
        var pieces = Vector(harness.save())
        counted.events.foreach { e =>
          harness.feed(Seq(e))
          pieces = if (full) Vector(harness.save()) else pieces :+ harness.saveChanges()
          harness.restart(pieces)
        }
        harness.finish().counts
      }
    }
  }
}
