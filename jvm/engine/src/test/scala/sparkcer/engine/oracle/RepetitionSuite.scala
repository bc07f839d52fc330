package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.{forAll, propBoolean}
import org.scalacheck.rng.Seed

import sparkcer.engine.ceql.{Consume, Strategy}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._

/** Quantifiers, sub-windows and conditions on repetitions: each with each strategy, CONSUME BY and COUNT(*), and the
  * laws that they obey.
  */
class RepetitionSuite extends Properties {
  override def cases: Int = 200

  private val strategies = Vector(Strategy.All, Strategy.Next, Strategy.Last, Strategy.Max, Strategy.Strict)
  private val consumes = Vector(Consume.None, Consume.Partition, Consume.Any)

  /** A cell of the table is drawn until so many of its cases have a match. */
  private val wanted = if (Properties.Long) 40 else 2
  private val tries = 4000

  for ((name, construct) <- Repetitions.constructs)
    test(s"$name, with every strategy, CONSUME BY and COUNT(*)") {
      var seed = Seed.fromBase64(scalaCheckInitialSeed).get
      for (strategy <- strategies; consume <- consumes; counts <- Vector(false, true)) {
        val generator = Repetitions.caseWith(construct, strategy, consume, counts)
        var (found, drawn) = (0, 0)
        while (found < wanted && drawn < tries) {
          generator.apply(Gen.Parameters.default, seed).foreach { c =>
            for (right <- c.expected; program <- c.program) {
              val harness = new Harness(program).feed(c.events)
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

  implicit private val stream: Arbitrary[Vector[Event]] = Arbitrary(Generators.stream)

  private def matches(where: String, events: Vector[Event], select: String) =
    Harness.run(Program(s"SELECT $select FROM S, T WHERE $where"), events)

  /** Both find the same matches, of whatever strategy. */
  private def law(left: String, right: String): Unit = property(s"$left is $right") {
    forAll { (events: Vector[Event]) =>
      strategies.forall { s =>
        val (l, r) = (matches(left, events, s"${s.word} *"), matches(right, events, s"${s.word} *"))
        l == r
      } :| s"$left and $right differ"
    }
  }

  law("A{2,3}", "(A ; A) OR (A ; A ; A)")
  law("A:{2}", "A : A")
  law("A:{2,3}", "(A : A) OR (A : A : A)")
  law("A{1,}", "A+")
  law("A:{1,}", "A:+")
  law("B ; (A?){2}", "B ; A{0,2}")
  law("B ; A{,2}", "B ; A{0,2}")
  law("B ; A*", "B OR (B ; A+)")
  law("A? ; B", "B OR (A ; B)")
  law("A ; B? ; A", "(A ; A) OR (A ; B ; A)")
  law("A : B? : A", "(A : A) OR (A : B : A)")
  law("A ; (B? ; C?)", "A OR (A ; B) OR (A ; C) OR (A ; B ; C)")
  law("A ALL B?", "A OR (A ALL B)")
  law("((A ; B) WITHIN 100 [t]) ; C", "((A ; B) FILTER A[t IS NOT NULL] AND B[t IS NOT NULL]) ; C")
  law("(A+ AS x) FILTER count(x) >= 3", "A{3,} AS x")
  law("(A+ AS x) FILTER count(x) BETWEEN 2 AND 3", "A{2,3} AS x")
  law("(A+ AS x) FILTER count(x) = 2", "A{2} AS x")
  law("(A* AS x ; B) FILTER count(x) = 0", "(A AS x FILTER x[p = 0 AND p = 1]) OR B")
  law("(A+ AS x) FILTER min(x.p) > 0", "(A+ AS x) FILTER SOME x[p IS NOT NULL] AND x[p IS NULL OR p > 0]")
  law("(A+ AS x) FILTER max(x.p) > 0", "(A+ AS x) FILTER SOME x[p > 0]")
  law("(A AS x) FILTER first(x)[p = 1]", "(A AS x) FILTER x[p = 1]")
  law("(A AS x ; B AS y) FILTER first(x).p = last(y).p", "(A AS x ; B AS y) FILTER x.p = y.p")
  law("((A ; B)+ AS x) FILTER first(x)[p = 1]", "((A FILTER A[p = 1]) ; B ; (A ; B)*) AS x")
}
