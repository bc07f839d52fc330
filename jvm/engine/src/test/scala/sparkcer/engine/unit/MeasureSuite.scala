package sparkcer.engine.unit

import sparkcer.engine.ceql.{Parser, RecognizedQuery, SelectList, SelectedVariables, SqlCondition, Strategy}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.Explain

/** Measures and HAVING, as far as the engine knows them: how they are read, and which variables they select. */
class MeasureSuite extends munit.FunSuite {
  private val pattern = "(A AS x ; (B AS b)+ AS more ; C AS y)"

  private def parsed(list: String, clauses: String = "") =
    Parser.parse(s"SELECT $list FROM S WHERE $pattern $clauses")

  /** An item of the list in words. */
  private def words(list: String): Vector[String] = parsed(list).select.list match {
    case SelectList.Columns(items, flat) =>
      (if (flat) Vector("flat") else Vector.empty) ++ items.map {
        case SelectList.Star             => "all"
        case SelectList.Item(x, a, name) =>
          s"variable ${x.value}${a.fold("")(_.map(_.value).mkString("[", ",", "]"))}${name.fold("")(" as " + _.value)}"
        case SelectList.Measure(sql, name) => s"${name.value} = $sql"
      }
    case other => Vector(other.toString.takeWhile(_ != '('))
  }

  test("items of the list") {
    assertEquals(words("x, y"), Vector("Variables"))
    assertEquals(words("*"), Vector("All"))
    assertEquals(words("x[a, b.c], y"), Vector("Variables"))
    assertEquals(words("*, x.price"), Vector("all", "price = x.price"))
    assertEquals(words("x AS buy, y[a]"), Vector("variable x as buy", "variable y[a]"))
    assertEquals(words("x[a, b.c] AS buy"), Vector("variable x[a,b.c] as buy"))
    assertEquals(words("FLAT x, y"), Vector("flat", "variable x", "variable y"))
    assertEquals(words("FLAT *"), Vector("flat", "all"))
    assertEquals(words("x.a.`b c`"), Vector("b c = x.a.`b c`"))
    assertEquals(words("y.price - x.price AS gain"), Vector("gain = y.price - x.price"))
    assertEquals(words("CAST(x.a AS INT) AS a, 1 AS one"), Vector("a = CAST(x.a AS INT)", "one = 1"))
    assertEquals(words("extract(YEAR FROM x.ts) AS y1"), Vector("y1 = extract(YEAR FROM x.ts)"))
    assertEquals(words("x.a IS DISTINCT FROM y.a AS other"), Vector("other = x.a IS DISTINCT FROM y.a"))
    assertEquals(words("x.from AS f, x.`from` AS g"), Vector("f = x.from", "g = x.`from`"))
    assertEquals(words("x.a IN {1, 2} AS few"), Vector("few = x.a IN (1, 2)"))
    assertEquals(words("'a, b' || \" FROM \" AS t, :p AS p"), Vector("t = 'a, b' || \" FROM \"", "p = :p"))
    assertEquals(words("start AS s, END AS e"), Vector("s = start", "e = END"))
  }

  test("MAX and LAST before a parenthesis are functions") {
    assertEquals(words("MAX(x.a) AS m"), Vector("m = MAX(x.a)"))
    assertEquals(parsed("LAST (more).ts AS l").select.strategy, Strategy.All: Strategy)
    assertEquals(parsed("MAX max(x.a) AS m").select.strategy, Strategy.Max: Strategy)
    assertEquals(parsed("LAST x, last(more.a) AS l").select.strategy, Strategy.Last: Strategy)
    assertEquals(parsed("DISTINCT NEXT FLAT x").select.distinct, true)
  }

