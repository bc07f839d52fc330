package sparkcer.engine.unit

import scala.collection.mutable

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Event, Harness, Match}

/** What quantifiers and conditions on repetitions cost, and small cases of what they mean. */
class QuantifierSuite extends munit.FunSuite {

  private def found(query: String, events: String): Vector[String] =
    Match.show(Harness.run(Program(query), Event.stream(events)))

  test("an interval neither begins nor ends with an event that was only passed over") {
    assertEquals(found("SELECT * FROM S WHERE A? ; B ; C?", "X B X"), Vector("[1,1] B={1}"))
    assertEquals(
      found("SELECT * FROM S WHERE A? ; B ; C?", "A X B X C"),
      Vector("[0,2] A={0} B={2}", "[2,2] B={2}", "[0,4] A={0} B={2} C={4}", "[2,4] B={2} C={4}")
    )
  }

  test("a condition in a round is about the round, and one outside about all rounds") {
    val rounds = "A A B A B"
    assertEquals(
      found("SELECT * FROM S WHERE ((A+ AS x ; B) FILTER count(x) = 1){2}", rounds),
      Vector("[0,4] B={2,4} x={0,3}", "[1,4] B={2,4} x={1,3}")
    )
    assertEquals(
      found("SELECT * FROM S WHERE ((A+ AS x ; B){2}) FILTER count(x) = 3", rounds),
      Vector("[0,4] B={2,4} x={0,1,3}")
    )
  }

  test("a sub-window in a round is about the round") {
    assertEquals(
      found("SELECT * FROM S WHERE (A ; B WITHIN 2 [t]){2}", "A@0 B@2 A@9 B@11 A@12 B@15"),
      Vector("[0,3] A={0,2} B={1,3}")
    )
  }

  test("A{1000} compiles in less than a second") {
    Program("SELECT * FROM S WHERE A{10}"): Unit // classes are loaded
    for (query <- Seq("SELECT * FROM S WHERE A{1000}", "SELECT MAX * FROM S WHERE A{1000,} ; B")) {
      // The best of three, because the machine may be busy.
      val seconds = Vector.fill(3) {
        val start = System.nanoTime()
        Program(query): Unit
        (System.nanoTime() - start) / 1e9
      }
      assert(seconds.min < 1, s"$query took $seconds s")
    }
  }

  /** How many determinized states any stream of As and others can reach. */
  private def reachable(query: String): Int = {
    val construction = Program(query).construction
    val seen = mutable.HashSet(construction.initial.toSeq)
    val work = mutable.Queue(construction.initial)
    while (work.nonEmpty) {
      val state = work.dequeue()
      for (isA <- Seq(true, false); move <- construction.moves(state, _ => isA); next <- move.target)
        if (seen.add(next.toSeq)) work.enqueue(next)
    }
    seen.size
  }

  for (strategy <- Seq("MAX", "NEXT"))
    test(s"the determinized states of $strategy A{n,} grow with n, not with its square") {
      val (ten, forty) =
        (reachable(s"SELECT $strategy * FROM S WHERE A{10,}"), reachable(s"SELECT $strategy * FROM S WHERE A{40,}"))
      assert(forty <= 5 * ten, s"$ten states for 10, $forty for 40")
    }

  test("a parameter in the pattern needs its value before the automaton can be made") {
    val e = intercept[CeqlException](Program("SELECT * FROM S WHERE A{:n}"))
    assertEquals(e.problem, "the parameter :n has no value. Give it one with params={\"n\": …}.")
    assertEquals(Program("SELECT * FROM S WHERE A{:n} WITHIN :m hours", Map("n" -> BigDecimal(2))).cea.finals.size, 1)
  }
}
