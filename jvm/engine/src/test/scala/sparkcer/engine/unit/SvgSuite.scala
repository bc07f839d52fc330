package sparkcer.engine.unit

import org.scalacheck.Prop.{forAll, propBoolean}
import org.scalacheck.Shrink

import sparkcer.engine.ceql.Query
import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.{Diagram, Svg}
import sparkcer.engine.testkit.{Case, Drawing, Generators, Properties, Simpler}

/** Pictures of automata: what is in them, and that no label lies on anything else. */
class SvgSuite extends Properties {
  override def cases: Int = 60

  implicit private val shrinkQuery: Shrink[Query] = Shrink.withLazyList(Simpler.queries)

  private def drawn(query: String): Drawing = new Drawing(Svg(Program(query)))
  private def texts(query: String): Vector[String] = drawn(query).texts.map(_.text)

  test("the states, the labels, the rest of the query, and what it all means") {
    val query = "SELECT * FROM S WHERE (SELL AS x ; BUY) FILTER x[price > 20] WITHIN 30 [t]"
    val picture = drawn(query)
    assertEquals(
      picture.texts.map(_.text).toSet,
      Set(
        "SELECT * FROM S WHERE … WITHIN 30 [t]",
        "SELL[price > 20] / x",
        "any",
        "BUY / BUY",
        "q0",
        "q1",
        "q2",
        "event / variable: the event it takes / the variable it is bound to",
        "any: every event; double circle: a match"
      )
    )
    assertEquals(picture.circles.length, 4, "three states, the last with a second ring")
    assertEquals(picture.paths.length, 8, "an arrow for each transition and one to the start, each with its head")
    assert(picture.titles.contains("SELECT * FROM S WHERE SELL AS x ; BUY FILTER x[price > 20] WITHIN 30 [t]"))
  }

  test("what must not come after a match is below the picture, with its time") {
    val one = texts("SELECT * FROM S WHERE A AS x ; NO (B OR C) FOR 10 minutes")
    assert(one.contains("after a match: no B, no C for 10 minutes; then it ends"), one)
    val sides = texts("SELECT * FROM S WHERE (A ; NO B FOR 5 [t]) OR (C ; NO D FOR 6 [t])")
    assertEquals(sides.count(_.matches("after a match in q\\d: no [BD] for [56] \\[t\\]; then it ends")), 2, sides)
    val before = drawn("SELECT * FROM S WHERE NO B FOR 10 minutes ; A")
    assert(before.texts.map(_.text).mkString(" ").contains("A but no B for 10 minutes before / A"), before.texts)
  }

  test("a Mermaid diagram has a timer for each way to end") {
    def lines(where: String) =
      Diagram.mermaid(Program(s"SELECT * FROM S WHERE $where").cea).linesIterator.toVector.map(_.trim)
    val one = lines("A AS x ; NO B FOR 10 minutes")
    assert(one.contains("q1((q1))") && one.contains("d0(((\"10 minutes later\")))"), one)
    assert(one.contains("q1 -.->|\"no B for 10 minutes\"| d0"), one)
    // A side that ends at once ends in a state.
    val sides = lines("(A ; NO B FOR 5 [t]) OR (C ; D)")
    assertEquals((sides.count(_.contains(" -.->|")), sides.count(_.matches("q\\d\\(\\(\\(.*"))), (1, 1), sides)
    assert(!lines("A ; B").exists(_.contains("-.->")))
  }

  test("every clause is above the picture") {
    val clauses = "PARTITION BY [card] WITHIN 2 hours 30 minutes CONSUME BY ANY LIMIT 5"
    val shown = texts(s"SELECT DISTINCT MAX x FROM S WHERE A AS x ; B $clauses").takeWhile(!_.startsWith("event"))
    assertEquals(shown.mkString(" "), s"SELECT DISTINCT MAX x FROM S WHERE … $clauses")
  }

  test("what there is not is not explained") {
    assert(!texts("SELECT * FROM S WHERE A : B").exists(_.startsWith("any:")))
    assert(texts("SELECT NONE FROM S WHERE A").contains("event: the event it takes"))
  }

  test("a long condition is broken before AND and after a comma, and never between quotes if it can be helped") {
    val condition =
      "TRIP[pickup_zone = 'East Harlem North' AND dropoff_zone IN ('Midwood', 'Gravesend', 'Kew Gardens Hills')]"
    val picture = drawn(s"SELECT * FROM S WHERE TRIP FILTER $condition")
    val lines = picture.texts.map(_.text).filter(t => condition.contains(t.stripSuffix(" / TRIP")))
    assert(lines.length > 1, lines)
    assertEquals(lines.mkString(" "), s"$condition / TRIP")
    assert(lines.forall(_.count(_ == '\'') % 2 == 0), lines)
    assert(lines.tail.forall(_.startsWith("AND ")) || lines.init.exists(_.endsWith(",")), lines)
    assert(picture.titles.contains(s"$condition / TRIP"), picture.titles)
  }

  test("a word that is too long for a line is broken, and whole in the tooltip") {
    val word = "x" * 90 + "<&>"
    val picture = drawn(s"SELECT * FROM S WHERE A FILTER A[name = '$word']")
    assert(picture.texts.map(_.text).mkString.contains(word), picture.texts)
    assert(picture.titles.contains(s"A[name = '$word'] / A"), picture.titles)
    assertEquals(picture.faults, Vector.empty)
  }

