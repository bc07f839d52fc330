package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.{Consume, Formula, Strategy}
import sparkcer.engine.evaluate.{Evaluator, Program}
import sparkcer.engine.testkit._

/** `φ ; NO α FOR d`: events that must not come after a match, until its deadline. */
class NoneAfterSuite extends EveryStrategy(Endings.bodies.keys.toVector.map(_ -> (Gen.const(_: Formula)))) {
  override def cases: Int = 500

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

  implicit private val waitingCase: Arbitrary[Case] = Arbitrary(Endings.waitingCase)

  property("matches are those of the definition, whenever deadlines are fired") {
    forAll { (c: Case, drop: Boolean, remove: Boolean, lazily: Boolean, states: Byte) =>
      val limits = if (states < 0) Evaluator.Limits() else Evaluator.Limits(states = 1 + (states & 3))
      c.program.fold(Prop.undecided) { program =>
        c.expected.fold(Prop.undecided) { right =>
          val found = Harness.run(program, c.events, Harness.Options(limits, drop, remove, lazily))
          (found == right) :| Match.difference(found, right)
        }
      }
    }
  }

  property("in streams many windows long, cut and loaded on the way") {
    forAll(Endings.longCase, Gen.choose(1, 9)) { (c: Case, often: Int) =>
      val both = for (right <- c.expected; program <- c.program) yield {
        val harness = new Harness(program, Harness.Options(remove = true))
        var pieces = Vector(harness.save())
        c.events.zipWithIndex.foreach { case (event, i) =>
          harness.feed(Seq(event))
          pieces :+= harness.saveChanges()
          if (i % often == 0) harness.restart(pieces)
        }
        val found = harness.finish().matches
        (found == right) :| Match.difference(found, right)
      }
      both.getOrElse(Prop.undecided)
    }
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
