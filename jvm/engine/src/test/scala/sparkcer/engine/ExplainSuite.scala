package sparkcer.engine

import sparkcer.engine.evaluate.{Evaluator, Program}
import sparkcer.engine.explain.{Diagram, Explain}

class ExplainSuite extends munit.FunSuite {
  private val pair = Program("SELECT * FROM S WHERE (SELL AS x ; BUY) FILTER x[price > 20] WITHIN 30 [t]")

  test("a query explains itself") {
    assertNoDiff(
      Explain(pair),
      """Formula
        |  SELL AS x ; BUY FILTER x[price > 20]
        |
        |Output
        |  x: one event
        |  BUY: one event
        |
        |Predicates, one bit of an event's mask each
        |  0  SELL[price > 20]
        |  1  BUY
        |
        |Automaton
        |  3 states, 3 transitions
        |  q0 -> q1  SELL[price > 20] / x
        |  q1 -> q1  any
        |  q1 -> q2 (match)  BUY / BUY
        |
        |Events
        |  events that pass no predicate are dropped before the evaluator sees them
        |
        |Cost
        |  the number of matches is polynomial in the events of the window, of degree 1 for each closing event
        |  2 determinized states at the most""".stripMargin
    )
  }

  test("what was met so far") {
    val evaluator = new Evaluator(pair)
    val substream = evaluator.newSubstream()
    Seq(1L, 0L, 2L).foreach(mask => substream.read(evaluator.classOf(mask), 0, -30, null): Unit)
    assert(
      Explain(evaluator).endsWith("So far\n  2 determinized states and 3 classes of events met"),
      Explain(evaluator)
    )
  }

  private def cost(query: String): String = Explain(Program(query)).split("Cost\n").last

  test("what can be exponential") {
    assertNoDiff(
      cost("SELECT * FROM S WHERE A+ ; B"),
      """  the number of matches can be exponential in the events of the window, because a '+' may take any subset of them: LIMIT, NEXT, LAST, MAX or COUNT(*) bound it
        |  3 determinized states at the most
        |  nothing leaves the state, because there is no WITHIN: it grows with the stream""".stripMargin
    )
    val hidden =
      "SELECT y FROM S WHERE (A:+ : (A AS x FILTER x[p > 1]) : A : A : A : A : A : A : A : A : A : B AS y) WITHIN 30 EVENTS"
    assert(cost(hidden).contains("determinized states can be exponential in the automaton's 1"), cost(hidden))
    assert(cost("SELECT COUNT(*) FROM S WHERE A+ ; B").contains("matches are counted, not listed"))
    assert(cost("SELECT LAST * FROM S WHERE A+ ; B").contains("at most one set of events"))
  }

  test("why events are not dropped") {
    def events(query: String) = Explain(Program(query)).linesIterator.dropWhile(_ != "Events").slice(1, 2).mkString.trim
    assertEquals(
      events("SELECT * FROM S WHERE A : B"),
      "all events reach the evaluator, because ':' and ':+' ask for neighbours"
    )
    assertEquals(
      events("SELECT STRICT * FROM S WHERE A ; B"),
      "all events reach the evaluator, because STRICT asks for neighbours"
    )
    assertEquals(
      events("SELECT * FROM S WHERE A ; B WITHIN 2 EVENTS"),
      "all events reach the evaluator, because WITHIN counts events"
    )
  }

  test("the automaton as Graphviz and as Mermaid") {
    assertNoDiff(
      Diagram.dot(pair.cea),
      """digraph cea {
        |  rankdir=LR;
        |  start [shape=point];
        |  start -> q0;
        |  q0 [shape=circle];
        |  q1 [shape=circle];
        |  q2 [shape=doublecircle];
        |  q0 -> q1 [label="SELL[price > 20] / x"];
        |  q1 -> q1 [label="any"];
        |  q1 -> q2 [label="BUY / BUY"];
        |}""".stripMargin
    )
    assertNoDiff(
      Diagram.mermaid(Program("SELECT * FROM S WHERE A FILTER A[name = \"x\"]").cea),
      """flowchart LR
        |  q0((q0))
        |  q1(((q1)))
        |  q0 -->|"A[name = #quot;x#quot;] / A"| q1""".stripMargin
    )
  }
}
