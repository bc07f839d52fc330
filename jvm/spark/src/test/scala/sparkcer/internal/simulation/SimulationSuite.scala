package sparkcer.internal.simulation

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration.{Duration, DurationInt}
import scala.util.Random

import sparkcer.engine.testkit.Properties

/** Random schedules of a stream in a simulated Spark: micro-batches cut anywhere, tasks that are killed at any step or
  * run twice, lost executors, restarts, late and duplicate events. Whatever happens, the stream returns the rows of a
  * batch, byte for byte, each once.
  *
  * A failure prints a line that runs its schedule again, after it was made as small as possible.
  */
class SimulationSuite extends munit.FunSuite {
  import SimulationSuite._

  override val munitTimeout: Duration = 4.hours

  private val chosen = sys.env.get("CER_SIMULATION").map(Schedule.read)

  chosen.foreach { s =>
    test(s"schedule $s") {
      Verdict.of(s, new Bug.None) match {
        case Verdict.Disagrees(_, why) => fail(s"${s.show}\n$why")
        case _                         => ()
      }
    }
  }

  test("whatever happens to a stream, it returns the rows of the batch") {
    assume(chosen.isEmpty, "one schedule is chosen")
    val first = Random.nextInt(1 << 30).toLong
    val started = System.nanoTime()
    val happened = mutable.Map.empty[String, Int].withDefaultValue(0)
    (first until first + Schedules).foreach { seed =>
      Verdict.of(seed) match {
        case Verdict.Disagrees(s, _) => fail(report(s))
        case Verdict.Undecided       => ()
        case Verdict.Agrees(all)     => (all + ("schedule" -> 1)).foreach { case (what, n) => happened(what) += n }
      }
    }
    val minutes = (System.nanoTime() - started) / 6e10
    println(f"$Schedules%d schedules, ${Schedules / minutes}%.0f a minute, with a result: ${show(happened)}")
    Happens.foreach(what => assert(happened(what) > Schedules / 50, s"$what: only ${happened(what)}"))
    AbsenceHappened.All.foreach { case (what, where) => assert(happened(what) > 0, s"$what never happened ($where)") }
    assert(happened("schedule") > Schedules * 3 / 4, s"only ${happened("schedule")} schedules had a result")
  }

  test("a task can be killed at every step") {
    assume(chosen.isEmpty, "one schedule is chosen")
    val seeds = Iterator.continually(Random.nextInt(1 << 30).toLong).filter(Verdict.of(_).isInstanceOf[Verdict.Agrees])
    seeds.take(if (Properties.Long) 2000 else 20).foreach { seed =>
      val schedule = Schedule(seed)
      // The last ones find nothing left to kill.
      val killed = (0 to Steps).map { n =>
        val stream = new SimulatedQuery(schedule, crashAt = Some(n))
        Verdict.of(schedule, stream) match {
          case Verdict.Disagrees(_, why) => fail(s"killed before step $n: ${schedule.show}\n$why")
          case _                         => stream.happened("task killed")
        }
      }
      assert(killed.head > 0, schedule.show)
    }
  }

  Vector[(String, () => Bug)](
    "a forgotten piece" -> (() => new Bug.ForgottenPiece),
    "a stale engine" -> (() => new Bug.StaleEngine),
    "a lost timer" -> (() => new Bug.LostTimer)
  ).foreach { case (name, plant) =>
    test(s"$name is found") {
      assume(chosen.isEmpty, "one schedule is chosen")
      val seeds = Iterator.continually(Random.nextInt(1 << 30).toLong).take(InCi)
      val tried = seeds.map(Verdict.of(_, plant())).takeWhile(!_.isInstanceOf[Verdict.Disagrees]).length
      println(s"$name: found after $tried schedules")
      assert(tried < InCi, s"$InCi schedules did not find it")
    }
  }

  test("a failing schedule becomes smaller, and is written in a line that reads back") {
    val seed =
      Iterator.from(1).map(_.toLong).find(Verdict.of(_, new Bug.StaleEngine).isInstanceOf[Verdict.Disagrees]).get
    val fails = (s: Schedule) => Verdict.of(s, new Bug.StaleEngine).isInstanceOf[Verdict.Disagrees]
    val (whole, small) = (Schedule(seed), smallest(Schedule(seed))(fails))
    assert(fails(small))
    assert(small.without.size + small.merged.size + small.calm.size > 0, small.show)
    assertEquals(Schedule.read(small.toString), small)
    assertEquals(Schedule.read(whole.toString), whole)
  }
}

object SimulationSuite {
  private val InCi = 2000
  private val Schedules: Int = if (Properties.Long) 100000 else InCi

  private def show(happened: collection.Map[String, Int]): String =
    happened.toVector.sortBy(-_._2).map { case (what, n) => s"$what $n" }.mkString(", ")

  /** What must not be rare. */
  private val Happens = Vector(
    "match",
    "match at a deadline",
    "match of a query that looks back",
    "timer",
    "late event",
    "event delivered twice",
    "idle key",
    "micro-batch without events",
    "task killed",
    "task run twice",
    "task thought dead",
    "executor lost",
    "idle engine",
    "driver killed",
    "restart",
    "snapshot"
  )

  /** More than a task has. */
  private val Steps = 16

  private def report(s: Schedule): String = {
    val small = smallest(s)(Verdict.of(_, new Bug.None).isInstanceOf[Verdict.Disagrees])
    val why = Verdict.of(small, new Bug.None) match {
      case Verdict.Disagrees(_, why) => why
      case _                         => "it does not fail every time"
    }
    s"${small.show}\n$why\nCER_SIMULATION=$small make test-scala MODULE=spark ARGS='*SimulationSuite'"
  }

  /** The schedule with as many parts taken out as possible, so that it still fails. */
  @tailrec private def smallest(s: Schedule)(fails: Schedule => Boolean): Schedule = s.smaller.find(fails) match {
    case Some(next) => smallest(next)(fails)
    case None       => s
  }
}
