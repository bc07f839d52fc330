package sparkcer.internal.simulation

import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.Murmur3HashFunction
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{ExpiredTimerInfo, OutputMode, TimeMode, TimerValues}
import org.apache.spark.sql.types.BinaryType

import sparkcer.internal.prepare.{Event, Payload}
import sparkcer.internal.stream.{Bucket, BucketLog, BucketOf, EngineCache, LogHead, Piece, Processor, Snapshot}
import sparkcer.internal.stream.StreamOutput

/** What a schedule did wrong. */
final class Wrong(what: String) extends RuntimeException(what)

/** A stream in one thread: the driver with its offsets, watermark and commits, executors with their caches of engines,
  * tasks that are killed, run twice or run long after they were thought dead. The code under test is that of a task:
  * [[sparkcer.internal.stream.Processor]] and all that it uses.
  *
  * It goes by what Spark does, see TransformWithStateExec, TimerStateImpl and WatermarkTracker: state is committed by
  * version, and a task starts from the version of the micro-batch before; the watermark of a micro-batch comes from the
  * events before it, and is that of the slowest input; timers fire after the events of the micro-batch.
  *
  * @param bug
  *   one that is planted
  * @param crashAt
  *   each task is killed once, before this of the things that it does with the state store
  */
final class SimulatedSpark(schedule: Schedule, bug: Bug = new Bug.None, crashAt: Option[Int] = None) {
  private val world = schedule.world
  private val plan = world.plan
  private val ids = BucketOf.ids(schedule.buckets)
  private val partitions = schedule.buckets
  private val conf = new SQLConf
  conf.setConfString("spark.sql.shuffle.partitions", partitions.toString)

  /** The clock of all executors, in nanoseconds. */
  private var clock = 0L
  private val executors = Array.fill(3)(bug.newCache(() => clock))
  private var run = UUID.nameUUIDFromBytes("0".getBytes)
  private var runs = 0

  /** Whether timers at the watermark fire, as in Spark 4.2 and later, or only those before it. */
  private var firesAtWatermark = true

  private var committed: Vector[Version] = Vector.fill(partitions)(Version.Empty)

  /** The watermark of the micro-batch before and of this one, and for each input the largest time, in milliseconds. */
  private var (before, now) = (0L, 0L)
  private val latest = Array.fill(schedule.inputs)(Option.empty[Long])

  /** Behind another stateful operator: what it holds back. */
  private var upstream = Vector.empty[Int]

  /** What came out of committed micro-batches. */
  val rows: mutable.ArrayBuffer[ByteBuffer] = mutable.ArrayBuffer.empty
  val late: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  def lateRows: mutable.ArrayBuffer[ByteBuffer] =
    late.flatMap(world.pick(_).toOption).map(e => ByteBuffer.wrap(shown(e)))

  /** How many rows there were after each delivery of events. */
  val perStep: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  val delivered: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  private val numbers = mutable.Map.empty[String, Long].withDefaultValue(0L)

  /** How often what has happened. */
  val happened: mutable.Map[String, Int] = mutable.Map.empty[String, Int].withDefaultValue(0)

  private val eventOf: Map[ByteBuffer, Int] =
    (0 until world.size).flatMap(i => world.pick(i).toOption.map(e => ByteBuffer.wrap(shown(e)) -> i)).toMap

  private def shown(e: Event): Array[Byte] = e.payload.drop(Payload.Head)

  /** Runs the stream to its end, where the watermark passes everything. Fails at what Spark would not take. */
  def apply(): Unit = SQLConf.withExistingConf(conf) {
    schedule.microBatches.foreach { case (events, rng, calm) => arrive(events, rng, calm) }
    if (schedule.watermarked) {
      latest.indices.foreach(i => latest(i) = Some(SimulatedSpark.Far))
      arrive(Vector.empty, new Random(schedule.seed), calm = true)
    }
  }

  /** Does no bucket keep a key or an event? */
  def isEmpty: Boolean = committed.flatMap(_.logs.values).forall { log =>
    Bucket.load(plan, (log - BucketLog.About).toVector.sortBy(_._1).map(_._2), LogHead.Empty).isEmpty
  }

  /** The sum of a metric over all micro-batches. */
  def count(metric: String): Long = numbers(metric)

  private def watermark: Long =
    if (!schedule.watermarked) now
    else math.max(now, latest.indices.map(i => latest(i).fold(0L)(_ - schedule.delayOf(i))).min)

  /** A micro-batch with events. If they move the watermark and nothing else has arrived, Spark runs another one without
    * events.
    */
  private def arrive(events: Vector[Int], rng: Random, calm: Boolean): Unit = {
    microBatch(events, rng, calm)
    events.foreach { i =>
      val input = schedule.inputOf(i)
      world.timeOf(i).foreach { t =>
        latest(input) = Some(math.max(latest(input).getOrElse(Long.MinValue), Math.floorDiv(t, 1000L)))
      }
    }
    if (watermark > now && (schedule.waits || events.isEmpty)) microBatch(Vector.empty, rng, calm)
    perStep += rows.length
  }

