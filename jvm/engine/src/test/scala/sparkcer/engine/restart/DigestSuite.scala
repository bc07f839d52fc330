package sparkcer.engine.restart

import sparkcer.engine.evaluate.{Digest, Program}

/** What stands in checkpoints about a query. */
class DigestSuite extends munit.FunSuite {
  private def text(query: String): String = Digest.text(Program(query))

  test("all that saved state names by number") {
    assertEquals(
      text("SELECT x FROM S WHERE (A AS x ; S>B AS y) FILTER x[p > 1] AND x.p < y.p"),
      """runs subsets All
        |distinct false selects false counts false
        |guard {} 1'A' holds {5'p > 1'} fails {} negated false
        |guard {1'S'} 1'B' holds {} fails {} negated false
        |label {}
        |label {1'x'}
        |compare 1'x'.1'p' < 1'y'.1'p'
        |state 0 final false live []
        |state 1 final false live [0]
        |state 2 final true live []
        |from 0 guards [0] label 1 to 1 checks [0/1/true] resets [0]
        |from 1 guards [-1] label 0 to 1 checks [] resets []
        |from 1 guards [1] label 0 to 2 checks [0/2/true] resets []""".stripMargin
    )
  }

  /** A line may be added, never changed: checkpoints of these queries would be refused. */
  private val golden = Seq(
    "A ; B" -> "6fc5c8b41c3b556a1deaafc11dc87048",
    "(A AS x ; B+ AS ys ; C AS z) FILTER ys[p > 1] AND (x[p = 2] OR z[p = 3])" -> "fac68a21874108700b517cf68e806b4e",
    "(A OR NOT(B FILTER B[p > 1])):+ : C" -> "5a60418c254517733368575c0ba24265",
    "A : NOT((B FILTER B[p > 1 AND p > PREV.p]) OR C OR D OR E OR F OR G):+ : C" -> "e761ef78e08fc74dccb74e91fa4288a3",
    "(A ALL B) PART-BY [k]" -> "4dd2ff41b85cd2b01bacd4b6e7500291",
    "(A AS x ; B+ AS ys) FILTER x.p < ys.p AND ys[p > PREV.p] AND ys[abs(p - x.p) < 3]" -> "c125d4981c022c46f7dc6075e5d974e2"
  )

  test("digests of queries do not change") {
    val found = golden.map { case (pattern, _) => pattern -> Program(s"SELECT * FROM S WHERE $pattern").digest }
    assertEquals(found.mkString("\n"), golden.mkString("\n"))
  }

  test("what is numbered otherwise has another digest") {
    val one = "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[p > 1] AND y[p > 2]"
    val others = Seq(
      one.replace("p > 1", "p > 3"), // a condition
      one.replace("A AS x ; B AS y", "B AS y ; A AS x"), // their order
      one.replace("SELECT *", "SELECT y"), // labels
      one.replace("B AS y", "B+ AS y"), // states
      one.replace("SELECT *", "SELECT LAST *"), // sets of states
      s"$one AND x.p = y.p", // registers
      s"$one AND y.p = x.p"
    )
    val digests = (one +: others).map(Program(_).digest)
    assertEquals(digests.distinct.length, digests.length)
    assertEquals(Program(s"$one WITHIN 3 [t] LIMIT 1").digest, digests.head)
  }

  test("what waits is part of it") {
    val one = "SELECT * FROM S WHERE A AS x ; NO B FOR 5 [t] WITHIN 9 [t]"
    val others = Seq(
      one.replace(" ; NO B FOR 5 [t]", ""),
      one.replace("NO B", "NO C"),
      one.replace("FOR 5", "FOR 6"),
      one.replace("NO B", "NO (B FILTER B[p > 1])"),
      one.replace("NO B", "NO (B FILTER B.p = x.p)")
    )
    val digests = (one +: others).map(Program(_).digest)
    assertEquals(digests.distinct.length, digests.length)
    assert(text(one).endsWith("\nafter 5'5 [t]' unless 1 []"), text(one))
    // How the sides of an OR end, and which matches wait for what.
    val apart = "SELECT * FROM S WHERE (A AS x ; NO B FOR 5 [t]) OR (C AS x ; NO D FOR 6 [t])"
    val apartOtherwise = Seq(
      apart,
      apart.replace("FOR 6", "FOR 7"),
      apart.replace("; NO D FOR 6 [t]", ""),
      apart.replace("(A AS", "(Z AS").replace("(C AS", "(A AS").replace("(Z AS", "(C AS")
    ).map(Program(_).digest)
    assertEquals(apartOtherwise.distinct.length, apartOtherwise.length)
    assert(text(apart).linesIterator.exists(_.matches("state \\d+ ending 1")), text(apart))
  }

  test("what is looked back at is part of it") {
    val one = "SELECT * FROM S WHERE NO B FOR 5 [t] ; A AS x ; C WITHIN 9 [t]"
    val digests = Seq(
      one,
      one.replace("NO B FOR 5 [t] ; ", ""),
      one.replace("NO B", "NO D"),
      one.replace("FOR 5", "FOR 6"),
      one.replace("NO B", "NO (B OR C)"),
      one.replace("NO B FOR 5 [t] ; A AS x", "(NO B FOR 5 [t] ; A AS x) OR (A AS x)")
    ).map(Program(_).digest)
    assertEquals(digests.distinct.length, digests.length)
    assert(text(one).linesIterator.exists(_.matches("before 5'5 \\[t\\]' \\[\\d\\]")), text(one))
  }

  test("queries that format 1 compiled otherwise") {
    def asFirst(filter: String) = Program(s"SELECT * FROM S WHERE (A AS x ; B+ AS ys) FILTER $filter").asFirst
    val same = Seq(
      "x[p > 1 AND q > 2]",
      "ys[p > PREV.p]",
      "ys[p > PREV.p AND q = PREV.q]",
      "ys[p > 1] AND ys[p > PREV.p]",
      "ys[p > x.p AND q > 1]",
      "ys[abs(p - PREV.p) < 3]",
      "ys[p BETWEEN PREV.p AND PREV.p + 1]"
    )
    val changed = Seq(
      "ys[p > 1 AND p > PREV.p]",
      "x[p > 1] OR ys[p > 1 AND p > PREV.p]",
      "ys[p > x.p AND p > PREV.p]",
      "ys[(p > PREV.p) AND (q > PREV.q)]"
    )
    assertEquals(same.filterNot(asFirst), Nil)
    assertEquals(changed.filter(asFirst), Nil)
  }
}