  test("a very long condition is cut, and whole in the tooltip") {
    val condition = (1 to 2000).mkString("A[n IN (", ", ", ")]")
    val picture = drawn(s"SELECT * FROM S WHERE A FILTER $condition")
    assert(picture.texts.exists(_.text == "…"))
    assert(picture.whole.bottom - picture.whole.top < 800, picture.whole)
    assert(picture.titles.contains(s"$condition / A"))
  }

  test("what a picture may not have is found") {
    def faults(shapes: String) = new Drawing(s"""<svg viewBox="0 0 200 100">$shapes</svg>""").faults
    val word = """<text x="60" y="50" text-anchor="middle">word</text>"""
    assertEquals(faults(word), Vector.empty)
    assertEquals(faults(word + """<path d="M20 20L100 80"/>"""), Vector("'word' lies on an arrow"))
    assertEquals(faults(word + """<path d="M20 20C20 70 100 70 100 20"/>"""), Vector.empty)
    assertEquals(faults(word + """<text x="65" y="55">more</text>"""), Vector("'word' lies on 'more'"))
    assertEquals(faults(word + """<circle cx="90" cy="50" r="18"/>"""), Vector("'word' lies on a state"))
    assertEquals(faults("""<text x="5" y="50">out</text>"""), Vector("out is near the border or outside"))
  }

  test("control characters") {
    assert(drawn("SELECT * FROM S WHERE A FILTER A[name = '\u0001']").titles.contains("A[name = '\ufffd'] / A"))
  }

  private def stocks(names: String*): String = {
    val types = names.indices.map(i => s"${if (i % 3 == 0) "SELL" else "BUY"} AS T${i + 1}").mkString(" ; ")
    val filter = names.zipWithIndex.map { case (name, i) => s"T${i + 1}[name = '$name']" }.mkString(" AND ")
    s"($types) FILTER $filter WITHIN 30000 [stock_time]"
  }

  // The part of each query from WHERE on. They are those of the examples, the documentation and the benchmarks.
  private val queries = Vector(
    stocks("INTC", "RIMM", "QQQ"),
    stocks("INTC", "RIMM", "QQQ", "IPIX", "AMAT", "CSCO"),
    "(SELL AS msft ; (BUY OR SELL)+ AS qqq ; SELL AS amat) FILTER msft[name = 'MSFT'] AND qqq[name = 'QQQ'] AND qqq[volume = 4000] AND amat[name = 'AMAT']",
    "(TRIP AS a ; TRIP AS b ; TRIP AS c) FILTER a.dropoff_zone = b.pickup_zone AND b.dropoff_zone = c.pickup_zone AND a[total_amount > 85] AND b[total_amount > 85] AND c[total_amount > 85] PARTITION BY [medallion]",
    "(failure : failure : failure : failure : failure:+) AS tries : success PARTITION BY [user] WITHIN 5 minutes",
    "((Payment ; Payment ; Payment+) AS tiny ; Payment AS large) FILTER tiny[amount < :tiny] AND large[amount > :large] PARTITION BY [card] WITHIN 10 minutes",
    "(cart : NOT(buy):+ : leave) OR (cart : leave) PARTITION BY [visit] WITHIN 1 hour",
    "(Payment AS first ; Payment AS second) FILTER first.card = second.card AND second.amount >= 10 * first.amount WITHIN 10 minutes",
    "(buy AS x ; buy AS y) FILTER y[card = x.card AND country NOT IN (x.country, :home)] WITHIN 60 [t]",
    "tick:+ AS run FILTER run[price > PREV.price] WITHIN 9 [t]",
    "(Tick : Tick : Tick:+) AS fall : (Tick : Tick : Tick) AS rise FILTER fall[change < 0] AND rise[change > 0]",
    "A ALL B ALL C",
    "(A AS x ; B AS y) FILTER x[p > 1] OR y[q = 'a long text that goes on' AND r BETWEEN 1 AND 9]",
    "A ; (B OR C) ; D",
    "(A ; B)+ ; C:+",
    "((A ; B)+ ALL C)+ ; D",
    "A : NOT(B):+ : C OR A : C",
    "(A OR (B ; C ; D)) ; E",
    "(A OR (B ; C)+ OR (D : E : F)) ; G WITHIN 20 EVENTS LIMIT 3"
  )

  queries.foreach { q =>
    test(s"nothing lies on anything else: $q") {
      val picture = drawn(s"SELECT * FROM S WHERE $q")
      assertEquals(picture.faults, Vector.empty)
      assertEquals(picture.circles.count(_.r == 18), Program(s"SELECT * FROM S WHERE $q").cea.states)
    }
  }

  property("nothing lies on anything else in the picture of a random query") {
    forAll(Generators.query)(q => readable(q))
  }

  property("nothing lies on anything else in the picture of a random query with comparisons between events") {
    forAll(Generators.comparing)(q => readable(q))
  }

  private def readable(q: Query) = {
    val program = Case(q, Vector.empty).program.filter(_.cea.transitions.length <= 200)
    val faults = program.toVector.flatMap(p => new Drawing(Svg(p)).faults)
    faults.isEmpty :| faults.mkString("\n")
  }
}
