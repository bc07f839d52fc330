package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.Quantity
import sparkcer.engine.testkit._
import sparkcer.engine.testkit.Endings.waitingCase
import sparkcer.engine.testkit.Generators.{comparingCase, plainCase}

/** LIMIT takes some of the matches of each closing event or deadline, the same ones whatever the restarts, and changes
  * nothing else.
  */
class LimitSuite extends LimitedMatches(plainCase)

/** The same for queries that compare events. */
class ComparisonLimitSuite extends LimitedMatches(comparingCase)

/** The same for queries that end with events that must not come. */
class WaitingLimitSuite extends LimitedMatches(waitingCase) {
  override def cases: Int = 300
}

abstract class LimitedMatches(generator: Gen[Case]) extends Properties {
  override def cases: Int = 1000
  implicit private val arbitrary: Arbitrary[Case] = Arbitrary(generator)

  property("as many of the right matches as there may be") {
    forAll { (c: Case, byte: Byte) =>
      val n = 1 + (byte & 3)
      val limited = Case(c.query.copy(limit = Some(Quantity.Number(BigDecimal(n))))(""), c.events)
      val both = for (right <- c.expected; program <- limited.program) yield {
        val found = Harness.run(program, c.events)
        val again = new Harness(program)
        c.events.foreach { e => again.feed(Seq(e)); again.restart(Seq(again.save())) }
        def sizes(matches: Set[Match]) = matches.groupBy(m => (m.key, m.end, m.deadline)).view.mapValues(_.size).toMap
        val wanted = sizes(right).view.mapValues(math.min(n, _)).toMap
        (found.subsetOf(right) && sizes(found) == wanted && found == again.finish().matches) :|
          s"LIMIT $n of ${Match.show(right)} gave ${Match.show(found)}"
      }
      both.getOrElse(Prop.undecided)
    }
  }
}
