package sparkcer.engine.oracle

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.{CeqlException, Consume, Strategy}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.{Diagram, Explain}
import sparkcer.engine.testkit._

/** `NO α FOR d ; φ`: events that must not have come before a match. */
class NoneBeforeSuite
    extends CutAnywhere(Beginnings.constructs.keys.toVector, Beginnings.beginningCase, Beginnings.longCase) {

  override protected def draw(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] =
    Beginnings.caseWith(name, strategy, consume, counts)

  private def matches(where: String, events: String): Vector[String] =
    Harness.run(s"SELECT * FROM S WHERE $where", events)

  test("the length is included, and what came at the same time before counts") {
    assertEquals(matches("NO B FOR 5 [t] ; A", "A@0 B@1 A@6 A@7"), Vector("[0,0] A={0}", "[3,3] A={3}"))
    assertEquals(matches("NO B FOR 0 [t] ; A", "B@0 A@0 B@1 A@2"), Vector("[3,3] A={3}"))
    assertEquals(matches("NO B FOR 5 [t] ; A", "A@3 B@3"), Vector("[0,0] A={0}"))
  }

  test("an event can start a match and keep others from starting") {
    assertEquals(matches("NO A FOR 5 [t] ; A", "A@0 A@5 A@9 A@15"), Vector("[0,0] A={0}", "[3,3] A={3}"))
  }

  test("only the first event of a match is asked for what came before it") {
    assertEquals(
      matches("NO B FOR 2 [t] ; A+ AS x", "A@0 B@1 A@2"),
      Vector("[0,0] x={0}", "[0,2] x={0,2}")
    )
    // An event that NOT matches is the first one, too.
    assertEquals(matches("NO B FOR 2 [t] ; (NOT(B) : A)", "X@0 B@1 X@2 A@3 X@4 A@4"), Vector("[4,5] A={5}"))
  }

  test("the last one is remembered for as long as FOR says, however short WITHIN is, and is not consumed") {
    val events = "B@0 A@4 C@4 A@10 C@10 A@11 C@11"
    assertEquals(
      matches("NO B FOR 10 [t] ; A ; C WITHIN 1 [t] CONSUME BY PARTITION", events),
      Vector("[5,6] A={5} C={6}")
    )
    assertEquals(matches("NO B FOR 5 [t] ; A ; C WITHIN 2 [t] CONSUME BY PARTITION", "A@0 C@0 B@0 A@1 C@1").length, 1)
  }

  test("each side of OR has its own") {
    val where = "(NO B FOR 5 [t] ; A AS a) OR (NO C FOR 1 [t] ; A AS b) OR A AS c"
    assertEquals(
      matches(where, "B@0 C@0 A@1 A@3 A@6"),
      Vector("[2,2] c={2}", "[3,3] b={3}", "[3,3] c={3}", "[4,4] a={4}", "[4,4] b={4}", "[4,4] c={4}")
    )
  }

  test("a NO after sides of OR that begin with NO") {
    assertEquals(
      matches("((NO B FOR 5 [t] ; A) OR (NO C FOR 5 [t] ; D)) ; NO E FOR 9 [t]", "B@0 A@1 D@1 E@10 A@11 D@11 X@21"),
      Vector("[4,4] A={4} @20", "[5,5] D={5} @20")
    )
    assertEquals(matches("(NO B FOR 5 [t] ; A) ; NO E FOR 9 [t]", "B@0 A@5 A@6 X@21"), Vector("[2,2] A={2} @15"))
  }

  test("one NO before the first part") {
    val twice = "There can be one NO between two parts, and one before the first part"
    for (where <- Seq("NO B FOR 5 minutes ; NO C FOR 3 minutes ; A", "NO B FOR 5 minutes ; NO C ; A")) {
      val message = intercept[CeqlException](Program(s"SELECT * FROM S WHERE $where")).getMessage
      assert(message.startsWith("[CER_ABSENCE] Line 1, column 44: " + twice), message)
    }
  }

  test("with conditions, and with a key") {
    val where = "NO (B FILTER B[v > 1]) FOR 5 [t] ; A PARTITION BY [k]"
    assertEquals(
      matches(where, "B(v=2,k=1)@0 B(v=1,k=2)@0 A(k=1)@5 A(k=2)@5 A(k=1)@6"),
      Vector("2 [3,3] A={3}", "1 [4,4] A={4}")
    )
  }

  test("before and after") {
    // One A by itself: no other in the 5 before and the 5 after.
    assertEquals(
      matches("NO A FOR 5 [t] ; A ; NO A FOR 5 [t]", "A@0 A@5 A@11 A@20 X@26"),
      Vector("[2,2] A={2} @16", "[3,3] A={3} @25")
    )
  }

  test("a query of one event has a window without saying so; events without a condition are dropped") {
    val p = Program("SELECT * FROM S WHERE NO B FOR 10 minutes ; A")
    assert(p.query.within.isDefined && p.droppable)
    assertEquals(p.conditions.map(_.show).toSet, Set("A", "B"))
    assert(Program("SELECT * FROM S WHERE NO B FOR 10 minutes ; A ; C").query.within.isEmpty)
  }

  test("explain and the diagram say what must not have come") {
    val p = Program("SELECT * FROM S WHERE NO (B OR C) FOR 10 minutes ; A ; A WITHIN 1 hour")
    assert(Explain(p).contains("A but no B or C for 10 minutes before / A"), Explain(p))
    assert(Explain(p).contains("each key is kept for at least 10 minutes after its last event"), Explain(p))
    assert(Diagram.mermaid(p.cea).contains("A but no B or C for 10 minutes before / A"))
  }

  test("with as many conditions as a word has bits, and more") {
    def name(i: Int) = "E" + "abcdefgh".charAt(i / 8) + "abcdefgh".charAt(i % 8)
    for (n <- Seq(61, 62, 63, 64)) {
      val others = (0 until n).map(name).mkString(" OR ")
      val where = s"NO B FOR 5 [t] ; (A OR $others) AS x"
      assertEquals(Program(s"SELECT * FROM S WHERE $where").conditions.length, n + 2)
      assertEquals(matches(where, s"${name(7)}@0 B@1 A@6 ${name(n - 1)}@7"), Vector("[0,0] x={0}", "[3,3] x={3}"))
    }
  }

  law("NO Z FOR 3 [t] ; A ; B", "A ; B") // no Z ever comes
  law("NO B FOR 3 [t] ; (A ; B)", "NO B FOR 3 [t] ; A ; B")

  property("exactly one of B ; A WITHIN d and NO B FOR d ; A ends at an A") {
    forAll(Beginnings.stream, Gen.choose(0, 4)) { (events: Vector[Event], d: Int) =>
      def ends(where: String) = Harness.run(Program(s"SELECT * FROM S, T WHERE $where"), events).map(_.end)
      val some = ends(s"B ; A WITHIN $d [t]")
      val none = ends(s"NO B FOR $d [t] ; A")
      val all = events.indices.filter(events(_).eventType == "A").toSet
      (some & none).isEmpty :| "both" && ((some | none) == all) :| "neither"
    }
  }
}
