package sparkcer.engine.unit

import scala.util.Random

import sparkcer.engine.compare.Access
import sparkcer.engine.evaluate.{Evaluator, Program, Substream}
import sparkcer.engine.explain.Explain
import sparkcer.engine.testkit.{Compared, Event, Harness, Value}

/** Comparisons between events on indexes: what an event looks at, what is kept, and what explain says of it. */
class IndexSuite extends munit.FunSuite {

  /** Reads `n` events of the types, with attributes of `values` different values, one a unit of time. */
  private def run(query: String, types: String, n: Int, window: Int, values: Int): (Substream, Long) = {
    val program = Program(query)
    val rng = new Random(5)
    val events = Vector.fill(n) {
      val attributes = Seq("x", "y", "p").map(a => a -> Value.Num(BigDecimal(rng.nextInt(values))))
      Event(types(rng.nextInt(types.length)).toString, attributes.toMap)
    }
    val evaluator =
      new Evaluator(program, values = new Compared(program, payload => events(BigInt(payload).toInt)))
    val substream = evaluator.newSubstream()
    var most = 0L
    events.indices.foreach { i =>
      val mask = Harness.mask(program, events(i))(0)
      substream.read(evaluator.classOf(mask), i.toLong, i.toLong - window, BigInt(i).toByteArray): Unit
      if (i % 100 == 0) most = math.max(most, substream.bytes)
    }
    (substream, most)
  }

  private val cases = Vector(
    "SELECT * FROM S WHERE (R AS r ; S AS s ; T AS t) FILTER r.x = s.x AND s.y = t.y" -> "RST",
    "SELECT DISTINCT t FROM S WHERE (R AS r ; S AS s ; T AS t) FILTER r.x = s.x AND s.y = t.y" -> "RST",
    "SELECT * FROM S WHERE (R ; S+ ; T) PART-BY [x]" -> "RST",
    "SELECT * FROM S WHERE (R AS r ; (S+ PART-BY [y]) AS s ; T AS t) PART-BY [r.x, s.x, t.x]" -> "RST",
    "SELECT * FROM S WHERE (R AS a ; R+ AS b) AS c FILTER c[y = PREV.x]" -> "RRT",
    "SELECT * FROM S WHERE (R AS r ; (S AS s OR T AS t)) FILTER r.x = s.x AND r.y = t.y" -> "RST",
    "SELECT * FROM S WHERE (R AS r ALL S AS s) FILTER r.x = s.x" -> "RST"
  )

  cases.foreach { case (query, types) =>
    test(s"an event looks at few entries, whatever the window: $query") {
      val looks = Seq(100, 1000, 5000).map { window =>
        val (substream, _) = run(s"$query WITHIN $window [t]", types, 10000, window, values = 100)
        substream.looks / 10000.0
      }
      assert(looks.max <= 2.0, s"$looks entries an event")
      assert(Program(query).access.forall(_._2 == Access.Indexed), Explain(Program(query)))
    }
  }

  Vector(
    "SELECT * FROM S WHERE (R AS r ; S AS s) FILTER r.p < s.p",
    "SELECT * FROM S WHERE (R AS r ; S AS s) FILTER r.p != s.p",
    "SELECT * FROM S WHERE (R AS r ; S AS s ; T AS t) FILTER r.p >= s.p AND r.x = s.x AND s.p != t.p",
    "SELECT * FROM S WHERE R+ AS run FILTER run[p > PREV.p]"
  ).foreach { query =>
    test(s"order and disequality look at no entries but those of the last event: $query") {
      val (substream, _) = run(s"$query WITHIN 2000 [t]", "RST", 10000, 2000, values = 500)
      assert(substream.looks <= 10000, s"${substream.looks} entries")
      assert(Program(query).access.exists(_._2 == Access.Ordered), Explain(Program(query)))
    }
  }

