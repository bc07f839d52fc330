package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.{forAll, propBoolean}
import org.scalacheck.rng.Seed

import sparkcer.engine.ceql.{Consume, Formula, Strategy}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._

/** Constructs of the language, each with each strategy, CONSUME BY and COUNT(*), and the laws that they obey.
  *
  * @param constructs
  *   by name: draws the construct around a formula
  */
abstract class EveryStrategy(constructs: Vector[(String, Formula => Gen[Formula])]) extends Properties {
  override def cases: Int = 200

  private val strategies = Vector(Strategy.All, Strategy.Next, Strategy.Last, Strategy.Max, Strategy.Strict)
  private val consumes = Vector(Consume.None, Consume.Partition, Consume.Any)

  /** A cell of the table is drawn until so many of its cases have a match. */
  private val wanted = if (Properties.Long) 40 else 2
  private val tries = 4000

  for ((name, _) <- constructs)
    test(s"$name, with every strategy, CONSUME BY and COUNT(*)") {
      var seed = Seed.fromBase64(scalaCheckInitialSeed).get
      for (strategy <- strategies; consume <- consumes; counts <- Vector(false, true)) {
        val generator = draw(name, strategy, consume, counts)
        var (found, drawn) = (0, 0)
        while (found < wanted && drawn < tries) {
          generator.apply(Gen.Parameters.default, seed).foreach { c =>
            for (right <- c.expected; program <- c.program) {
              val harness = new Harness(program).feed(c.events).finish()
              if (counts) assertEquals(harness.counts, Oracle.counts(right), s"$c, seed $scalaCheckInitialSeed")
              else assertEquals(harness.matches, right, s"$c, seed $scalaCheckInitialSeed")
              if (right.nonEmpty) found += 1
            }
          }
          drawn += 1
          seed = seed.slide
        }
        assert(found == wanted, s"$name with $strategy, $consume, COUNT $counts: $found of $drawn have a match")
      }
    }

  protected def draw(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] =
    Repetitions.caseWith(constructs.toMap.apply(name), strategy, consume, counts)

  implicit private val stream: Arbitrary[Vector[Event]] = Arbitrary(Generators.stream)

  private def matches(where: String, events: Vector[Event], select: String) =
    Harness.run(Program(s"SELECT $select FROM S, T WHERE $where"), events)

  /** Both find the same matches, of whatever strategy. */
  protected def law(left: String, right: String): Unit = property(s"$left is $right") {
    forAll { (events: Vector[Event]) =>
      strategies.forall { s =>
        val (l, r) = (matches(left, events, s"${s.word} *"), matches(right, events, s"${s.word} *"))
        l == r
      } :| s"$left and $right differ"
    }
  }
}
