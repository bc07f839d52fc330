package sparkcer.engine.oracle

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.{Consume, Formula, Strategy}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._

/** `φ ; NO α FOR d`: events that must not come after a match, until its deadline. */
class NoneAfterSuite extends CutAnywhere(Endings.bodies.keys.toVector, Endings.waitingCase, Endings.longCase) {

  override protected def draw(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] =
    Endings.caseWith(name, strategy, consume, counts)

  private def matches(where: String, events: String): Vector[String] =
    Harness.run(s"SELECT * FROM S WHERE $where", events)

  test("the deadline is included, and equal times come before it") {
    assertEquals(matches("A ; NO B FOR 10 [t]", "A@0 A@4 B@12 X@20"), Vector("[0,0] A={0} @10"))
    assertEquals(matches("A ; NO B FOR 10 [t]", "A@0 B@10 X@20"), Vector.empty)
    assertEquals(matches("A ; NO B FOR 10 [t]", "A@0 X@10 B@11"), Vector("[0,0] A={0} @10"))
    assertEquals(matches("A ; NO B FOR 0 [t]", "A@0 B@0 A@1 B@2"), Vector("[2,2] A={2} @1"))
    assertEquals(matches("A ; NO B FOR 1 [t]", "B@0 A@0 X@1"), Vector("[1,1] A={1} @1"))
  }

  test("an event can be the last of a match and keep others from ending") {
    assertEquals(matches("A ; NO A FOR 5 [t]", "A@0 A@5 A@11 X@16"), Vector("[1,1] A={1} @10", "[2,2] A={2} @16"))
  }

  test("what is not decided does not come out") {
    assertEquals(matches("A ; NO B FOR 10 [t]", "A@0 X@9"), Vector.empty)
    val program = Program("SELECT * FROM S WHERE A ; NO B FOR 10 [t]")
    val events = Event.stream("A@0 X@9")
    def until(n: Long) = new Harness(program).feed(events).finish(n * 1000000).matches.size
    assertEquals((until(9), until(10), until(Long.MaxValue / 1000000)), (0, 1, 1))
  }

  test("WITHIN is about the time until the deadline") {
    val found = matches("A ; B ; NO C FOR 3 [t] WITHIN 5 [t]", "A@0 A@1 B@3 X@9")
    assertEquals(found, Vector("[1,2] A={1} B={2} @6"))
    // What waits keeps an event that is too old for the next match.
    assertEquals(
      matches("A ; B ; NO C FOR 3 [t] WITHIN 5 [t]", "A@0 A@2 B@2 B@3 X@9"),
      Vector("[0,2] A={0} B={2} @5", "[1,2] A={1} B={2} @5", "[1,3] A={1} B={3} @6")
    )
  }

  test("NO without FOR waits until the window is over") {
    assertEquals(matches("A ; NO B WITHIN 4 [t]", "A@0 B@4 A@5 B@10"), Vector("[2,2] A={2} @9"))
  }

  test("a deadline consumes what began before it") {
    def run(consume: String) = Harness.run(
      s"SELECT * FROM S WHERE A ; NO B FOR 2 [t] PARTITION BY [k] CONSUME BY $consume",
      "A(k=x)@0 A(k=x)@1 A(k=y)@1 A(k=x)@2 A(k=x)@3 X@9"
    )
    assertEquals(run("NONE").length, 5)
    assertEquals(run("PARTITION"), Vector("x [0,0] A={0} @2", "y [2,2] A={2} @3", "x [4,4] A={4} @5"))
    assertEquals(run("ANY"), Vector("x [0,0] A={0} @2", "x [4,4] A={4} @5"))
  }

