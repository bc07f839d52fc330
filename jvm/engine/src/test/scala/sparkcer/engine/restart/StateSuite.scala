package sparkcer.engine.restart

import org.scalacheck.{Arbitrary, Gen, Prop, Shrink}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.compare.EventValues
import sparkcer.engine.evaluate.{Evaluator, Partitions, Program}
import sparkcer.engine.state.{Frame, StateException}
import sparkcer.engine.testkit._
import sparkcer.engine.testkit.Absences.absentCase
import sparkcer.engine.testkit.Endings.waitingCase
import sparkcer.engine.testkit.Generators.{comparingCase, plainCase, repeatingCase}

/** Saved state: wherever a stream is cut, what is loaded goes on as if nothing had happened; and what is no saved state
  * is refused with a reason.
  */
class StateSuite extends CutAnywhere(plainCase) {

  private val program = Program("SELECT * FROM S WHERE (A+ ; B) AS x PARTITION BY [k] WITHIN 4 [t]")
  private val saved = new Harness(program).feed(Event.stream("A(k=x) A(k=y) A(k=x) X(k=z) A(k=y)")).save()

  private def load(pieces: Array[Byte]*): Partitions = Partitions.load(new Evaluator(program), pieces.map(_ -> null))

  private def refused(message: String)(pieces: Array[Byte]*): Unit =
    assertEquals(intercept[StateException](load(pieces: _*)).getMessage, message)

  test("state has as many substreams after as before") {
    assertEquals(load(saved).size, 3)
  }

  test("a damaged byte is found wherever it is") {
    saved.indices.foreach { i =>
      val damaged = saved.clone()
      damaged(i) = (damaged(i) ^ 0x10).toByte
      intercept[StateException](load(damaged))
    }
    val inside = saved.updated(saved.length / 2, (~saved(saved.length / 2)).toByte)
    refused("[CER_STATE_DAMAGED] The saved state is damaged: its checksum is wrong.")(inside)
  }

  test("a piece that was cut off is found wherever it ends") {
    saved.indices.foreach(n => intercept[StateException](load(saved.take(n))))
    refused("[CER_STATE_DAMAGED] These bytes are not a saved state of spark-cer.")(Array.empty[Byte])
  }

  test("other bytes are not a saved state") {
    refused("[CER_STATE_DAMAGED] These bytes are not a saved state of spark-cer.")("SELECT * FROM S".getBytes("UTF-8"))
  }

  test("a newer format is named") {
    refused(
      "[CER_STATE_MISMATCH] The state was saved in format 3 by a newer spark-cer, and this one reads formats up to 2. Use that newer version."
    )(saved.updated(1, (Frame.Version + 1).toByte))
  }

  test("bytes behind the last record are found") {
    val longer = Frame.write { out => (2 until saved.length - 4).foreach(i => out.byte(saved(i) & 0xff)); out.byte(0) }
    refused("[CER_STATE_DAMAGED] The saved state is damaged: it has more bytes than it says.")(longer)
  }

  test("what changed is small, and nothing is smaller still") {
    val harness = new Harness(Program("SELECT * FROM S WHERE A ; B ; C"))
    harness.feed(Event.stream("A B " * 1000))
    val full = harness.save().length
    harness.feed(Event.stream("A"))
    val changes = harness.saveChanges().length
    assert(changes < 100 && full > 100 * changes, s"$full bytes in full, $changes for one event")
    assert(harness.saveChanges().length < 12)
  }
}

/** The same for queries that compare events. */
class ComparisonStateSuite extends CutAnywhere(comparingCase) {
  private val program = Program("SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x.p = y.p")

  test("what changed is small, however many values are compared") {
    val harness = new Harness(program)
    harness.feed((0 until 1000).flatMap(i => Event.stream(s"A(p=$i)")))
    val full = harness.save().length
    harness.feed(Event.stream("A(p=1) A(p=2000)"))
    val changes = harness.saveChanges().length
    assert(changes < 100 && full > 100 * changes, s"$full bytes in full, $changes for two events")
    assert(harness.saveChanges().length < 12)
  }

  test("a newer format of compared values is named") {
    val saved = new Harness(program).feed(Event.stream("A(p=7)")).save()
    // What is compared comes last: its format, nothing removed, one entry.
    val body = saved.slice(2, saved.length - 4)
    val format = body.lastIndexOfSlice(Seq[Byte](1, 0, 2))
    val newer = Frame.write(out => body.updated(format, 9.toByte).foreach(b => out.byte(b & 0xff)))
    val e = intercept[StateException](Partitions.load(new Evaluator(program, values = Unasked), Seq(newer -> null)))
    assert(e.getMessage.contains("in format 9 by a newer spark-cer"), e.getMessage)
  }

  private object Unasked extends EventValues {
    def value(term: Int, event: Array[Byte]): Array[Byte] = fail("asked for a value")
    def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int = fail("asked for an order")
    def holds(expression: Int, events: Array[Array[Byte]]): Boolean = fail("asked for an expression")
  }
}

/** The same for queries with quantifiers, sub-windows and conditions on repetitions. */
class RepetitionStateSuite extends CutAnywhere(repeatingCase) {
  override def cases: Int = 500
}

/** The same for queries with events that must not come. */
class AbsenceStateSuite extends CutAnywhere(absentCase) {
  override def cases: Int = 500
}

/** The same for queries that end with events that must not come. */
class WaitingStateSuite extends CutAnywhere(waitingCase) {
  override def cases: Int = 500
}

abstract class CutAnywhere(generator: Gen[Case]) extends Properties {
  import CutAnywhere._

  override def cases: Int = 2000
  implicit private val arbitrary: Arbitrary[Case] = Arbitrary(generator)

  private val action: Gen[Action] = Gen.frequency(
    2 -> GoOn,
    1 -> Save(full = true, restart = false),
    2 -> Save(full = false, restart = false),
    1 -> Save(full = true, restart = true),
    3 -> Save(full = false, restart = true)
  )
  implicit private val plans: Arbitrary[List[Action]] = Arbitrary(Gen.listOfN(10, action))
  implicit private val shrinkPlan: Shrink[List[Action]] = Shrink.withLazyList { plan =>
    plan.indices.to(LazyList).filter(plan(_) != GoOn).map(plan.updated(_, GoOn))
  }

  property("a stream may be cut anywhere") {
    forAll { (c: Case, plan: List[Action], remove: Boolean, tiny: Boolean) =>
      val options = Harness.Options(if (tiny) Evaluator.Limits(states = 2) else Evaluator.Limits(), remove = remove)
      c.program.fold(Prop.undecided) { program =>
        val found = cut(new Harness(program, options), c.events.zip(plan))
        val right = Harness.run(program, c.events)
        (found == right) :| Match.difference(found, right)
      }
    }
  }

  private def cut(harness: Harness, steps: Seq[(Event, Action)]): Set[Match] = {
    var pieces = Vector(harness.save())
    steps.foreach { case (event, action) =>
      harness.feed(Seq(event))
      action match {
        case GoOn                => ()
        case Save(full, restart) =>
          pieces = if (full) Vector(harness.save()) else pieces :+ harness.saveChanges()
          if (restart) harness.restart(pieces)
      }
    }
    harness.finish().matches
  }
}

object CutAnywhere {

  /** What may happen after an event. */
  sealed private trait Action
  private case object GoOn extends Action

  /** Everything is saved, or what changed since the last time; a restart then reads all pieces so far. */
  final private case class Save(full: Boolean, restart: Boolean) extends Action
}
