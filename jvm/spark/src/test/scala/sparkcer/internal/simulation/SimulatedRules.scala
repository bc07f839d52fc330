package sparkcer.internal.simulation

import java.nio.ByteBuffer

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.LongType
import org.apache.spark.unsafe.Platform

import sparkcer.engine.automaton.EventCondition
import sparkcer.engine.ceql.{CeqlException, Consume}
import sparkcer.internal.rules.{
  ForTasks,
  RuleBucket,
  RuleEvent,
  RuleOutput,
  RulePlan,
  RuleProcessor,
  RuleSetPlan,
  RuleWriter
}
import sparkcer.internal.stream.{EngineCache, LogHead, Processor}

/** A set of rules in a simulated Spark. With each run some rules come and others go; those with the first numbers stay.
  */
final class SimulatedRules(schedule: Schedule, bug: Bug = new Bug.None) extends SimulatedSpark(schedule, bug, None) {
  import SimulatedRules._

  type Sent = RuleEvent

  /** Each rule as it is alone. */
  val worlds: Vector[World] = {
    val others = Iterator.from(1).flatMap { i =>
      try Some(schedule.rule(i))
      catch { case _: CeqlException | _: CerException => None } // a query that is refused
    }
    (Iterator.single(schedule.world) ++ others).filter(_.program.query.consumeBy != Consume.Any).take(Rules).toVector
  }

  private def isFixed(rule: Int): Boolean = rule < 2

  private def progress = Progress(happened("micro-batch"), delivered.length, late.length, rows.length)

  val stays: mutable.ArrayBuffer[Stay] =
    mutable.ArrayBuffer.from(
      worlds.indices.filter(r => isFixed(r) || r % 2 == 0).map(Stay(_, Progress(0, 0, 0, 0), None))
    )

  private def present: Vector[Int] = stays.filter(_.to.isEmpty).map(_.rule).toVector

  private var set: RuleSetPlan = planOf(present)

  private def keyNames(rule: Int): Vector[String] = worlds(rule).program.query.partitionBy.map(_.value)

  private def planOf(rules: Vector[Int]): RuleSetPlan = {
    val groups = rules.map(keyNames).distinct
    val conditions = numbersOf(rules)
    val plans = rules.map { r =>
      val (program, plan) = (worlds(r).program, worlds(r).plan)
      RulePlan(
        s"r$r",
        plan,
        groups.indexOf(keyNames(r)),
        program.conditions.map(conditions).toVector,
        if (program.droppable) RulePlan.Meeting else RulePlan.All,
        plan.schema.event.indices.toVector,
        plan.query.comparisons,
        isUnlimited = program.query.limit.isEmpty && !program.counts,
        until = None,
        RuleOutput(None, None)
      )
    }
    RuleSetPlan(plans, groups.length, schedule.world.plan.schema.event, LongType, "UTC", lateRows = true)
  }

  private def numbersOf(rules: Vector[Int]): Map[EventCondition, Int] =
    rules.flatMap(worlds(_).program.conditions).distinct.zipWithIndex.toMap

  override protected def restarted(rng: Random): Unit = {
    worlds.indices.filterNot(isFixed).filter(_ => rng.nextInt(3) == 0).foreach { r =>
      val here = stays.indexWhere(s => s.rule == r && s.to.isEmpty)
      // There was no micro-batch without it.
      val justGone = stays.indexWhere(s => s.rule == r && s.to.exists(_.batches == progress.batches))
      happened(if (here < 0) "rule added" else "rule removed") += 1
      if (here >= 0) stays(here) = stays(here).copy(to = Some(progress))
      else if (justGone >= 0) stays(justGone) = stays(justGone).copy(to = None)
      else stays += Stay(r, progress, None)
    }
    set = planOf(rng.shuffle(present))
  }

  protected def newProcessor(executor: EngineCache): RuleProcessor =
    new RuleProcessor(new ForTasks(new Here(set)), schedule.world.plan.stream, schedule.cacheBytes) {
      override protected def cache: EngineCache = executor
    }

  protected def oneTask: Boolean = false

