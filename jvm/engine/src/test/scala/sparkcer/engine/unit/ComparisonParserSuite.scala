package sparkcer.engine.unit

import sparkcer.engine.ceql.{
  Comparison,
  Comparisons,
  Condition,
  Formula,
  Name,
  Operand,
  Operator,
  Parser,
  PartKey,
  Printer,
  Term
}
import sparkcer.engine.ceql.Condition.{And, Compare, Compared}
import sparkcer.engine.ceql.Formula._
import sparkcer.engine.ceql.Operand.{Attribute, Binary, Call, Literal, Negative}
import sparkcer.engine.evaluate.Program

/** What is written of several events, and what it is taken for. */
class ComparisonParserSuite extends munit.FunSuite {
  private def where(formula: String): Formula = Parser.parse(s"SELECT * FROM S WHERE $formula").where
  private def name(x: String): Name = Name(x)(0)
  private def attribute(x: String, a: String): Operand = Attribute(name(x), a)
  private val (a, b, c) = (Atom(None, "A")(0), Atom(None, "B")(0), Atom(None, "C")(0))

  private def condition(text: String): Condition = where(s"(A AS x ; B AS y ; C AS z) FILTER $text") match {
    case Filter(_, found) => found
    case other            => fail(other.toString)
  }

  test("comparisons without brackets") {
    assertEquals(condition("x.id = y.ref"), Compare(attribute("x", "id"), Operator.Equal, attribute("y", "ref"))(0))
    assertEquals(condition("x.id == y.ref"), condition("x.id = y.ref"))
    assertEquals(condition("x.id <> y.ref"), condition("x.id != y.ref"))
    assertEquals(
      condition("x.a + y.b * 2 >= -f(z.c.d, 'q')"),
      Compare(
        Binary("+", attribute("x", "a"), Binary("*", attribute("y", "b"), Literal("2"))),
        Operator.GreaterEqual,
        Negative(Call("f", Vector(attribute("z", "c.d"), Literal("'q'"))))
      )(0)
    )
    assertEquals(condition("(x.a + 1) = y.a"), condition("x.a + 1 = y.a"))
    assertEquals(
      condition("(x.a = y.a OR x[p = 1]) AND y.b < z.b"),
      And(Vector(condition("x.a = y.a OR x[p = 1]"), condition("y.b < z.b")))
    )
  }

  test("ALL binds tighter than OR and looser than ':'") {
    assertEquals(
      where("A ; B : C ALL A OR B"),
      Or(Vector(All(Vector(Contiguous(Vector(Sequence(Vector(a, b)), c)), a)), b))
    )
    assertEquals(where("A ALL B all C"), All(Vector(a, b, c)))
  }

  test("PART-BY is a suffix as FILTER is, of variables or of all") {
    val pair = Sequence(Vector(As(a, name("x")), As(b, name("y"))))
    val keys = Vector(PartKey(Some(name("x")), "id"), PartKey(Some(name("y")), "ref.id"))
    assertEquals(where("A AS x ; B AS y part-by [x.id, y.ref.id]"), PartBy(pair, keys)(0))
    assertEquals(where("A AS x ; B AS y PART-BY [id]"), PartBy(pair, Vector(PartKey(None, "id")))(0))
    assertEquals(where("A AS x ; B AS y PART-BY [struct.id]"), PartBy(pair, Vector(PartKey(None, "struct.id")))(0))
    assertEquals(
      where("(A+ PART-BY [k]) ; B PART-BY [p]"),
      PartBy(
        Sequence(Vector(PartBy(Iterate(a, contiguous = false), Vector(PartKey(None, "k")))(0), b)),
        Vector(PartKey(None, "p"))
      )(0)
    )
  }

  /** What the test becomes, for people. */
  private def resolved(text: String, body: String = "A AS x ; B AS y ; C AS z"): String =
    where(s"($body) FILTER $text") match {
      case Filter(f, found) => Printer.print(Comparisons.resolve(found, f, text))
      case other            => fail(other.toString)
    }

  private def comparison(text: String): Comparison = where(s"(A AS x ; B AS y ; C AS z) FILTER $text") match {
    case Filter(f, found) =>
      Comparisons.resolve(found, f, text) match {
        case Compared(l) => l
        case other       => fail(other.toString)
      }
    case other => fail(other.toString)
  }

  test("a test of one event stays one") {
    assertEquals(resolved("x.p > 1 + 2"), "x[p > 1 + 2]")
    assertEquals(resolved("x.p = x.q"), "x[p = q]")
    assertEquals(resolved("x[x.p > 1 AND s.f = 'x.p']"), "x[p > 1 AND s.f = 'x.p']")
    assertEquals(resolved("x[`y`.p = 1]"), "x[`y`.p = 1]")
    assertEquals(resolved("x[w.p = 1]"), "x[w.p = 1]")
  }

  test("comparisons of two variables, in brackets or not, are the same") {
    assertEquals(comparison("y[ref = x.id]"), comparison("y.ref = x.id"))
    assertEquals(comparison("x.p > y.q"), comparison("y.q < x.p"))
    assertEquals(
      comparison("y[p * 10 < x.p]"),
      Comparison.Pair(Term("y", "p * 10")(""), Operator.Less, Term("x", "p")(""))(0)
    )
    assertEquals(
      comparison("y[p > :f * x.p]"),
      Comparison.Pair(Term("x", ":f * p")(""), Operator.Less, Term("y", "p")(""))(0)
    )
    assertEquals(comparison("y[p > :f * x.p]").show, ":f * x.p < y.p")
    assertEquals(resolved("y[ref = x.id AND p > 1]"), "y.ref = x.id AND y[p > 1]")
  }

