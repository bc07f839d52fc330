package sparkcer.engine.unit

import java.util.Locale

import sparkcer.engine.ceql.{
  Condition,
  End,
  Formula,
  Name,
  Operand,
  Operator,
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

  test("words mean the same where the default locale has other capital letters") {
    val before = Locale.getDefault
    val text = "select distinct id, first(x.i) as i from S where A as x ; B filter x[i] within 5 minutes limit 3"
    val expected = Parser.parse(text)
    try {
      Locale.setDefault(Locale.forLanguageTag("tr-TR"))
      assertEquals(Parser.parse(text), expected)
    } finally Locale.setDefault(before)
  }

  test("the place of WITHIN is that of the word, not of a comment or a condition") {
    val text = "SELECT * FROM S WHERE A FILTER A[x = 'WITHIN'] WITHIN 3 events -- WITHIN"
    assertEquals(Parser.parse(text).withinOffset, Some(text.indexOf("WITHIN 3")))
    assertEquals(clauses("").withinOffset, None)
  }

  test("precedence: AS and iterations, then ; then : then OR then FILTER") {
    assertEquals(where("A ; B : C OR A"), Or(Vector(Contiguous(Vector(Sequence(Vector(a, b)), c)), a)))
    assertEquals(where("A ; B AS x+"), Sequence(Vector(a, Iterate(As(b, name("x")), contiguous = false))))
    assertEquals(where("A:+ : B"), Contiguous(Vector(Iterate(a, contiguous = true), b)))
    assertEquals(where("A OR B FILTER A[p]"), Filter(Or(Vector(a, b)), holds("A", "p")))
    assertEquals(where("A ; (B OR C)"), Sequence(Vector(a, Or(Vector(b, c)))))
    assertEquals(where("A FILTER A[p] FILTER A[q]"), Filter(Filter(a, holds("A", "p")), holds("A", "q")))
  }

  private def repeat(f: Formula, least: Int, most: Option[Int], contiguous: Boolean = false): Formula =
    Repeat(f, Number(least), most.map(Number(_)), contiguous)(0)

  test("quantifiers") {
    assertEquals(where("A{2}"), repeat(a, 2, Some(2)))
    assertEquals(where("A{2,}"), repeat(a, 2, None))
    assertEquals(where("A{2,3}"), repeat(a, 2, Some(3)))
    assertEquals(where("A{,3}"), repeat(a, 0, Some(3)))
    assertEquals(where("A:{2,3}"), repeat(a, 2, Some(3), contiguous = true))
    assertEquals(where("A*"), repeat(a, 0, None))
    assertEquals(where("A:*"), repeat(a, 0, None, contiguous = true))
    assertEquals(where("A?"), repeat(a, 0, Some(1)))
    assertEquals(where("A ; B? : C"), Contiguous(Vector(Sequence(Vector(a, repeat(b, 0, Some(1)))), c)))
    assertEquals(where("A AS x{2}+"), Iterate(repeat(As(a, name("x")), 2, Some(2)), contiguous = false))
    assertEquals(where("A{:n,}"), Repeat(a, Quantity.Parameter(name("n")), None, contiguous = false)(0))
  }

  test("sub-windows stand in parentheses; outside WITHIN is the query's") {
    val within = Within(Sequence(Vector(a, b)), Window.Duration(300000000))(0)
    assertEquals(where("(A ; B WITHIN 5 minutes) ; C"), Sequence(Vector(within, c)))
    assertEquals(where("(A ; B WITHIN 5 minutes)"), within)
    val query = Parser.parse("SELECT * FROM S WHERE (A ; B WITHIN 5 minutes) WITHIN 3 EVENTS")
    assertEquals((query.where, query.within), (within, Some(Window.Events(Number(3)))))
  }

  private def filter(text: String): Condition = where(s"A AS x FILTER $text") match {
    case Filter(_, condition) => condition
    case other                => fail(s"$other")
  }

  test("conditions on repetitions") {
    val x = name("x")
    val p = SqlCondition("p > 1")(0)
    val xp = Operand.Attribute(x, "p")
    assertEquals(filter("count(x) >= 3"), Condition.Count(x, Operator.GreaterEqual, Number(3))(0))
    assertEquals(filter("3 > COUNT(x)"), Condition.Count(x, Operator.Less, Number(3))(0))
    assertEquals(
      filter("count(x) BETWEEN 2 AND 3 AND x[p > 1]"),
      Condition.And(
        Vector(
          Condition.And(
            Vector(
              Condition.Count(x, Operator.GreaterEqual, Number(2))(0),
              Condition.Count(x, Operator.LessEqual, Number(3))(0)
            )
          ),
          Condition.Holds(x, p)
        )
      )
    )
    assertEquals(filter("SOME x[p > 1]"), Condition.Exists(x, p))
    assertEquals(filter("first(x)[p > 1]"), Condition.OfEnd(End.First, x, p))
    assertEquals(filter("max(x.p) < 4"), Condition.Extreme(true, x, xp, Operator.Less, Operand.Literal("4"))(0))
    assertEquals(filter("4 < min(x.p)"), Condition.Extreme(false, x, xp, Operator.Greater, Operand.Literal("4"))(0))
    val last = Operand.Attribute(name("last(x)"), "p")
    assertEquals(filter("last(x).p = x.p"), Condition.Compare(last, Operator.Equal, xp)(0))
    assertEquals(filter("last(x.p) = x.p"), filter("last(x).p = x.p"))
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

  test("short words for units of time") {
    def same(short: String, long: String) = assertEquals(clauses(s"WITHIN $short"), clauses(s"WITHIN $long"), short)
    same("5 min", "5 minutes")
    same("5 MINS", "5 minutes")
    same("1d 2h 3min 4s 5ms", "1 day 2 hours 3 minutes 4 seconds 5 milliseconds")
    same("2 hr 3 sec", "2 hours 3 seconds")
    same("2 hrs 3 secs", "2 hours 3 seconds")
    same(":n min", ":n minutes")
  }

  test("an interval as in Spark SQL") {
    def same(interval: String, plain: String) =
      assertEquals(clauses(s"WITHIN INTERVAL $interval"), clauses(s"WITHIN $plain"), interval)
    same("'5' MINUTE", "5 minutes")
    same("5 MINUTES", "5 minutes")
    same("'5 minutes'", "5 minutes")
    same("\"1 hour 30 minutes\" LIMIT 2", "90 minutes LIMIT 2")
    same("'1.5' seconds 2 milliseconds", "1.502 seconds")
    same(":n minutes", ":n minutes")
    assertEquals(clauses("within interval '5' minute"), clauses("WITHIN 5 minutes"))
  }

  test("a length of time that comes with the call") {
    assertEquals(clauses("WITHIN :w").within, Some(Window.Length(name("w"))))
    assertEquals(clauses("WITHIN :w LIMIT 2").within, clauses("LIMIT 2 WITHIN :w;").within)
    assertEquals(clauses("WITHIN :w PARTITION BY [k]").within, clauses("WITHIN :w CONSUME BY ANY").within)
  }

  test("a length of time alone") {
    assertEquals(Parser.micros("5 minutes"), Some(300000000L))
    assertEquals(Parser.micros(" 1h 30 min "), Some(5400000000L))
    assertEquals(Parser.micros("INTERVAL '5' MINUTE"), Some(300000000L))
    val others =
      Seq("", "5", "soon", "5 months", "-5 minutes", "5 events", "5 [t]", ":n minutes", "5 minutes LIMIT 2", "5 §")
    assertEquals(others.flatMap(Parser.micros(_)), Nil)
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
    assertEquals(sql("a IN :list OR b NOT IN :`my list`"), "a IN (:list) OR b NOT IN :`my list`")
    assertEquals(sql("a IN (:list) AND b in /* of */ :list"), "a IN (:list) AND b IN (:list)")
    assertEquals(sql("a = ' IN {1..5}'"), "a = ' IN {1..5}'")
    assertEquals(sql("range IN {1} AND inn = 1"), "range IN (1) AND inn = 1")
  }
}