  /** As [[sparkcer.internal.rules.SentEvents]] sends it: once to each group that has a use for it. */
  protected def sent(event: Int): Either[World.LeftOut, Vector[RuleEvent]] = {
    val rules = set.rules.map(r => r -> worlds(r.id.drop(1).toInt).pick(event))
    val copies = rules.collect { case (r, Right(e)) => (r, e) }.groupBy(_._1.group).toVector.sortBy(_._1).map {
      case (group, own) =>
        val e = own.head._2
        val met = own.flatMap { case (r, masked) =>
          val words = masked.mask +: Option(masked.more).fold(Vector.empty[Long])(_.toVector)
          r.conditions.zipWithIndex.collect { case (c, bit) if (words(bit >> 6) >> bit & 1) == 1 => c }
        }.distinct
        val bytes = new Array[Byte](4 * met.length)
        met.zipWithIndex.foreach { case (c, i) => Platform.putInt(bytes, Platform.BYTE_ARRAY_OFFSET + 4L * i, c) }
        RuleEvent(group, e.key, e.time, e.order, e.arrival, bytes, e.payload, first = false)
    }
    if (copies.isEmpty) Left(rules.flatMap(_._2.left.toOption).head)
    else Right(copies.head.copy(first = true) +: copies.tail)
  }

  protected def keyOf(row: RuleEvent): Array[Byte] = row.key
  protected def tally(numbers: Array[Long]): RuleEvent =
    RuleEvent(0, Array.empty, 0, 0, 0, Array.empty, Array.empty, first = false, numbers)
  protected def visit(bucket: Int): Option[RuleEvent] =
    if (bug.skipsVisits) None else Some(tally(Array.empty))

  protected def mayBeLate(event: Int, latestBefore: Option[Long], deliveredBefore: Vector[Int]): Boolean =
    !schedule.chained && worlds.head.timeOf(event).exists(_ < Processor.toMicros(now))

  protected def isEmpty(pieces: Vector[Array[Byte]]): Boolean = RuleBucket.load(set, pieces, LogHead.Empty).isEmpty

  /** Is there a section in the log of a rule that is not in the set? */
  def keepsGone: Boolean = {
    val gone = worlds.indices.toVector.diff(present)
    gone.nonEmpty && logs.exists(log => !RuleBucket.load(planOf(gone), log, LogHead.Empty).isEmpty)
  }

  /** Do all rules that are there forget their keys in time? */
  def forgets: Boolean = present.forall(worlds(_).plan.window.endsInTime)

  /** The rows of a rule in a stretch of all, as text. */
  def of(rule: Int, from: Int, to: Int): Vector[String] =
    rows.slice(from, to).toVector.map(rowOf).filter(_.getUTF8String(0).toString == s"r$rule").map { row =>
      if (worlds(rule).program.counts) s"${row.getLong(4)} ${row.getLong(7)}" else row.getUTF8String(1).toString
    }

  /** The same of a batch of the rule alone. */
  def alone(rule: Int, events: Vector[Int]): Vector[String] = {
    val world = worlds(rule)
    world.batch(events).map(b => if (world.program.counts) world.countOf(b) else world.identityOf(b))
  }

  private def rowOf(bytes: ByteBuffer): UnsafeRow = {
    val row = new UnsafeRow(RuleWriter.schema(set).length)
    row.pointTo(bytes.array, bytes.array.length)
    row
  }
}

object SimulatedRules {

  /** How many micro-batches there were, how many events were delivered, how many of them were late, and how many rows
    * came out.
    */
  final case class Progress(batches: Int, delivered: Int, late: Int, rows: Int)

  /** From when to when a rule was there. */
  final case class Stay(rule: Int, from: Progress, to: Option[Progress])

  /** How many rules come and go. */
  private val Rules = 6

  /** What is sent to executors, where there are none. */
  final private class Here(value: RuleSetPlan) extends Broadcast[AnyRef](0) {
    override protected def getValue(): AnyRef = value
    override protected def doUnpersist(blocking: Boolean): Unit = ()
    override protected def doDestroy(blocking: Boolean): Unit = ()
  }
}