  test("a part is not asked by itself where a variable may be empty") {
    val optional = "(A AS x OR C AS z) ; B AS y"
    assertEquals(resolved("y[ref = x.id AND p > 1]", optional), "y[ref = x.id AND p > 1]")
    assertEquals(resolved("y[ref = x.id]", optional), "y.ref = x.id")
    assertEquals(resolved("y[x.p > 1]"), "x[p > 1]")
    assertEquals(resolved("y[x.p > 1]", optional), "y[x.p > 1]")
  }

  test("PREV") {
    assertEquals(
      comparison("x[loss > PREV.loss]"),
      Comparison.Consecutive(Term("x", "loss")(""), Operator.Less, Term("x", "loss")(""))(0)
    )
    assertEquals(comparison("x[prev.id = tweet_id]"), comparison("x[tweet_id = PREV.id]"))
    assertEquals(comparison("x[loss > 2 * PREV.loss]").show, "x[loss > 2 * PREV.loss]")
    assertEquals(comparison("x[(a > PREV.a)]"), comparison("x[a > PREV.a]"))
    assertEquals(
      comparison("x[a > PREV.a + y.b]"),
      Comparison.Expression("a > PREV.a + y.b", Some("x"), Vector("y"), previous = true)(0)
    )
  }

  test("the conjuncts beside PREV are tests of their own") {
    assertEquals(resolved("x[a > PREV.a AND b > 1]"), "x[a > PREV.a] AND x[b > 1]")
    assertEquals(resolved("x[b > 1 AND a > PREV.a AND (c OR d)]"), "x[b > 1 AND (c OR d)] AND x[a > PREV.a]")
    assertEquals(resolved("x[b <> 0 AND x.a / b > PREV.a]"), "x[b <> 0] AND x[a / b > PREV.a]")
    assertEquals(resolved("x[y.k = k AND a > PREV.a]"), "y.k = x.k AND x[a > PREV.a]")
    assertEquals(
      resolved("x[a > 0 AND k = y.k AND a > PREV.a AND y.a > z.a AND a + PREV.a > z.a]"),
      "x[a > 0] AND x.k = y.k AND x[a > PREV.a] AND z.a < y.a AND x[a + PREV.a > z.a]"
    )
    assertEquals(resolved("x[(b > 1 AND (a > PREV.a -- and\n))]"), "x[b > 1] AND x[a > PREV.a]")
    assertEquals(resolved("x[PREV.a <> 0 AND a / PREV.a > 1 AND b]"), "x[PREV.a <> 0 AND a / PREV.a > 1] AND x[b]")
  }

  test("an OR or NOT with PREV is one conjunct") {
    assertEquals(resolved("x[a > PREV.a OR b > 1]"), "x[a > PREV.a OR b > 1]")
    assertEquals(resolved("x[NOT (a > PREV.a AND b > 1)]"), "x[NOT (a > PREV.a AND b > 1)]")
    assertEquals(resolved("x[(a > PREV.a OR b > 1) AND c]"), "x[(a > PREV.a OR b > 1)] AND x[c]")
    assertEquals(resolved("x[a > PREV.a AND b > 1 OR c]"), "x[a > PREV.a AND b > 1 OR c]")
  }

  test("conjuncts beside PREV do not wait for each other's variables") {
    assertEquals(
      resolved("x[k = y.k AND b > 1 AND a > PREV.a]", "(B AS y OR C AS z) ; A+ AS x"),
      "x.k = y.k AND x[b > 1] AND x[a > PREV.a]"
    )
  }

  test("everything else is an expression") {
    assertEquals(
      comparison("y[a LIKE x.b]"),
      Comparison.Expression("a LIKE x.b", Some("y"), Vector("x"), previous = false)(0)
    )
    assertEquals(
      comparison("x.a + y.a = z.a"),
      Comparison.Expression("x.a + y.a = z.a", None, Vector("x", "y", "z"), previous = false)(0)
    )
    assertEquals(
      comparison("y[a = x.b OR c]"),
      Comparison.Expression("a = x.b OR c", Some("y"), Vector("x"), previous = false)(0)
    )
    assertEquals(
      comparison("y[a BETWEEN x.b AND x.c]"),
      Comparison.Expression("a BETWEEN x.b AND x.c", Some("y"), Vector("x"), previous = false)(0)
    )
    assertEquals(
      comparison("y[cast(a AS int) = x.b]"),
      Comparison.Expression("cast(a AS int) = x.b", Some("y"), Vector("x"), previous = false)(0)
    )
  }

  test("a struct called as a variable is, moved inside with its disjunction, is still one") {
    val query = "SELECT * FROM S WHERE ((A AS x ; B AS y) ; C AS z) FILTER x.y.a = 1 OR y.p = 2"
    val program = Program(query)
    assertEquals(program.comparisons, Vector.empty)
    assert(program.conditions.map(_.show).contains("A[y.a = 1]"), program.conditions.map(_.show).mkString(", "))
  }
}
