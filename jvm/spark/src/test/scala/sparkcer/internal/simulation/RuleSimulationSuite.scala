package sparkcer.internal.simulation

import scala.collection.mutable
import scala.concurrent.duration.{Duration, DurationInt}
import scala.util.Random
import scala.util.control.NonFatal

import org.apache.spark.sql.cerbridge.{CerException, CerRuntimeException}

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.testkit.Properties

/** Random sets of rules on random schedules, which come and go with each run of the stream. A rule returns what a batch
  * of it alone returns over the events that were delivered while it was there, and leaves nothing when it goes.
  */
class RuleSimulationSuite extends munit.FunSuite {
  import RuleSimulationSuite._

  override val munitTimeout: Duration = 4.hours

  private val chosen = sys.env.get("CER_RULE_SIMULATION").map(Schedule.read(_).copy(ofRules = true))

  chosen.foreach(s => test(s"schedule $s")(failure(s, new Bug.None, mutable.Map.empty).foreach(fail(_))))

  test("whatever happens to a stream of rules, each rule returns the rows of its batch") {
    assume(chosen.isEmpty, "one schedule is chosen")
    val first = Random.nextInt(1 << 30).toLong
    val happened = mutable.Map.empty[String, Int].withDefaultValue(0)
    (first until first + Schedules).foreach { seed =>
      val schedule = scheduleOf(seed)
      schedule.flatMap(failure(_, new Bug.None, happened)).foreach { why =>
        fail(s"$why\nCER_RULE_SIMULATION=$seed make test-scala MODULE=spark ARGS='*RuleSimulationSuite'")
      }
    }
    println(s"$Schedules schedules of rules: ${happened.toVector.sortBy(-_._2).mkString(", ")}")
    assert(happened("schedule") > Schedules / 4, s"only ${happened("schedule")} schedules had a result")
    Happens.foreach(what => assert(happened(what) > Schedules / 50, s"$what: only ${happened(what)}"))
  }

  for (
    (what, bug) <- Seq(
      "forgotten piece" -> (() => new Bug.ForgottenPiece),
      "skipped visit" -> (() => new Bug.SkippedVisit)
    )
  )
    test(s"a $what is found") {
      assume(chosen.isEmpty, "one schedule is chosen")
      val seeds = Iterator.continually(Random.nextInt(1 << 30).toLong).take(Schedules)
      val none = mutable.Map.empty[String, Int]
      assert(seeds.flatMap(scheduleOf).exists(failure(_, bug(), none).isDefined))
    }
}

object RuleSimulationSuite {
  private val Schedules: Int = if (Properties.Long) 20000 else 300

  /** What must not be rare. */
  private val Happens = Vector("match", "task killed", "driver killed", "restart", "rule added", "rule removed")

  private def scheduleOf(seed: Long): Option[Schedule] =
    try Some(Schedule(seed, ofRules = true))
    catch { case _: CeqlException | _: CerException => None }

  /** What is wrong with a schedule, if anything is. */
  private def failure(schedule: Schedule, bug: Bug, happened: mutable.Map[String, Int]): Option[String] =
    try {
      val stream = new SimulatedRules(schedule, bug)
      stream()
      val why = compared(stream)
      happened("schedule") = happened.getOrElse("schedule", 0) + 1
      stream.happened.foreach { case (what, n) => happened(what) = happened.getOrElse(what, 0) + n }
      why.map(w => s"${stream.worlds.map(_.program.query.text).mkString("\n")}\n${schedule.show}\n$w")
    } catch {
      case e: CerRuntimeException if e.getMessage.contains("CER_TOO_MANY_MATCHES") => None
      case _: CeqlException | _: CerException                                      => None
      case e: Wrong    => Some(s"${schedule.show}\n${e.getMessage}")
      case NonFatal(e) => Some(s"${schedule.show}\n$e\n${e.getStackTrace.take(12).mkString("\n")}")
    }

  /** What a rule ought to return, unless it alone fails because it has too many matches. In a set it returns some. */
  private def rightOf(stream: SimulatedRules, stay: SimulatedRules.Stay, read: Vector[Int]): Option[Vector[String]] =
    try Some(stream.alone(stay.rule, read))
    catch {
      case e: CerRuntimeException if e.key == "CER_TOO_MANY_MATCHES" =>
        stream.happened("truncated") += 1
        None
    }

  private def compared(stream: SimulatedRules): Option[String] = {
    val ofRules = stream.stays.toVector.flatMap { stay =>
      val (from, to) = (stay.from, stay.to)
      val read = stream.delivered.slice(from.delivered, to.fold(Int.MaxValue)(_.delivered)).toVector
      val late = stream.late.slice(from.late, to.fold(Int.MaxValue)(_.late)).toVector
      val found = stream.of(stay.rule, from.rows, to.fold(Int.MaxValue)(_.rows))
      rightOf(stream, stay, read.diff(late)).flatMap { right =>
        val (wrong, missing) = (found.diff(right).length, right.diff(found).length)
        // A rule that goes does not return what it still waited for.
        if (wrong > 0 || missing > 0 && to.isEmpty) Some(s"$stay: $wrong matches are wrong, $missing are missing")
        else None
      }
    }
    ofRules.headOption
      .orElse(if (stream.keepsGone) Some("a rule that is gone has left state") else None)
      .orElse(if (stream.forgets && !stream.isEmpty) Some("keys are left whose window has passed") else None)
  }
}
