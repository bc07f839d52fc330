package sparkcer.engine.unit

import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.{Diagram, Explain, Svg}

class ExplainSuite extends munit.FunSuite {
  private val pair = Program("SELECT * FROM S WHERE (SELL AS x ; BUY) FILTER x[price > 20] WITHIN 30 [t]")

  test("a query explains itself") {
    assertNoDiff(
      Explain(pair),
      """Pattern
        |  SELL AS x ; BUY FILTER x[price > 20]
        |
        |Output
        |  x: one event
        |  BUY: one event
        |
        |Conditions, each asked of an event once, by Spark
        |  0  SELL[price > 20]
        |  1  BUY
        |
        |Automaton
        |  3 states, 3 transitions: from -> to, the event it takes / the variables that get it
        |  q0 -> q1  SELL[price > 20] / x
        |  q1 -> q1  any
        |  q1 -> q2 (match)  BUY / BUY
        |
        |Events
        |  an event that meets none of the conditions is dropped where it is read, before any shuffle
        |
        |Cost
        |  an event can close as many matches as there are events in the window
        |  the automaton has 2 determinized states at the most when it runs""".stripMargin
    )
  }

  private def cost(query: String): String = Explain(Program(query)).split("Cost\n").last

  test("what a strategy keeps where NO at the end is compared") {
    def costs(query: String) = Explain(Program(query)).linesIterator.dropWhile(_ != "Cost").mkString("\n")
    val compared = "* FROM S WHERE A+ AS a ; NO (B FILTER B.k = a.k) FOR 1 hour"
    val kept = "matches that NO compares by other values are kept until the deadline"
    assert(costs(s"SELECT NEXT $compared").contains(kept), costs(s"SELECT NEXT $compared"))
    assert(!costs(s"SELECT $compared").contains(kept))
    assert(!costs("SELECT NEXT * FROM S WHERE A+ AS a ; NO B FOR 1 hour").contains(kept))
  }

  test("what can be exponential") {
    assertNoDiff(
      cost("SELECT * FROM S WHERE A+ ; B"),
      """  an event can close exponentially many matches, up to 2^n for n events in the window, because '+' may take any subset of them: LIMIT, NEXT, LAST, MAX or COUNT(*) bound it
        |  the automaton has 3 determinized states at the most when it runs
        |  nothing leaves the state, because there is no WITHIN: it grows with the stream""".stripMargin
    )
    val hidden =
      "SELECT y FROM S WHERE (A:+ : (A AS x FILTER x[p > 1]) : A : A : A : A : A : A : A : A : A : B AS y) WITHIN 30 EVENTS"
    assert(cost(hidden).contains("determinized states can be exponential in its 1"), cost(hidden))
    assert(cost("SELECT COUNT(*) FROM S WHERE A+ ; B").contains("matches are counted, not listed"))
    assert(!cost("SELECT NEXT COUNT(*) FROM S WHERE A+ ; B").contains("not listed"))
    assert(cost("SELECT * FROM S WHERE A : NOT(B):+ : C").contains("as many matches as there are events in the window"))
    assert(
      cost("SELECT * FROM S WHERE A : NOT(B OR C):+ : C").contains("as many matches as there are events in the window")
    )
    assert(cost("SELECT * FROM S WHERE A : B : C").contains("an event closes one match at the most"))
    assert(cost("SELECT * FROM S WHERE A ; B:+ ; C").contains("up to n^3 for n events"))
    assert(cost("SELECT * FROM S WHERE (A ; B):+ : C").contains("exponentially many"))
    assert(cost("SELECT LAST * FROM S WHERE A+ ; B").contains("an event closes one set of events at the most"))
  }

  test("why events are not dropped") {
    def events(query: String) = Explain(Program(query)).linesIterator.dropWhile(_ != "Events").slice(1, 2).mkString.trim
    assertEquals(
      events("SELECT * FROM S WHERE A : B"),
      "every event is kept, because ':', ':+' and ':{n,m}' ask for neighbours"
    )
    assertEquals(
      events("SELECT STRICT * FROM S WHERE A ; B"),
      "every event is kept, because STRICT asks for neighbours"
    )
    assertEquals(
      events("SELECT * FROM S WHERE A ; B WITHIN 2 EVENTS"),
      "every event is kept, because WITHIN counts events"
    )
  }