  test("an event takes away the matches that it is compared with, and leaves others") {
    val where = "A AS a ; B ; NO (C AS c FILTER c.k = a.k) FOR 3 [t]"
    val events = "A(k=1)@0 A(k=2)@0 B@1 C(k=1)@4 X@5"
    def run(select: String) = Harness.run(s"SELECT $select FROM S WHERE $where", events)
    Seq("*", "NEXT *", "LAST *", "MAX *").foreach(s => assertEquals(run(s), Vector("[1,2] B={2} a={1} @4"), s))
    assertEquals(run("NONE"), Vector("[1,2] @4"))
    val count = new Harness(Program(s"SELECT COUNT(*) FROM S WHERE $where")).feed(Event.stream(events)).finish().counts
    assertEquals(count, Map(2 -> 1L))
  }

  test("a match that can be found in two ways waits until neither is left") {
    val where = "((A AS a ; B) OR (A ; B AS a)) ; NO (C FILTER C.k = a.k) FOR 9 [t]"
    def run(c: String) = Harness.run(s"SELECT NONE FROM S WHERE $where", s"A(k=1)@0 B(k=2)@0 $c X@9")
    assertEquals(run("C(k=1)@1"), Vector("[0,1] @9"))
    assertEquals(run("C(k=2)@1"), Vector("[0,1] @9"))
    assertEquals(run("C(k=2)@1 C(k=1)@1"), Vector.empty)
  }

  test("sides of OR that end in different ways") {
    def run(where: String, events: String, select: String = "*", rest: String = "") =
      Harness.run(s"SELECT $select FROM S WHERE $where $rest", events)
    // Both outcomes, told apart by their variables.
    val where = "(A AS open ; NO B FOR 3 [t]) OR (A AS done ; B AS b)"
    val events = "A@0 B@2 A@4 X@9"
    assertEquals(run(where, events), Vector("[0,1] b={1} done={0}", "[2,2] open={2} @7"))
    // The same match at two deadlines is two matches; at one deadline it is one, and waits until neither side is left.
    assertEquals(
      run("(A ; NO B FOR 1 [t]) OR (A ; NO C FOR 2 [t])", "A@0 X@9"),
      Vector("[0,0] A={0} @1", "[0,0] A={0} @2")
    )
    val equal = "(A ; NO B FOR 2 [t]) OR (A ; NO C FOR 2 seconds)"
    assertEquals(run(equal, "A@0 X@9"), Vector("[0,0] A={0} @2"))
    assertEquals(run(equal, "A@0 B@1 X@9"), Vector("[0,0] A={0} @2"))
    assertEquals(run(equal, "A@0 B@1 C@2 X@9"), Vector.empty)
    // Strategies compare what closes at one point, which one side alone does not decide.
    val longer = "(A ; B ; NO C FOR 2 [t]) OR (B ; NO X FOR 2 [t])"
    assertEquals(run(longer, "A@0 B@0 Z@9", "MAX *"), Vector("[0,1] A={0} B={1} @2"))
    assertEquals(run(longer, "A@0 B@0 C@1 Z@9", "MAX *"), Vector("[1,1] B={1} @2"))
    // A match that an event closes consumes what waits.
    assertEquals(run(where, "A@0 A@1 B@2 A@4 X@9", rest = "CONSUME BY PARTITION").length, 3)
    assertEquals(
      run("(A ; NO B FOR 9 [t]) OR C", "A@0 C@1 A@2 X@12", rest = "CONSUME BY PARTITION"),
      Vector("[1,1] C={1}", "[2,2] A={2} @11")
    )
    // Each side has its own window until its end.
    assertEquals(
      run("(A ; B ; NO C FOR 3 [t]) OR (A AS x ; B AS y)", "A@0 B@2 X@9", rest = "WITHIN 4 [t]"),
      Vector("[0,1] A={0} B={1} x={0} y={1}")
    )
    // Equal endings are one.
    assert(!Program("SELECT * FROM S WHERE (A ; NO B FOR 1 hour) OR (C ; NO B FOR 60 minutes)").cea.endsApart)
  }

