package sparkcer.engine.unit

import sparkcer.engine.ceql.{
  Condition,
  Formula,
  Name,
  Parser,
  Quantity,
  Query,
  Select,
  SelectList,
  SqlCondition,
  Strategy,
  Window
}
import sparkcer.engine.ceql.Formula._
import sparkcer.engine.ceql.Quantity.Number

/** What a text means. */
class ParserSuite extends munit.FunSuite {
  private def where(formula: String): Formula = Parser.parse(s"SELECT * FROM S WHERE $formula").where
  private def clauses(text: String): Query = Parser.parse(s"SELECT * FROM S WHERE A $text")
  private def select(text: String): Select = Parser.parse(s"SELECT $text FROM S WHERE A").select

  private def name(x: String): Name = Name(x)(0)
  private val (a, b, c) = (Atom(None, "A")(0), Atom(None, "B")(0), Atom(None, "C")(0))
  private def holds(x: String, sql: String): Condition = Condition.Holds(name(x), SqlCondition(sql)(0))

  test("precedence: AS and iterations, then ; then : then OR then FILTER") {
    assertEquals(where("A ; B : C OR A"), Or(Vector(Contiguous(Vector(Sequence(Vector(a, b)), c)), a)))
    assertEquals(where("A ; B AS x+"), Sequence(Vector(a, Iterate(As(b, name("x")), contiguous = false))))
    assertEquals(where("A:+ : B"), Contiguous(Vector(Iterate(a, contiguous = true), b)))
    assertEquals(where("A OR B FILTER A[p]"), Filter(Or(Vector(a, b)), holds("A", "p")))
    assertEquals(where("A ; (B OR C)"), Sequence(Vector(a, Or(Vector(b, c)))))
    assertEquals(where("A FILTER A[p] FILTER A[q]"), Filter(Filter(a, holds("A", "p")), holds("A", "q")))
  }

  test("conditions: AND binds tighter than OR") {
    val (p, q, r) = (holds("A", "p"), holds("A", "q"), holds("A", "r"))
    assertEquals(
      where("A FILTER A[p] OR A[q] AND A[r]"),
      Filter(a, Condition.Or(Vector(p, Condition.And(Vector(q, r)))))
    )
    assertEquals(
      where("A FILTER (A[p] OR A[q]) AND A[r]"),
      Filter(a, Condition.And(Vector(Condition.Or(Vector(p, q)), r)))
    )
  }

  test("keywords in any case; names as they are") {
    assertEquals(
      Parser.parse(
        "select next * from S where A as x ; not(B) filter x[p] and X[q] partition by [k] within 3 events consume by any limit 2"
      ),
      Parser.parse(
        "SELECT NEXT * FROM S WHERE A AS x ; NOT(B) FILTER x[p] AND X[q] PARTITION BY [k] WITHIN 3 EVENTS CONSUME BY ANY LIMIT 2"
      )
    )
    assertNotEquals(where("a"), where("A"))
  }

  test("comments and white space") {
    val plain = where("A ; B FILTER A[p = 1]")
    assertEquals(where("-- first\n A /* then ; */ ;\r\n\tB -- last\n FILTER A[p = 1] -- end"), plain)
    assertEquals(where("A;B FILTER A[p = 1]/* */"), plain)
  }

  test("one ';' at the very end ends the query") {
    val queries = Seq(
      "SELECT * FROM S WHERE A",
      "SELECT * FROM S WHERE A ; B",
      "SELECT * FROM S WHERE (A ; B)",
      "SELECT * FROM S WHERE A AS x ; B AS y FILTER x.p = y.p",
      "SELECT * FROM S WHERE A FILTER A[p = ';']",
      "SELECT * FROM S WHERE A ; B PARTITION BY [k] WITHIN 3 EVENTS LIMIT 2"
    )
    for (q <- queries; end <- Seq(";", " ; ", ";\n", " ;-- the end ;", "; /* ; */ -- ;\n", "-- ;\n;"))
      assertEquals(Parser.parse(q + end), Parser.parse(q), q + end)
    assertEquals(Parser.parse("SELECT * FROM S WHERE A ; B;").text, "SELECT * FROM S WHERE A ; B;")
  }

  test("a comment in a condition is kept for SQL, brackets in it notwithstanding") {
    assertEquals(where("A FILTER A[p = 1 /* ] */]"), Filter(a, holds("A", "p = 1 /* ] */")))
    assertEquals(where("A FILTER A[p = 1 -- ]\n]"), Filter(a, holds("A", "p = 1 -- ]")))
  }

