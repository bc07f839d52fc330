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

import sparkcer.internal.stream.{
  BucketLog,
  BucketOf,
  BucketProcessor,
  Counts,
  EngineCache,
  LiveBucket,
  Processor,
  StreamOutput
}

/** What a schedule did wrong. */
final class Wrong(what: String) extends RuntimeException(what)

/** A stream in one thread: the driver with its offsets, watermark and commits, executors with their caches of engines,
  * tasks that are killed, run twice or run long after they were thought dead. The code under test is that of a task:
  * [[sparkcer.internal.stream.BucketProcessor]] and all that it uses.
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
abstract class SimulatedSpark(schedule: Schedule, bug: Bug, crashAt: Option[Int]) {

  /** A row before the shuffle: an event, perhaps for some of the rules, or what was counted. */
  type Sent <: AnyRef

  protected def newProcessor(executor: EngineCache): BucketProcessor[Sent, _ <: LiveBucket[Sent]]

  /** Has one bucket all keys? */
  protected def oneTask: Boolean

  /** The rows of an event, or why there are none. Fresh copies: evaluation writes into payloads. */
  protected def sent(event: Int): Either[World.LeftOut, Vector[Sent]]
  protected def keyOf(row: Sent): Array[Byte]
  protected def tally(numbers: Array[Long]): Sent

  /** What the first micro-batch of a run has for a bucket besides. */
  protected def visit(bucket: Int): Option[Sent]

  /** Is it right that an event is late, in a micro-batch before which there were others? */
  protected def mayBeLate(event: Int, latestBefore: Option[Long], deliveredBefore: Vector[Int]): Boolean

  /** Is nothing left in the state of a bucket? */
  protected def isEmpty(pieces: Vector[Array[Byte]]): Boolean

  /** A run ends, and another one begins. */
  protected def restarted(rng: Random): Unit = ()

  /** A row came out of a committed micro-batch with these events.
    *
    * @param isOfEarlierRun
    *   was an event delivered before the last restart?
    */
  protected def returned(row: ByteBuffer, events: Vector[Int], isOfEarlierRun: Int => Boolean): Unit = ()

  /** After a micro-batch in which something may fail. */
  protected def after(rng: Random): Unit = ()

  private val world = schedule.world
  private val ids = BucketOf.ids(schedule.buckets)
  private val partitions = schedule.buckets
  private val conf = new SQLConf
  conf.setConfString("spark.sql.shuffle.partitions", partitions.toString)

  /** The clock of all executors, in nanoseconds. */
  private var clock = 0L
  private val executors = Array.fill(3)(bug.newCache(() => clock))

  /** Had this run no micro-batch yet? */
  private var begins = true
  private var run = UUID.nameUUIDFromBytes("0".getBytes)
  private var runs = 0

  /** Whether timers at the watermark fire, as in Spark 4.2 and later, or only those before it. */
  private var firesAtWatermark = true

  protected var committed: Vector[Version] = Vector.fill(partitions)(Version.Empty)

  /** The watermark of the micro-batch before and of this one, and for each input the largest time, in milliseconds. */
  private var before = 0L
  protected var now = 0L
  private val latest = Array.fill(schedule.inputs)(Option.empty[Long])

  /** Behind another stateful operator: what it holds back. */
  private var upstream = Vector.empty[Int]

  /** What came out of committed micro-batches. */
  val rows: mutable.ArrayBuffer[ByteBuffer] = mutable.ArrayBuffer.empty
  val late: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  def lateRows: mutable.ArrayBuffer[ByteBuffer] = late.flatMap(world.shown(_))

  /** How many rows there were after each delivery of events. */
  val perStep: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  val delivered: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  private val runOf = mutable.Map.empty[Int, Int]
  private val numbers = mutable.Map.empty[String, Long].withDefaultValue(0L)

  /** How often what has happened. */
  val happened: mutable.Map[String, Int] = mutable.Map.empty[String, Int].withDefaultValue(0)

  private val eventOf: Map[ByteBuffer, Int] = (0 until world.size).flatMap(i => world.shown(i).map(_ -> i)).toMap

  /** Runs the stream to its end, where the watermark passes everything. Fails at what Spark would not take. */
  def apply(): Unit = SQLConf.withExistingConf(conf) {
    schedule.microBatches.foreach { case (events, rng, calm) => arrive(events, rng, calm) }
    if (schedule.watermarked) {
      latest.indices.foreach(i => latest(i) = Some(SimulatedSpark.Far))
      arrive(Vector.empty, new Random(schedule.seed), calm = true)
    }
  }

  /** Does no bucket keep a key or an event? */
  def isEmpty: Boolean = logs.forall(isEmpty(_))

  /** The pieces of all buckets. */
  protected def logs: Vector[Vector[Array[Byte]]] =
    committed.flatMap(_.logs.values).map(log => (log - BucketLog.About).toVector.sortBy(_._1).map(_._2))

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
    val shuffled = rng.shuffle(events)
    if (events.exists(delivered.contains)) happened("event delivered twice") += 1
    val tasks = rng.shuffle((0 until partitions).toVector).map(new Task(_, shuffled))
    val outputs = if (calm) tasks.map(t => t -> calmly(t, rng)) else withFaults(tasks, rng)
    committed = committed.indices.map(p => outputs.find(_._1.partition == p).get._2._1).toVector
    take(outputs.flatMap(_._2._2), events)
    begins = false
    happened("micro-batch") += 1
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
    after(rng)
  }

  private def restart(rng: Random): Unit = {
    happened("restart") += 1
    runs += 1
    run = UUID.nameUUIDFromBytes(runs.toString.getBytes)
    firesAtWatermark = rng.nextBoolean()
    begins = true
    restarted(rng)
  }

  /** Takes what a micro-batch returned. */
  private def take(outputs: Vector[StreamOutput], events: Vector[Int]): Unit = {
    val (latestBefore, deliveredBefore) = (latest.flatten.maxOption, delivered.toVector)
    delivered ++= events
    events.foreach(runOf(_) = runs)
    outputs.foreach { o =>
      if (o.row != null) {
        if (o.end != null && !schedule.chained && DateTimeUtils.fromJavaTimestamp(o.end) <= before * 1000)
          throw new Wrong("a row is not after the watermark of the micro-batch before")
        happened("match") += 1
        rows += ByteBuffer.wrap(o.row)
        returned(rows.last, events, runOf.get(_).exists(_ < runs))
      } else if (o.late != null) {
        val i = eventOf(ByteBuffer.wrap(o.late))
        if (!mayBeLate(i, latestBefore, deliveredBefore)) throw new Wrong(s"event $i is not late")
        happened("late event") += 1
        late += i
      } else
        Counts.Names.zip(o.counts).foreach { case (name, n) => numbers(name) += n }
    }
  }

  private def bucketOf(row: Sent): Int =
    if (oneTask) Processor.First
    else ids(Math.floorMod(Murmur3HashFunction.hash(keyOf(row), BinaryType, 42L).toInt, ids.length))

  private def partitionOf(bucket: Int): Int = math.max(0, ids.indexOf(bucket))

  /** The work of a micro-batch on one partition. */
  final private class Task(val partition: Int, events: Vector[Int]) {

    /** The rows of its buckets. They depend on the run: another one may have other rules. */
    private def groups: Vector[(Int, Vector[Sent])] = {
      val input = events.map(sent)
      val counts = if (events.isEmpty) None else Some(Processor.First -> tally(SimulatedSpark.counted(input)))
      val visits = if (begins) ids.toVector.flatMap(b => visit(b).map(b -> _)) else Vector.empty
      val rows = input.flatMap(_.getOrElse(Vector.empty)).map(r => bucketOf(r) -> r) ++ counts ++ visits
      rows.groupMap(_._1)(_._2).filter(g => partitionOf(g._1) == partition).toVector.sortBy(_._1)
    }

    private val (base, mine, last, fires) = (committed(partition), now, before, firesAtWatermark)

    private object Timers extends TimerValues {
      override def getCurrentProcessingTimeInMs(): Long = throw new UnsupportedOperationException
      override def getCurrentWatermarkInMs(): Long =
        if (schedule.watermarked) mine else throw new UnsupportedOperationException
    }

    def apply(executor: EngineCache, fuse: Fuse): (Version, Vector[StreamOutput]) = {
      val handle = new SimulatedHandle(base, run, fuse, bug)
      val processor = newProcessor(executor)
      processor.setHandle(handle.spark)
      processor.init(OutputMode.Append(), if (schedule.watermarked) TimeMode.EventTime() else TimeMode.None())
      def in(bucket: Int)(work: => Iterator[StreamOutput]): Vector[StreamOutput] = {
        handle.bucket = Some(bucket)
        val found = work
        handle.bucket = None
        found.toVector
      }
      val ofEvents = groups.flatMap { case (b, rows) => in(b)(processor.handleInputRows(b, rows.iterator, Timers)) }
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

  /** The numbers of a micro-batch, see [[sparkcer.internal.prepare.Tally]]. */
  def counted(input: Vector[Either[World.LeftOut, Any]]): Array[Long] = {
    val all = new Array[Long](4)
    all(0) = input.length.toLong
    input.foreach(_.left.foreach(l => all(l.place) += 1))
    all
  }

  private def rowsOf(outputs: Vector[StreamOutput]): Vector[ByteBuffer] =
    outputs.flatMap(o => Option(o.row).orElse(Option(o.late))).map(ByteBuffer.wrap).sorted
}
