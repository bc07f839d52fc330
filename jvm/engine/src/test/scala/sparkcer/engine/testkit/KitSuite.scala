package sparkcer.engine.testkit

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import sparkcer.engine.ceql.{Formula, Parser}

/** The tools of the tests, on cases small enough to use by hand. */
class KitSuite extends munit.FunSuite {

  test("events: type, value, attributes, time and stream") {
    val Vector(a, b, c, d) = Event.stream("A B2 A(p=3, k=East Side)@7 T>C(n=-1.5)@null"): @unchecked
    assertEquals(a, Event("A", Map("t" -> Value.Num(0))))
    assertEquals(b, Event("B", Map("v" -> Value.Num(2), "t" -> Value.Num(1))))
    assertEquals(c, Event("A", Map("p" -> Value.Num(3), "k" -> Value.Text("East Side"), "t" -> Value.Num(7))))
    assertEquals(d, Event("C", Map("n" -> Value.Num(-1.5), "t" -> Value.Null), "T"))
  }

  test("events are shown as they are written") {
    val line = "A B2 A(k=East Side,p=3)@7 T>C(n=-1.5)@null"
    assertEquals(Event.show(Event.stream(line)), line)
    assertEquals(Event.stream(" \n "), Vector.empty)
    intercept[IllegalArgumentException](Event.stream("A [1]"))
  }

  private val row = Event.stream("A(p=3,k=x,n=null)").head

  private def holds(condition: String): Unit = assert(Sql.holds(condition, row), condition)
  private def fails(condition: String): Unit = assert(!Sql.holds(condition, row), condition)

  test("conditions") {
    Seq("p = 3", "p == 3.0", "p <> 4 AND p != 4", "p<4", "p >= 3", "k = 'x'", "k = \"x\"", "`k` < 'y'").foreach(holds)
    Seq("p IN (1, 3)", "p NOT IN (1, 2)", "p BETWEEN 3 AND 3", "p NOT BETWEEN 4 AND 5", "NOT p = 4").foreach(holds)
    Seq("n IS NULL", "p is not null", "missing IS NULL", "TRUE", "(p = 1 OR p = 3) and NOT (FALSE)", "p > -1").foreach(
      holds
    )
    Seq("p = 4", "p NOT IN (3)", "p IS NULL", "p = 3 AND p = 4", "FALSE OR NOT TRUE").foreach(fails)
  }

  test("AND binds tighter than OR") {
    holds("p = 3 OR p = 4 AND p = 5")
  }

  test("NULL is neither true nor false") {
    Seq("n = 1", "NOT (n = 1)", "n IN (1)", "n NOT IN (1)", "n = n", "p = 3 AND n = 1", "p NOT IN (1, NULL)").foreach(
      fails
    )
    Seq("p = 3 OR n = 1", "NOT (p = 4 AND n = 1)", "p IN (3, NULL)").foreach(holds)
  }

  test("conjuncts") {
    def apart(condition: String)(parts: String*): Unit = assertEquals(Sql.conjuncts(condition), parts.toVector)
    apart("p = 1")("p = 1")
    apart("p BETWEEN 1 AND 2 AND (NOT k = 'a' AND (p > PREV.p))")("p BETWEEN 1 AND 2", "NOT k = 'a'", "p > PREV.p")
    apart("p = 1 AND k = 'x' OR p = 2")("p = 1 AND k = 'x' OR p = 2")
    apart("(p = 1 OR p = 2) AND k = 'x'")("p = 1 OR p = 2", "k = 'x'")
    apart("NOT (p = 1 AND p = 2)")("NOT (p = 1 AND p = 2)")
    apart("(p) = (1)")("(p) = (1)")
  }

  test("what is no condition of the tests is refused") {
    Seq("p +", "p = ", "p = 3 k", "(p = 3", "p LIKE 'x'").foreach(p => intercept[RuntimeException](Sql.holds(p, row)))
  }

