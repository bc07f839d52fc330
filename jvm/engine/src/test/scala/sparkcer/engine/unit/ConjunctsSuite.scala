package sparkcer.engine.unit

import sparkcer.engine.ceql.Conjuncts

/** Where a condition comes apart. What Spark's own parser says of such texts is in the Spark layer's suite. */
class ConjunctsSuite extends munit.FunSuite {
  private def apart(sql: String)(parts: String*)(implicit loc: munit.Location): Unit =
    assertEquals(Conjuncts(sql), parts.toVector)

  private def whole(sql: String)(implicit loc: munit.Location): Unit = apart(sql)(sql)

  test("at AND, in any case") {
    apart("v > 60 AND v > PREV.v")("v > 60", "v > PREV.v")
    apart("a and b\nAnD(c)")("a", "b", "c")
    apart("NOT a AND !b AND ! (c)")("NOT a", "!b", "! (c)")
    apart("v > 1. AND v < .5")("v > 1.", "v < .5")
  }

  test("not at the AND of BETWEEN") {
    whole("v BETWEEN 1 AND 2")
    apart("v BETWEEN a AND b AND v NOT between c and d AND e")("v BETWEEN a AND b", "v NOT between c and d", "e")
    apart("v BETWEEN (a AND b) AND c AND d")("v BETWEEN (a AND b) AND c", "d")
  }

  test("not in literals, quoted names, calls, subscripts and CASE") {
    apart("s = 'a AND b' AND t = \"c AND d\" AND `e AND f`")("s = 'a AND b'", "t = \"c AND d\"", "`e AND f`")
    apart("s = 'it\\'s AND' AND b")("s = 'it\\'s AND'", "b")
    apart("exists(l, e -> e > 1 AND e < 3) AND m[a AND b]")("exists(l, e -> e > 1 AND e < 3)", "m[a AND b]")
    apart("CASE WHEN a AND b THEN CASE c WHEN d OR e THEN f END ELSE g BETWEEN 1 AND 2 END AND h")(
      "CASE WHEN a AND b THEN CASE c WHEN d OR e THEN f END ELSE g BETWEEN 1 AND 2 END",
      "h"
    )
    apart("1 = CASE a WHEN 1 THEN 2 END AND b")("1 = CASE a WHEN 1 THEN 2 END", "b")
  }

  test("what touches a dot or is compared is a name") {
    apart("s.and = 1 AND s.case = 2 AND between.a AND s.between > PREV.end")(
      "s.and = 1",
      "s.case = 2",
      "between.a",
      "s.between > PREV.end"
    )
    apart("case = 1 AND between > 2 AND end")("case = 1", "between > 2", "end")
    apart("case IN (1) AND b")("case IN (1)", "b")
    apart("andy AND brand_and AND and1")("andy", "brand_and", "and1")
  }

  test("comments are left out") {
    apart("a -- one AND\nAND b /* AND\nc */")("a", "b")
    apart("a /*'*/ AND '--' = b")("a", "'--' = b")
    assertEquals(Conjuncts.plain("'--' = a -- it's"), "'--' = a")
  }

  test("under OR there is one part") {
    whole("a AND b OR c")
    whole("a OR b")
    apart("(a OR b) AND c")("(a OR b)", "c")
    whole("NOT (a AND b)")
  }

  test("parentheses around parts are nothing") {
    apart("(a AND b)")("a", "b")
    apart("((a) AND ((b AND c))) AND (d)")("a", "b", "c", "d")
    apart("((a OR b))")("(a OR b)")
    apart("(a) = (b) AND (c)")("(a) = (b)", "c")
    apart("(a AND b) IS TRUE AND c")("(a AND b) IS TRUE", "c")
    apart("(SELECT a AND b) AND c")("(SELECT a AND b)", "c")
  }

  test("what is no condition stays whole where it is wrong") {
    Seq("", "AND a", "a AND", "a AND AND b", "(a AND b", "()").foreach(whole)
    apart("a) AND b")("a)", "b")
  }

  test("a long text takes no long time, and no stack") {
    val deep = "(" * 40000 + "a AND b" + ")" * 40000
    apart(deep)("a", "b")
    assertEquals(Conjuncts(Vector.fill(20000)("a").mkString(" AND ")).length, 20000)
  }

  test("joined, with parentheses around a disjunction only") {
    assertEquals(
      Conjuncts.join(Seq("a OR b", "c BETWEEN 1 AND 2", "f(a OR b)")),
      "(a OR b) AND c BETWEEN 1 AND 2 AND f(a OR b)"
    )
    assertEquals(Conjuncts.join(Seq("a OR b")), "a OR b")
    assertEquals(Conjuncts.join(Seq("(a OR b)", "NOT c")), "(a OR b) AND NOT c")
  }

  test("beside any word, in parentheses unless it is plain") {
    Seq("a", "NOT a = 'b OR'", "f(a AND b) IN (1)", "s.case > m['or']").foreach(p =>
      assertEquals(Conjuncts.closed(p), p)
    )
    Seq("a OR b", "a AND b", "a BETWEEN 1", "CASE WHEN a THEN b", "c END", "(a", "case IN (1)").foreach { p =>
      assertEquals(Conjuncts.closed(p), s"($p)")
    }
    assertEquals(Conjuncts.closed("a -- b"), "a")
  }
}