  test("HAVING has any place among the clauses") {
    val expected = parsed("x", "PARTITION BY [k] WITHIN 3 EVENTS LIMIT 2 HAVING count(more) > 1 AND x.limit < 3")
    assertEquals(expected.having.map(_.sql), Some("count(more) > 1 AND x.limit < 3"))
    for (
      clauses <- Seq(
        "PARTITION BY [k]",
        "WITHIN 3 EVENTS",
        "LIMIT 2",
        "HAVING count(more) > 1 AND x.limit < 3"
      ).permutations
    ) assertEquals(parsed("x", clauses.mkString(" ")), expected)
    assertEquals(parsed("x", "HAVING a /* b */ > 1;").having, Some(SqlCondition("a  > 1")(0)))
  }

  private def selected(list: String, having: String = "true") =
    SelectedVariables(parsed(list, s"HAVING $having")).mkString(" ")

  test("selected variables are those that are listed, and those that measures and HAVING name") {
    assertEquals(selected("y, x"), "y x")
    assertEquals(selected("y, count(more) AS n"), "more y")
    assertEquals(selected("y, sum(more.a) AS n, x.a"), "x more y")
    assertEquals(selected("y, x, sum(more.a) AS n"), "y x more")
    assertEquals(selected("*, count(more) AS n"), "x more b y")
    assertEquals(selected("start AS s"), "")
    assertEquals(selected("x AS b", "last(y).a > 1"), "x y")
    assertEquals(selected("x, x[a] AS x2"), "x")
    assertEquals(selected("x", "first(`more`.a) > 1 AND count(C) > 0"), "x more C")
    // Only where a variable can stand: strings, functions, columns of others.
    assertEquals(selected("x", "x.more > 1 AND 'more.a' = \"y.a\" AND y(x.a) AND more > 1 AND abs(more) > 1"), "x")
    assertEquals(SelectedVariables(parsed("COUNT(*)", "HAVING matches > 1")).mkString(" "), "x more b y")
    val streams = Parser.parse("SELECT NONE FROM S WHERE S>A ; A HAVING S>A.p > A.p AND count( S > A ) = 1")
    assertEquals(SelectedVariables(streams), Vector("S>A", "A"))
    assertEquals(streams.having.map(_.sql), Some("`S>A`.p > A.p AND count( `S>A` ) = 1"))
  }

  test("the program has hidden variables, and shows what is listed") {
    val p = Program.compile(parsed("y[a] AS late, count(more) AS n, x.b", "HAVING n > 1"))
    assertEquals(
      p.columns.map(c => (c.variable, c.attributes.map(_.map(_.value)))),
      Vector(
        ("x", Some(Vector.empty)),
        ("more", Some(Vector.empty)),
        ("y", Some(Vector("a")))
      )
    )
    assertEquals(
      p.shown.map {
        case v: Program.ShownVariable => v.name
        case m: Program.ShownMeasure  => m.measure.name.value
      },
      Vector("late", "n", "b")
    )
    assertEquals(p.digest, Program.compile(parsed("y, x, more")).digest)
  }

  private def recognized(text: String, expected: String)(implicit loc: munit.Location): Unit =
    assertEquals(RecognizedQuery(text), expected)

  test("what is recognized: a query without measures is its text") {
    Seq(
      s"SELECT  x ,y[a , b] -- two\nFROM S WHERE $pattern WITHIN 3 EVENTS ;",
      s"select * from S where $pattern",
      s"SELECT NONE FROM S WHERE $pattern",
      s"SELECT MAX COUNT(*) FROM S WHERE $pattern"
    ).foreach(text => recognized(text, text))
  }