  private def byDefinition(query: String, events: String): Vector[String] =
    Match.show(Oracle.matches(Parser.parse(query), Event.stream(events)))

  test("the oracle: A+ skips") {
    assertEquals(
      byDefinition("SELECT * FROM S WHERE A+", "A X A"),
      Vector("[0,0] A={0}", "[0,2] A={0,2}", "[2,2] A={2}")
    )
  }

  test("the oracle: strategies over A B A B C") {
    val all = Vector("[0,4] A={0} B={1} C={4}", "[0,4] A={0} B={3} C={4}", "[2,4] A={2} B={3} C={4}")
    def strategy(word: String) = byDefinition(s"SELECT $word * FROM S WHERE A ; B ; C", "A B A B C")
    assertEquals(strategy("ALL"), all)
    assertEquals(strategy("MAX"), all)
    assertEquals(strategy("NEXT"), all.take(1))
    assertEquals(strategy("LAST"), all.drop(2))
    assertEquals(strategy("STRICT"), all.drop(2))
  }

  test("the oracle: counts") {
    val query = Parser.parse("SELECT COUNT(*) FROM S WHERE A ; B")
    assertEquals(Oracle.counts(Oracle.matches(query, Event.stream("A A B X B"))), Map(2 -> 2L, 4 -> 2L))
  }

  test("random cases that compare events are worth running: most do, and many match") {
    val cases = (1L to 600L).flatMap(seed => Generators.comparingCase(Gen.Parameters.default, Seed(seed)))
    val comparing = cases.filter(_.program.exists(_.comparisons.nonEmpty))
    val matching = comparing.count(_.expected.exists(_.nonEmpty))
    assert(comparing.length > cases.length / 2, s"${comparing.length} of ${cases.length} compare events")
    assert(matching > comparing.length / 4, s"$matching of ${comparing.length} match")
  }

  test("random cases whose matches wait are worth running: many match, have equal times, and lose matches to NO") {
    val cases = (1L to 600L).flatMap(seed => Endings.waitingCase(Gen.Parameters.default, Seed(seed)))
    val run = cases.filter(c => c.program.isDefined && c.expected.isDefined)
    def without(c: Case) = {
      def never(f: Formula): Formula = f match {
        case n: Formula.NoneAfter => n.copy(absent = Formula.Absent(Formula.Atom(None, "Z")(0))(0))
        case other                => other.mapChildren(never)
      }
      Oracle.matches(c.query.copy(where = never(c.query.where))(""), c.events)
    }
    val matching = run.count(_.expected.get.nonEmpty)
    val losing = run.count(c => c.expected.get != without(c))
    val comparing = run.count(_.program.get.cea.comparesAfter)
    val tied = run.count(c => c.events.map(_("t")).distinct.length < c.events.length)
    val seen = s"of ${run.length} cases $matching match, $losing lose, $comparing compare, $tied have equal times"
    assert(run.length > 500 && matching > 100 && losing > 60 && comparing > 100 && tied > 300, seen)
    val apart = run.count(c => c.program.get.cea.endsApart && c.expected.get.nonEmpty)
    assert(apart > 30, s"$apart of ${run.length} match and end in different ways")
  }

  test("random cases that begin with NO are worth running: many match, and many lose matches to it") {
    val cases = (1L to 600L).flatMap(seed => Beginnings.beginningCase(Gen.Parameters.default, Seed(seed)))
    val run = cases.filter(c => c.program.isDefined && c.expected.isDefined)
    def without(f: Formula): Formula = f match {
      case n: Formula.NoneBefore => without(n.body)
      case other                 => other.mapChildren(without)
    }
    val matching = run.count(_.expected.get.nonEmpty)
    val losing =
      run.count(c => c.expected.get != Oracle.matches(c.query.copy(where = without(c.query.where))(""), c.events))
    assert(run.length > 500 && matching > 150 && losing > 100, s"of ${run.length} cases $matching match, $losing lose")
  }
}
