package sparkcer.engine.unit

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.Harness

/** Queries larger than any real one are refused at once and with a reason, and large ones work. */
class ParserLimitsSuite extends munit.FunSuite {
  private val head = "SELECT * FROM S WHERE "

  private def tooLarge(formula: String, problem: String)(implicit loc: munit.Location): Unit = {
    val e = intercept[CeqlException](Program(head + formula))
    assertEquals(e.condition, "CER_QUERY_TOO_LARGE")
    assertEquals(e.problem, problem)
  }

  private val tooLong = (n: Int) => s"the query has $n characters, and at most 100000 are allowed."
  private val tooDeep = "the query is nested more than 256 levels deep."

  test("100,000 parentheses") {
    tooLarge("(" * 100000 + "A" + ")" * 100000, tooLong(head.length + 200001))
    tooLarge("(" * 40000 + "A" + ")" * 40000, tooDeep)
    tooLarge("A FILTER " + "(" * 40000 + "A[p]" + ")" * 40000, tooDeep)
    tooLarge("NOT(" * 10000 + "A" + ")" * 10000, tooDeep)
  }

  test("100,000 OR") {
    tooLarge(Vector.fill(100001)("A").mkString(" OR "), tooLong(head.length + 100001 + 4 * 100000))
    tooLarge(Vector.fill(15000)("A").mkString(" OR "), "the query has more than 4096 event types.")
  }

  test("100,000 suffixes") {
    tooLarge("A" + "+" * 100000, tooLong(head.length + 100001))
    tooLarge("A" + "+" * 90000, tooDeep)
    tooLarge("A" + ":+" * 45000, tooDeep)
    tooLarge("A" + " AS x" * 15000, tooDeep)
    tooLarge("A" + " FILTER A[p]" * 8000, tooDeep)
  }

  test("unclosed brackets, many times") {
    val brackets = intercept[CeqlException](Program(head + "A FILTER A" + "[" * 90000))
    assertEquals(brackets.problem, "the bracket opened here is never closed.")
    val parentheses = intercept[CeqlException](Program(head + "(" * 200))
    assertEquals(parentheses.condition, "CER_SYNTAX")
  }

  test("200 levels work") {
    assertEquals(Harness.run(head + "(" * 200 + "A" + ")" * 200, "A"), Vector("[0,0] A={0}"))
    assertEquals(Harness.run(head + "A" + "+" * 200, "A A").length, 3)
    assertEquals(Harness.run(head + "A" + ":+" * 200, "A X A").length, 2)
  }

  test("10,000 characters work") {
    val types = (0 until 120).map(i => "T" + ('a' + i % 26).toChar.toString * (80 + i))
    val sequence = types.mkString(" ; ")
    assert(sequence.length > 10000)
    assertEquals(Harness.run(s"SELECT NONE FROM S WHERE $sequence", types.mkString(" ")), Vector("[0,119]"))
    val list = (1 to 2500).mkString(", ")
    assertEquals(Harness.run(s"${head}A FILTER A[v IN {$list}]", "A2500 A2501"), Vector("[0,0] A={0}"))
  }

  test("more than 64 conditions") {
    val variables = (1 to 150).map(i => s"A AS x$i").mkString(" ; ")
    val filters = (1 to 150).map(i => s"x$i[v = $i]").mkString(" AND ")
    val query = s"SELECT x1, x100, x150 FROM S WHERE $variables FILTER $filters"
    assertEquals(Program(query).conditions.length, 150)
    val events = (1 to 150).flatMap(i => Seq(s"A$i", "A0")).mkString(" ")
    assertEquals(Harness.run(query, events), Vector("[0,298] x1={0} x100={198} x150={298}"))
  }

  test("65 alternatives, each with a condition of its own") {
    val types = (1 to 65).map(i => s"(A AS x$i FILTER x$i[v = $i])").mkString(" OR ")
    assertEquals(Harness.run(head + types, "A1 A64 A65 A66"), Vector("[0,0] x1={0}", "[1,1] x64={1}", "[2,2] x65={2}"))
  }
}