  /** The events that get to the operator in this micro-batch. Another stateful operator before it sends what the
    * watermark has passed, and leaves out what comes behind it.
    */
  private def fromUpstream(events: Vector[Int]): Vector[Int] =
    if (!schedule.chained) events
    else {
      val (passed, waiting) =
        (upstream ++ events.filter(i => world.timeOf(i).forall(_ >= Processor.toMicros(before)))).partition { i =>
          world.timeOf(i).forall(_ < Processor.toMicros(now))
        }
      upstream = waiting
      passed
    }

  private def microBatch(arriving: Vector[Int], rng: Random, calm: Boolean): Unit = {
    before = now
    now = watermark
    clock += rng.nextInt(400) * 1000000L
    executors.foreach { e =>
      val engines = e.size
      e.sweep()
      happened("idle engine") += engines - e.size
    }
    if (arriving.isEmpty) happened("micro-batch without events") += 1
    val events = fromUpstream(arriving)
    val input = rng.shuffle(events.map(world.pick))
    val groups = mutable.Map.empty[Int, Vector[Event]].withDefaultValue(Vector.empty)
    input.foreach(_.foreach(e => groups(bucketOf(e)) :+= e))
    if (events.nonEmpty) groups(Processor.First) :+= SimulatedSpark.tally(input)
    if (events.exists(delivered.contains)) happened("event delivered twice") += 1
    val tasks = rng.shuffle((0 until partitions).toVector).map { p =>
      new Task(p, groups.collect { case (b, all) if partitionOf(b) == p => b -> all }.toMap)
    }
    val outputs = if (calm) tasks.map(t => t -> calmly(t, rng)) else withFaults(tasks, rng)
    committed = committed.indices.map(p => outputs.find(_._1.partition == p).get._2._1).toVector
    take(outputs.flatMap(_._2._2), events)
    if (!calm) afterwards(tasks, rng)
  }

  /** All tasks of a micro-batch, some of which are killed and start again, or run twice. If the driver is killed before
    * it knows that all are done, the micro-batch runs again in a new run.
    */
  private def withFaults(tasks: Vector[Task], rng: Random): Vector[(Task, (Version, Vector[StreamOutput]))] = {
    val done = tasks.map(t => t -> once(t, rng))
    if (rng.nextInt(8) != 0) done
    else {
      happened("driver killed") += 1
      restart(rng)
      tasks.map(t => t -> calmly(t, rng))
    }
  }

  private def calmly(task: Task, rng: Random) = task(executors(rng.nextInt(executors.length)), Fuse.none)

  private def once(task: Task, rng: Random): (Version, Vector[StreamOutput]) = {
    def executor = executors(rng.nextInt(executors.length))
    crashAt.foreach(untilKilled(task, executor, _))
    while (rng.nextInt(3) == 0) untilKilled(task, executor, rng.nextInt(12))
    val first = task(executor, Fuse.none)
    if (rng.nextInt(6) != 0) first
    else {
      // Another attempt, of which Spark does not know that it is one too many. Either of them is committed.
      happened("task run twice") += 1
      val second = task(executor, Fuse.none)
      if (SimulatedSpark.rowsOf(first._2) != SimulatedSpark.rowsOf(second._2))
        throw new Wrong("two attempts of a task gave different rows")
      (if (rng.nextBoolean()) first._1 else second._1, first._2)
    }
  }

  /** An attempt that is killed at a step, or after the last one. */
  private def untilKilled(task: Task, executor: EngineCache, step: Int): Unit =
    try task(executor, new Fuse(step)): Unit
    catch { case _: Crash => happened("task killed") += 1 }

  /** Between two micro-batches: attempts of the last one that were thought dead, lost executors, restarts, snapshots.
    */
  private def afterwards(tasks: Vector[Task], rng: Random): Unit = {
    def one[A](some: Seq[A]): A = some(rng.nextInt(some.length))
    if (rng.nextInt(6) == 0) {
      happened("task thought dead") += 1
      untilKilled(one(tasks), one(executors.toVector), rng.nextInt(30))
    }
    if (rng.nextInt(8) == 0) {
      happened("executor lost") += 1
      executors(rng.nextInt(executors.length)) = bug.newCache(() => clock)
    }
    if (rng.nextInt(8) == 0) restart(rng)
    if (plan.stream.snapshots && rng.nextInt(3) == 0) snapshot()
  }