  /** Many values, so that trees are deep: pairs against two loops, with restarts. */
  Vector[(String, (Int, Int) => Boolean)](
    "r.p < s.p" -> (_ < _),
    "r.p >= s.p" -> (_ >= _),
    "r.p != s.p" -> (_ != _),
    "r.p = s.p" -> (_ == _)
  ).foreach { case (test, holds) =>
    this.test(s"many values: $test") {
      val program = Program(s"SELECT * FROM S WHERE (R AS r ; S AS s) FILTER $test WITHIN 60 [t]")
      (1 to 5).foreach { seed =>
        val rng = new Random(seed)
        val kinds = Vector.fill(300)((if (rng.nextBoolean()) "R" else "S", rng.nextInt(50)))
        val right = for (j <- kinds.indices; i <- math.max(0, j - 60) until j) yield (i, j)
        val wanted = right.collect {
          case (i, j) if kinds(i)._1 == "R" && kinds(j)._1 == "S" && holds(kinds(i)._2, kinds(j)._2) => s"[$i,$j]"
        }
        val harness = new Harness(program)
        kinds.zipWithIndex.foreach { case ((kind, p), at) =>
          harness.feed(Seq(Event(kind, Map("p" -> Value.Num(p), "t" -> Value.Num(at)))))
          if (rng.nextInt(40) == 0) harness.restart(Seq(harness.save()))
        }
        assertEquals(harness.matches.map(m => s"[${m.start},${m.end}]"), wanted.toSet)
      }
    }
  }

  test("what is kept goes with the window, not with the stream") {
    val adjacent = "SELECT * FROM S WHERE (R AS a : R AS b : S AS c) FILTER a.x != b.x" -> "RRS"
    (cases :+ adjacent).foreach { case (query, types) =>
      val sizes = Seq(4000, 16000).map(n => run(s"$query WITHIN 200 [t]", types, n, 200, values = 100000)._2)
      assert(sizes(1) <= 1.5 * sizes(0), s"$query: ${sizes.mkString(" and then ")} bytes")
    }
  }

  private def access(where: String): Vector[String] =
    Program(s"SELECT * FROM S WHERE $where").access.map { case (l, a) => s"${l.show}: ${a.text.takeWhile(_ != ':')}" }

  test("explain says how each test is done") {
    assertEquals(
      access("(A AS x ; B AS y ; C AS z) FILTER x.p = y.p AND y.p < z.p AND x.q + y.q = z.q"),
      Vector("x.p = y.p: scanned per value", "y.p < z.p: scanned per value", "x.q + y.q = z.q: scanned per run")
    )
    assertEquals(
      access("(A AS x ; B AS y) FILTER x.p = y.p OR x.q = y.q"),
      Vector("x.p = y.p: scanned per value", "x.q = y.q: scanned per value")
    )
    assertEquals(access("(A AS x ; B AS y) FILTER x.p <= y.p"), Vector("x.p <= y.p: indexed in order"))
    assertEquals(
      access("(A AS x ; B AS y) FILTER x.k = y.k AND y.p >= 10 * x.p"),
      Vector("x.k = y.k: indexed", "10 * x.p <= y.p: indexed in order")
    )
    assertEquals(access("(A+ PART-BY [k]) ; B"), Vector("PART-BY [k]: indexed"))
    def atEnd(test: String) =
      Program(s"SELECT * FROM S WHERE A AS a ; NO (B FILTER $test) FOR 9 [t]").access.map(_._2)
    assertEquals(atEnd("B.k = a.k"), Vector(Access.Indexed))
    assertEquals(atEnd("B.v < a.v"), Vector(Access.PerWaiting))
    // The equality finds them, and the other comparison is asked of these only.
    assertEquals(atEnd("B.k = a.k AND B.v < a.v").distinct, Vector(Access.Indexed))
    assertEquals(
      Program("SELECT y FROM S WHERE (A ; B AS h ; C AS y) FILTER h.k = y.k").access.map(_._2),
      Vector(Access.PerRun)
    )
    val text = Explain(Program("SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x.p = y.q WITHIN 5 [t]"))
    assert(
      text.contains("Comparisons between events\n  x.p = y.q  indexed: an event finds its partial matches by value\n"),
      text
    )
  }
}