  test("brackets and quotes in conditions") {
    assertEquals(where("A FILTER A[m[1] = 2]"), Filter(a, holds("A", "m[1] = 2")))
    assertEquals(where("A FILTER A[k = ']' OR k = \"]\"]"), Filter(a, holds("A", "k = ']' OR k = \"]\"")))
    assertEquals(where("A FILTER A[`odd]name` = 1]"), Filter(a, holds("A", "`odd]name` = 1")))
    assertEquals(where("""A FILTER A[k = 'it\'s ]']"""), Filter(a, holds("A", """k = 'it\'s ]'""")))
    assertEquals(where("A FILTER A[k = 'it''s ]']"), Filter(a, holds("A", "k = 'it''s ]'")))
  }

  test("names in backticks") {
    assertEquals(where("`my type` AS `select`"), As(Atom(None, "my type")(0), name("select")))
    assertEquals(where("`a``b`"), Atom(None, "a`b")(0))
    assertEquals(where("`S`>`R`"), Atom(Some("S"), "R")(0))
  }

  test("words that are keywords elsewhere only are names") {
    assertEquals(
      where("events AS next ; count"),
      Sequence(Vector(As(Atom(None, "events")(0), name("next")), Atom(None, "count")(0)))
    )
    assertEquals(select("next").list, SelectList.Variables(Vector(SelectList.Item(name("next"), None))))
    assertEquals(select("MAX max").strategy, Strategy.Max)
  }

  test("SELECT") {
    assertEquals(select("*"), Select(Strategy.All, distinct = false, SelectList.All))
    assertEquals(select("DISTINCT LAST NONE"), Select(Strategy.Last, distinct = true, SelectList.NoVariables))
    assertEquals(select("ANY COUNT(*)"), Select(Strategy.All, distinct = false, SelectList.Count))
    val items =
      Vector(SelectList.Item(name("x"), Some(Vector(name("a"), name("b.c")))), SelectList.Item(name("S>R"), None))
    assertEquals(select("x[a, b.c], S>R").list, SelectList.Variables(items))
  }

  test("windows") {
    assertEquals(clauses("WITHIN 1 EVENT").within, clauses("WITHIN 1 EVENTS").within)
    assertEquals(clauses("WITHIN 2.5 [ts]").within, Some(Window.Attribute(Number(2.5), name("ts"))))
    assertEquals(clauses("WITHIN 2 hours 30 minutes").within, Some(Window.Duration(9000000000L)))
    assertEquals(clauses("WITHIN 1 day 1 millisecond 1 microsecond").within, Some(Window.Duration(86400001001L)))
    assertEquals(clauses("WITHIN :n EVENTS").within, Some(Window.Events(Quantity.Parameter(name("n")))))
    assertEquals(
      clauses("WITHIN :n hours 30 minutes :m seconds").within,
      Some(Window.OpenDuration(1800000000L, Vector(name("n") -> 3600000000L, name("m") -> 1000000L)))
    )
  }

  test("clauses in any order") {
    assertEquals(
      clauses("LIMIT 3 WITHIN 1 EVENTS PARTITION BY [a], [b]"),
      clauses("PARTITION BY [a, b] WITHIN 1 EVENTS LIMIT 3")
    )
  }

  test("CEQL's condition forms become SQL") {
    def sql(condition: String): String = where(s"A FILTER A[$condition]") match {
      case Filter(_, Condition.Holds(_, p)) => p.sql
      case other                            => fail(other.toString)
    }
    assertEquals(sql("a IN {1, 2}"), "a IN (1, 2)")
    assertEquals(sql("a IN {1..5}"), "a BETWEEN (1) AND (5)")
    assertEquals(sql("a NOT IN {1..5}"), "a NOT BETWEEN (1) AND (5)")
    assertEquals(sql("a IN {1..}"), "a >= (1)")
    assertEquals(sql("a IN {..5}"), "a <= (5)")
    assertEquals(sql("a NOT IN {..5}"), "a > (5)")
    assertEquals(sql("a IN {0.5..1.5}"), "a BETWEEN (0.5) AND (1.5)")
    assertEquals(sql("a in range(f(1, 2), 3)"), "a BETWEEN (f(1, 2)) AND (3)")
    assertEquals(sql("a IN (1, 2)"), "a IN (1, 2)")
    assertEquals(sql("a = ' IN {1..5}'"), "a = ' IN {1..5}'")
    assertEquals(sql("range IN {1} AND inn = 1"), "range IN (1) AND inn = 1")
  }
}