  private def restart(rng: Random): Unit = {
    happened("restart") += 1
    runs += 1
    run = UUID.nameUUIDFromBytes(runs.toString.getBytes)
    firesAtWatermark = rng.nextBoolean()
  }

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
    }
  }

  /** Takes what a micro-batch returned. */
  private def take(outputs: Vector[StreamOutput], events: Vector[Int]): Unit = {
    val (latestBefore, deliveredBefore) = (latest.flatten.maxOption, delivered.toVector)
    delivered ++= events
    outputs.foreach { o =>
      if (o.row != null) {
        if (o.end != null && !schedule.chained && DateTimeUtils.fromJavaTimestamp(o.end) <= before * 1000)
          throw new Wrong("a row is not after the watermark of the micro-batch before")
        happened("match") += 1
        rows += ByteBuffer.wrap(o.row)
      } else if (o.late != null) {
        val i = eventOf(ByteBuffer.wrap(o.late))
        if (!mayBeLate(i, latestBefore, deliveredBefore)) throw new Wrong(s"event $i is not late")
        happened("late event") += 1
        late += i
      } else
        o.counts.productElementNames.zip(o.counts.productIterator).foreach {
          case (name, n: Long) => numbers(name) += n; case _ => ()
        }
    }
  }

  private def mayBeLate(i: Int, latestBefore: Option[Long], deliveredBefore: Vector[Int]): Boolean = {
    val e = world.pick(i).toOption.get
    def ofKey = deliveredBefore.flatMap(world.pick(_).toOption).filter(o => java.util.Arrays.equals(o.key, e.key))
    if (!schedule.watermarked) ofKey.exists(o => o.time > e.time || o.timed && e.timed && o.clock > e.clock)
    else if (schedule.chained) false
    else if (schedule.inputs > 1) e.time < Processor.toMicros(now)
    else latestBefore.exists(l => e.time < (l + 1) * 1000 - schedule.delayOf(0) * 1000)
  }

  private def bucketOf(e: Event): Int =
    if (world.oneTask) Processor.First
    else ids(Math.floorMod(Murmur3HashFunction.hash(e.key, BinaryType, 42L).toInt, ids.length))

  private def partitionOf(bucket: Int): Int = math.max(0, ids.indexOf(bucket))

  /** The work of a micro-batch on one partition. */
  final private class Task(val partition: Int, groups: Map[Int, Vector[Event]]) {
    private val (base, mine, last, fires) = (committed(partition), now, before, firesAtWatermark)

    private object Timers extends TimerValues {
      override def getCurrentProcessingTimeInMs(): Long = throw new UnsupportedOperationException
      override def getCurrentWatermarkInMs(): Long =
        if (schedule.watermarked) mine else throw new UnsupportedOperationException
    }

    def apply(executor: EngineCache, fuse: Fuse): (Version, Vector[StreamOutput]) = {
      val handle = new SimulatedHandle(base, run, fuse, bug)
      val processor = new Processor(plan, world.oneTask, schedule.cacheBytes) {
        override protected def cache: EngineCache = executor
      }
      processor.setHandle(handle.spark)
      processor.init(OutputMode.Append(), if (schedule.watermarked) TimeMode.EventTime() else TimeMode.None())
      def in(bucket: Int)(work: => Iterator[StreamOutput]): Vector[StreamOutput] = {
        handle.bucket = Some(bucket)
        val found = work
        handle.bucket = None
        found.toVector
      }
      val ofEvents = groups.toVector.sortBy(_._1).flatMap { case (b, events) =>
        val copies = events.map(e => if (e.payload == null) e else e.copy(payload = e.payload.clone()))
        in(b)(processor.handleInputRows(b, copies.iterator, Timers))
      }
      val expired =
        if (!schedule.watermarked) Vector.empty
        else if (fires) handle.timers.filter { case (t, _) => last < t && t <= mine }
        else handle.timers.filter { case (t, _) => t < mine }
      happened("timer") += expired.length
      val ofTimers = expired.flatMap { case (time, b) =>
        in(b) {
          val info = new ExpiredTimerInfo { override def getExpiryTimeInMs(): Long = time }
          val found = processor.handleExpiredTimer(b, Timers, info)
          handle.fired(time)
          found
        }
      }
      (handle.commit(), ofEvents ++ ofTimers)
    }
  }
}

object SimulatedSpark {

  /** After all events, in milliseconds. */
  val Far = 10000000000L

  /** The row of numbers that a micro-batch has beside its events, see [[sparkcer.internal.prepare.Tally]]. */
  def tally(input: Vector[Either[World.LeftOut, Event]]): Event = {
    val all = new Array[Long](4)
    all(0) = input.length.toLong
    input.foreach(_.left.foreach(l => all(l.place) += 1))
    Event(Array.empty, 0, 0, timed = true, 0, 0, 0, null, null, all)
  }

  private def rowsOf(outputs: Vector[StreamOutput]): Vector[ByteBuffer] =
    outputs.flatMap(o => Option(o.row).orElse(Option(o.late))).map(ByteBuffer.wrap).sorted
}
