package sparkcer.engine.unit

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.{Diagram, Explain}
import sparkcer.engine.testkit.{Event, Harness, Match}

/** Small cases of what NO and WITHOUT mean, and how they are read. */
class AbsentSuite extends munit.FunSuite {

  private def found(where: String, events: String): Vector[String] =
    Match.show(Harness.run(Program(s"SELECT * FROM S WHERE $where"), Event.stream(events)))

  test("no such event between the two") {
    assertEquals(found("A ; NO B ; C", "A B C A X C"), Vector("[3,5] A={3} C={5}"))
    assertEquals(found("A ; NO (B OR C) ; A", "A X A C A B A"), Vector("[0,2] A={0,2}"))
  }

  test("an event of a part is not in the gap") {
    assertEquals(found("A ; NO A ; A", "A A X A"), Vector("[0,1] A={0,1}", "[1,3] A={1,3}"))
  }

  test("WITHOUT is about what a match passes over, and not about its events") {
    assertEquals(found("(A+ ; C) WITHOUT A", "A X A C"), Vector("[0,3] A={0,2} C={3}", "[2,3] A={2} C={3}"))
    assertEquals(found("(A : NOT(C):+ : A) WITHOUT B", "A B A A X A"), Vector("[2,5] A={2,5}", "[3,5] A={3,5}"))
  }

  test("compared with what came before") {
    val carts = "A(k=1) A(k=2) B(k=1) C(k=1) C(k=2)"
    assertEquals(
      found("(A ; NO (B AS b FILTER b.k = A.k) ; C) FILTER A.k = C.k", carts),
      Vector("[1,4] A={1} C={4}")
    )
    assertEquals(
      found("((A ; C) WITHOUT (B AS b FILTER b.k = A.k)) FILTER A.k = C.k", carts),
      Vector("[1,4] A={1} C={4}")
    )
  }

  test("compared with every event of a repetition: a B like all of them must not come") {
    val where = "A+ AS x ; NO (B FILTER B.k = x.k) ; C"
    assertEquals(found(where, "A(k=1) A(k=2) B(k=1) C").length, 2)
    assertEquals(found(where, "A(k=1) B(k=2) C"), Vector("[0,2] C={2} x={0}"))
  }

  test("a name of α hides one before it") {
    assertEquals(found("A AS x ; NO (B AS x FILTER x[v > 1]) ; C", "A5 B1 C"), Vector("[0,2] C={2} x={0}"))
    assertEquals(found("A AS x ; NO (B AS x FILTER x[v > 1]) ; C", "A5 B2 C"), Vector.empty)
  }

  test("a type can be called NO") {
    assertEquals(found("A ; NO ; C", "A NO C"), Vector("[0,2] A={0} C={2} NO={1}"))
    assertEquals(found("A ; `NO` AS x ; C", "A NO C"), Vector("[0,2] A={0} C={2} x={1}"))
    assertEquals(found("NO", "A NO C"), Vector("[1,1] NO={1}"))
  }

  test("what is asked for in messages") {
    def message(where: String) =
      intercept[CeqlException](Program(s"SELECT * FROM S WHERE $where")).getMessage.linesIterator.next()
    assertEquals(
      message("A AS x ; NO (B FILTER amount > 3) ; C"),
      "[CER_SYNTAX] Line 1, column 45: whose amount? Write B[amount > 3] or B.amount > 3 for the events of B. " +
        "The variables here are A, B, x."
    )
    val form = "NO and WITHOUT take one event that must not come: a type, or in parentheses types with FILTER, " +
      "joined by OR, such as NO (B OR C)."
    assertEquals(message("A ; NO B AS b ; C"), s"[CER_ABSENCE] Line 1, column 32: $form")
    assertEquals(message("A ; NO B+ ; C"), s"[CER_ABSENCE] Line 1, column 31: $form")
    assertEquals(message("A ; NO (B+) ; C"), s"[CER_ABSENCE] Line 1, column 30: $form")
    assertEquals(message("A ; B WITHOUT (A ; B)"), s"[CER_ABSENCE] Line 1, column 37: $form")
    assertEquals(
      message("A ; NO (B FILTER B.k = C.k) ; C"),
      "[CER_ABSENCE] Line 1, column 46: NO and WITHOUT name 'C', which is not a variable before them. " +
        "What must not come is compared with what has come: A."
    )
    // Only the parameter says that the part can be empty.
    val text = "SELECT * FROM S WHERE A{:n,2} ; NO B ; C"
    assert(intercept[CeqlException](Program(text, Map("n" -> 0))).getMessage.contains("'A{0,2}' can be without events"))
  }

  test("events that meet no condition can still be dropped") {
    assert(Program("SELECT * FROM S WHERE A ; NO B ; C").droppable)
    assertEquals(Program("SELECT * FROM S WHERE A ; NO B ; C").conditions.map(_.show), Seq("A", "B", "C"))
  }

  test("explain says what a partial match cannot pass over, and how it is found") {
    val p = Program("SELECT * FROM S WHERE (A ; NO (B FILTER B.k = A.k AND B[v > 2]) ; C)")
    val text = Explain(p)
    assert(text.contains("q1 -> q1  any but no B[v > 2] with B.k = A.k"), text)
    assert(text.contains("B.k = A.k  indexed: an event finds its partial matches by value"), text)
    assert(Diagram.mermaid(p.cea).contains("any but no B[v > 2] with B.k = A.k"))
  }
}
