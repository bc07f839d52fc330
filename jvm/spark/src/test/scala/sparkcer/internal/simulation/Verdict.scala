package sparkcer.internal.simulation

import scala.util.control.NonFatal

import org.apache.spark.sql.cerbridge.{CerException, CerRuntimeException}

import sparkcer.engine.ceql.CeqlException

/** What came of a schedule. */
sealed trait Verdict
object Verdict {

  /** @param happened how often what has happened on the way */
  final case class Agrees(happened: Map[String, Int]) extends Verdict

  /** The query is refused, or matches too often to list. */
  case object Undecided extends Verdict

  final case class Disagrees(schedule: Schedule, why: String) extends Verdict

  def of(seed: Long, bug: Bug = new Bug.None): Verdict =
    try of(Schedule(seed), bug)
    catch { case _: CeqlException | _: CerException => Undecided }

  def of(schedule: Schedule, bug: Bug): Verdict = of(schedule, new SimulatedQuery(schedule, bug))

  def of(schedule: Schedule, stream: SimulatedQuery): Verdict =
    try {
      stream()
      compared(schedule, stream).fold[Verdict](
        Agrees(stream.happened.toMap + ("idle key" -> stream.count("idle").toInt))
      )(
        Disagrees(schedule, _)
      )
    } catch {
      case e: CerRuntimeException if e.getMessage.contains("CER_TOO_MANY_MATCHES") => Undecided
      case e: Wrong                                                                => Disagrees(schedule, e.getMessage)
      case NonFatal(e) => Disagrees(schedule, s"$e\n${e.getStackTrace.take(12).mkString("\n")}")
    }

  private def compared(schedule: Schedule, stream: SimulatedQuery): Option[String] = {
    val world = schedule.world
    val read = stream.delivered.toVector.diff(stream.late)
    val (right, found) = (world.batch(read), stream.rows.toVector)
    val forgets = schedule.watermarked && world.plan.window.endsInTime && !world.plan.stream.snapshots
    def number(name: String) = stream.count(name)
    Vector(
      (found.sorted == right.sorted) ->
        s"${right.diff(found).length} matches are missing, ${found.diff(right).length} are wrong or come twice",
      (world.program.counts || found.map(world.identityOf).distinct.length == found.length) -> "a match_id comes twice",
      (!forgets || stream.isEmpty) -> "keys are left whose window has passed",
      (number(
        "input"
      ) == stream.delivered.length.toLong) -> s"${number("input")} of ${stream.delivered.length} counted",
      (number("input") == Seq("dropped", "nullKeys", "nullTimes", "events")
        .map(number)
        .sum) -> "input is not its parts",
      (number(
        "late"
      ) == stream.late.length.toLong) -> s"${number("late")} of ${stream.late.length} late events counted",
      (number("matches") == found.length.toLong) -> s"${number("matches")} of ${found.length} matches counted"
    ).collectFirst { case (false, why) => why }
  }
}