  test("what NEXT, LAST and MAX leave out is not listed, also where matches end in different ways or are compared") {
    val n = 60
    def events(k: Int => Int) = (0 until n).map(i => s"A(k=${k(i)})@$i").mkString("", " ", s" C(k=0)@$n X@${2 * n}")
    def run(where: String, strategy: String, k: Int => Int) =
      Harness.run(s"SELECT $strategy x FROM S WHERE $where", events(k))
    val all = (0 until n).mkString(",")
    // Each A may be in a match or not.
    val apart = "(A+ AS x ; NO C FOR 9 [t]) OR (A+ AS x ; C)"
    val compared = "A+ AS x ; NO (C FILTER C.k = x.k) FOR 9 [t]"
    for (strategy <- Seq("NEXT", "LAST", "MAX")) {
      assert(run(apart, strategy, _ => 1).exists(_.contains(s"{$all}")), strategy)
      val last = run(compared, strategy, _ => 1)
      assertEquals(last.length, n, strategy)
      assert(last.last.endsWith(s"x={$all} @${n + 8}"), last.last)
      // Matches with another k are left when the C comes: those without the last nine, or with two different k.
      val left = run(compared, strategy, i => i % 2)
      assert(left.exists(_.contains(s"x={$all}")), strategy)
    }
  }

  test("what is compared with other values is nobody's rival") {
    val n = 300
    val events = s"A@0 ${(1 to n).map(i => s"B(k=$i)@$i").mkString(" ")} C@${n + 1} D(k=7)@${n + 2} X@${2 * n}"
    val found = Harness.run("SELECT NEXT b FROM S WHERE A ; B AS b ; C ; NO (D FILTER D.k = b.k) FOR 9 [t]", events)
    assertEquals(found, Vector(s"[0,${n + 1}] b={1} @${n + 10}"))
    val program = Program("SELECT LAST b FROM S WHERE A ; B AS b ; C ; NO (D FILTER D.k = b.k) FOR 9 [t]")
    val left = new Harness(program).feed(Event.stream(events.replace("D(k=7)", s"D(k=$n)"))).finish()
    assertEquals(Match.show(left.matches), Vector(s"[0,${n + 1}] b={${n - 1}} @${n + 10}"))
  }

  private val endings: Gen[Vector[Event]] = Endings.stream.map(_.filter(_("t") != Value.Null))

  property("with all data, exactly one of A ; B WITHIN d and A ; NO B FOR d starts at an A") {
    forAll(endings, Gen.choose(0, 4)) { (events: Vector[Event], d: Int) =>
      def starts(where: String) =
        new Harness(Program(s"SELECT * FROM S, T WHERE $where")).feed(events).finish(Long.MaxValue).matches.map(_.start)
      val some = starts(s"A ; B WITHIN $d [t]")
      val none = starts(s"A ; NO B FOR $d [t]")
      val all = events.indices.filter(events(_).eventType == "A").toSet
      (some & none).isEmpty :| "both" && ((some | none) == all) :| "neither"
    }
  }

  property("A ; NO Z FOR d is A, if no Z comes and all is known") {
    forAll(endings, Gen.choose(0, 4)) { (events: Vector[Event], d: Int) =>
      def found(where: String, until: Long) =
        new Harness(Program(s"SELECT * FROM S, T WHERE $where")).feed(events).finish(until).matches
      val until = 4000000L
      val right = found("A", 0).filter(m =>
        events(m.end)("t") match {
          case Value.Num(n) => n + d <= 4
          case _            => false
        }
      )
      // Deadlines before the last event are fired anyway.
      val last = events.map(_("t")).collect { case Value.Num(n) => n }.maxOption.getOrElse(BigDecimal(0))
      val none = found(s"A ; NO Z FOR $d [t]", until).map(_.copy(deadline = None))
      (if (last > 4) right.subsetOf(none) else right == none) :| s"$right is not $none"
    }
  }
}

/** Sides of OR, at least one of which ends with NO. */
class EndsApartSuite extends EveryStrategy(Endings.sides.keys.toVector.sorted.map(_ -> (Gen.const(_: Formula)))) {
  override protected def draw(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] =
    Endings.sidesWith(name, strategy, consume, counts)
}