  test("what is recognized: adding measures, names, FLAT or HAVING changes nothing") {
    def same(before: String, after: String)(implicit loc: munit.Location): Unit = {
      recognized(after, before)
      assertEquals(
        Program(after).columns.map(c => (c.variable, c.multiplicity)),
        Program(before).columns.map(c => (c.variable, c.multiplicity))
      )
    }
    val from = s"FROM S WHERE $pattern"
    same(s"SELECT x,y $from", s"SELECT x,y, count(x) AS n $from")
    same(
      s"SELECT x , y[a, b]\n $from",
      s"SELECT x , sum(x.a) AS s, y[a, b] AS z\n $from".replace(" , sum(x.a) AS s,", " ,")
    )
    same(s"SELECT x, y $from", s"SELECT x, sum(x.a) AS s, y $from")
    same(s"SELECT y $from", s"SELECT sum(y.a) AS s, y $from")
    same(s"SELECT x, y $from", s"SELECT FLAT x AS a, y $from")
    same(s"SELECT MAX x, y $from", s"SELECT FLAT MAX x, y, x[a] AS again $from")
    same(s"SELECT * $from", s"SELECT *, 1 AS one $from")
    same(s"SELECT NONE $from", s"SELECT start AS s $from")
    same(s"SELECT x, more $from", s"SELECT x $from HAVING count(more) > 1")
    same(s"SELECT x, more $from", s"SELECT x.a, count(more) AS n $from")
    same(s"SELECT x, more $from", s"SELECT count(more) AS n, x.a $from")
    same(s"SELECT x, more, y[a,b] $from", s"SELECT x.a, more, y[a,b] $from")
    same(s"SELECT y[a,b], x, more $from", s"SELECT y[a,b], x, count(more) AS n $from")
    same(s"SELECT *, C $from", s"SELECT * $from HAVING count(C) > 1")
    same(s"SELECT x $from WITHIN 3 EVENTS", s"SELECT x $from HAVING true WITHIN 3 EVENTS")
    same(s"SELECT x $from\n  WITHIN 3 EVENTS;", s"SELECT x $from\n  WITHIN 3 EVENTS\n  HAVING count(x) > 1;")
    same(s"SELECT COUNT(*) $from", s"SELECT COUNT(*) $from HAVING matches > 2")
    same("SELECT S>A FROM S WHERE S>A", "SELECT S>A.p FROM S WHERE S>A HAVING `S>A`.p > 1")
  }

  test("texts that agree find the same matches from the same state") {
    val from = s"FROM S WHERE $pattern WITHIN 3 EVENTS"
    def agree(one: String, other: String) = RecognizedQuery.agree(s"SELECT $one", s"SELECT $other")
    assert(agree(s"x[a], y $from", s"y, x $from"))
    assert(agree(s"* $from", s"y, b, more, x $from"))
    assert(agree(s"x $from\nwith :a = 1\nwith snapshots", s"x[b] $from\nwith :a = 1\nwith snapshots"))
    assert(!agree(s"x $from\nwith :a = 1", s"x[b] $from\nwith :a = 2"))
    assert(!agree(s"x $from", s"x $from\nwith snapshots"))
    assert(!agree(s"x, y $from", s"x $from"))
    assert(!agree(s"MAX x $from", s"x[a] $from"))
    assert(!agree(s"DISTINCT x $from", s"x[a] $from"))
    assert(!agree(s"* $from", s"COUNT(*) $from"))
    assert(!agree(s"NONE $from", s"x $from"))
    assert(!agree(s"x $from", s"x[a] $from LIMIT 1"))
    assert(!agree("not a query", "not a query at all"))
  }

  test("the plan has a line for each measure and for HAVING") {
    def output(text: String) = {
      val plan = Explain(Program(text))
      plan.substring(plan.indexOf("Output"), plan.indexOf("\n\nConditions")).linesIterator.drop(1).map(_.trim).toVector
    }
    assertEquals(
      output(s"SELECT x AS buy, count(more) AS n, y FROM S WHERE $pattern HAVING n > 1"),
      Vector(
        "buy: one event of x",
        "n: count(more)",
        "y: one event",
        "more: not shown; matches that differ in their events are different matches",
        "HAVING n > 1: applied to each match, after everything else"
      )
    )
    assertEquals(
      output(s"SELECT FLAT x, more FROM S WHERE $pattern"),
      Vector("x_…: each column of one event", "more: many events, as an array")
    )
    assertEquals(
      output("SELECT COUNT(*) FROM S WHERE A HAVING matches > 2"),
      Vector(
        "the number of matches that an event closes",
        "HAVING matches > 2: applied to each row, after everything else"
      )
    )
  }
}