  test("NOT asks for an event") {
    def pattern(formula: String) =
      Explain(Program(s"SELECT * FROM S WHERE $formula")).linesIterator.slice(1, 4).takeWhile(_.nonEmpty).toVector
    assertEquals(
      pattern("failure ; NOT(success) ; (error OR NOT(error FILTER error[p]))"),
      Vector(
        "  failure ; NOT(success) ; (error OR NOT(error FILTER error[p]))",
        "  NOT(success) asks for one event that is not a success; it does not mean that no success comes. For that, write NO, such as A ; NO B ; C.",
        "  NOT(error FILTER error[p]) asks for one event that is not such an event; it does not mean that no such event comes. For that, write NO, such as A ; NO B ; C."
      )
    )
    assertEquals(pattern("A ; NOT(error)+ ; NOT(error)").drop(1).length, 1)
    assertEquals(pattern("A : NOT(B):+ : C"), Vector("  A : NOT(B):+ : C"))
    assertEquals(pattern("A : NOT(B OR C):+ : C"), Vector("  A : NOT(B OR C):+ : C"))
    assertEquals(
      pattern("A ; NOT(error OR S>B) ; NOT(B OR (C FILTER C[p]))").drop(1),
      Vector(
        "  NOT(error OR S>B) asks for one event that is neither an error nor a S>B; it does not mean that no error or S>B comes. For that, write NO, such as A ; NO B ; C.",
        "  NOT(B OR (C FILTER C[p])) asks for one event that is not such an event; it does not mean that no such event comes. For that, write NO, such as A ; NO B ; C."
      )
    )
  }

  private val either = Program(
    "SELECT * FROM S WHERE SELL AS x FILTER x[name = 'MSFT' OR name = 'INTC'] AND x[volume BETWEEN 1 AND 9] AND (x[p] OR x[q])"
  )

  test("a disjunction inside a conjunction is in parentheses, and nothing else") {
    val shown = "SELL[(name = 'MSFT' OR name = 'INTC') AND (p OR q) AND volume BETWEEN 1 AND 9]"
    assertEquals(either.conditions.map(_.show), Seq(shown))
    assert(Explain(either).contains(s"  0  $shown\n"), Explain(either))
    assert(Explain(either).contains(s"  q0 -> q1 (match)  $shown / x\n"), Explain(either))
    assert(Diagram.mermaid(either.cea).contains(s"""|"$shown / x"|"""), Diagram.mermaid(either.cea))
    assert(Svg(either).contains(s"<title>$shown / x</title>"), Svg(either))
    def conditions(filter: String) =
      Program(s"SELECT * FROM S WHERE (A AS x ; B AS y) FILTER $filter").conditions.map(_.show)
    assertEquals(conditions("x[p OR q]"), Seq("A[p OR q]", "B"))
    assertEquals(conditions("x[(p AND (q)) AND r]"), Seq("A[p AND q AND r]", "B"))
    assertEquals(conditions("x[p OR q] OR y[r]").toSet, Set("A[p OR q]", "A[not (p OR q)]", "B[r]", "B[not (r)]"))
    assertEquals(
      conditions("x[p AND q -- both\n] OR x[CASE WHEN a THEN b END]"),
      Seq("A[(p AND q) OR (CASE WHEN a THEN b END)]", "B")
    )
  }

  test("what stands beside PREV is a condition, so that events can be dropped") {
    def explained(query: String) = Explain(Program(s"SELECT * FROM S WHERE $query"))
    val rising = explained("A+ AS x FILTER x[v > 60 AND v > PREV.v]")
    assert(rising.contains("  0  A[v > 60]\n"), rising)
    assert(
      rising.contains(
        "Comparisons between events\n  x[v > PREV.v]  indexed in order: an event finds its partial matches on one side of a value\n"
      ),
      rising
    )
    assert(rising.contains("an event that meets none of the conditions is dropped where it is read"), rising)
  }

  test("PREV of a variable that is bound to one event at the most") {
    def tests(query: String) = Explain(Program(s"SELECT * FROM S WHERE $query")).linesIterator
      .dropWhile(_ != "Comparisons between events")
      .drop(1)
      .takeWhile(_.nonEmpty)
      .map(_.trim)
      .toVector
    val always = "always holds: its variable is bound to one event at the most, so PREV has none"
    assertEquals(tests("A AS x FILTER x[v > 60 AND v > PREV.v]"), Vector(s"x[v > PREV.v]  $always"))
    assertEquals(tests("(A AS x OR (B ; C AS x)) FILTER x[v LIKE PREV.v]"), Vector(s"x[v LIKE PREV.v]  $always"))
    assertEquals(tests("(A AS x ; B AS y) FILTER x[v > PREV.v + y.v]"), Vector(s"x[v > PREV.v + y.v]  $always"))
    assertEquals(tests("(A AS x FILTER x[v > PREV.v])+"), Vector(s"x[v > PREV.v]  $always"))
    assertEquals(tests("(A AS x ; B AS y) FILTER x[v > PREV.v] OR y[p]"), Vector(s"x[v > PREV.v]  $always"))
    Seq("A+ AS x", "(A AS x ; B AS x)", "(A AS x)+", "(A AS y ALL B AS z) AS x").foreach { body =>
      assert(!tests(s"$body FILTER x[v > PREV.v]").exists(_.endsWith(always)), body)
      assert(!tests(s"$body FILTER x[v > PREV.v] OR x[p]").exists(_.endsWith(always)), body)
    }
  }

  test("the automaton as Mermaid") {
    assertNoDiff(
      Diagram.mermaid(Program("SELECT * FROM S WHERE A FILTER A[name = \"x\"]").cea),
      """flowchart LR
        |  q0((q0))
        |  q1(((q1)))
        |  q0 -->|"A[name = #quot;x#quot;] / A"| q1""".stripMargin
    )
  }
}
