package sparkcer.internal.simulation

import java.nio.ByteBuffer

import scala.util.Random

import sparkcer.internal.prepare.Event
import sparkcer.internal.stream.{Bucket, EngineCache, LogHead, Piece, Processor, Snapshot}

/** A query by itself in a simulated Spark. */
final class SimulatedQuery(schedule: Schedule, bug: Bug = new Bug.None, crashAt: Option[Int] = None)
    extends SimulatedSpark(schedule, bug, crashAt) {
  type Sent = Event

  private val world = schedule.world
  private val plan = world.plan

  protected def newProcessor(executor: EngineCache): Processor =
    new Processor(plan, world.oneTask, schedule.cacheBytes) {
      override protected def cache: EngineCache = executor
    }

  protected def oneTask: Boolean = world.oneTask
  protected def sent(event: Int): Either[World.LeftOut, Vector[Event]] = world.pick(event).map(Vector(_))
  protected def keyOf(row: Event): Array[Byte] = row.key
  protected def tally(numbers: Array[Long]): Event = SimulatedQuery.tally(numbers)
  protected def visit(bucket: Int): Option[Event] = None
  protected def isEmpty(pieces: Vector[Array[Byte]]): Boolean = Bucket.load(plan, pieces, LogHead.Empty).isEmpty

  private val absence = new AbsenceHappened(world, happened)

  override protected def returned(row: ByteBuffer, events: Vector[Int], isOfEarlierRun: Int => Boolean): Unit =
    absence.returned(row, events, isOfEarlierRun)

  override protected def after(rng: Random): Unit = if (plan.stream.snapshots && rng.nextInt(3) == 0) snapshot()

  /** A snapshot has the matches that came out and ended in the last window before the latest event that was read. */
  private def snapshot(): Unit = {
    val found = committed.flatMap(_.logs).flatMap { case (b, log) =>
      Snapshot.found(Snapshot.planOf(plan), log.iterator.map { case (n, bytes) => Piece(b, n, bytes) }).toVector
    }
    val (matches, times) = found.partition(_.row != null)
    times.map(_.latest).maxOption.foreach { last =>
      happened("snapshot") += 1
      val from = plan.window.clock.bound(last, plan.window.size)
      val expected = rows.filter(world.endOf(_) >= from).sorted
      val shown = matches.map(m => ByteBuffer.wrap(m.row)).filter(world.endOf(_) >= from).sorted
      if (shown != expected.toVector)
        throw new Wrong(s"a snapshot has ${shown.length} matches, and ${expected.length} came out")
      if (shown.nonEmpty) absence.snapshot()
    }
  }

  protected def mayBeLate(i: Int, latestBefore: Option[Long], deliveredBefore: Vector[Int]): Boolean = {
    val e = world.pick(i).toOption.get
    def ofKey = deliveredBefore.flatMap(world.pick(_).toOption).filter(o => java.util.Arrays.equals(o.key, e.key))
    if (!schedule.watermarked) ofKey.exists(o => o.time > e.time || o.timed && e.timed && o.clock > e.clock)
    else if (schedule.chained) false
    else if (schedule.inputs > 1) e.time < Processor.toMicros(now)
    else latestBefore.exists(l => e.time < (l + 1) * 1000 - schedule.delayOf(0) * 1000)
  }
}

object SimulatedQuery {

  /** The row of numbers that a micro-batch has beside its events, see [[sparkcer.internal.prepare.Tally]]. */
  def tally(numbers: Array[Long]): Event = Event(Array.empty, 0, 0, timed = true, 0, 0, 0, null, null, numbers)
}
