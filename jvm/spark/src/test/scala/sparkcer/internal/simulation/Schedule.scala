package sparkcer.internal.simulation

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import sparkcer.engine.ceql.{Consume, Quantity, Query, SelectList}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Absences, Beginnings, Case, Endings, Generators, Simpler}
import sparkcer.internal.bind.Watermark

/** A query, its events, and all that happens to them on the way through a stream. Everything follows from the seed; to
  * find the cause of a failure, parts can be taken out.
  *
  * @param without
  *   deliveries of events that are left out
  * @param merged
  *   micro-batches that are left out, so that their events come with the next one
  * @param calm
  *   micro-batches in which nothing fails
  * @param ofRules
  *   whether the query is a rule of a set, see [[SimulatedRules]]
  */
final case class Schedule(
    seed: Long,
    without: Set[Int] = Set.empty,
    merged: Set[Int] = Set.empty,
    calm: Set[Int] = Set.empty,
    ofRules: Boolean = false
) {
  private val rng = new Random(seed)

  private val c: Case = Schedule.cases.pureApply(Gen.Parameters.default.withSize(20), Seed(seed))

  /** Milliseconds, for each input. */
  private val delays: Vector[Long] = Vector.fill(if (rng.nextInt(4) == 0) 2 else 1)(1000L * (1 + rng.nextInt(3)))

  val watermarked: Boolean = rng.nextInt(5) != 0 || Schedule.waits(c) || ofRules
  val chained: Boolean = watermarked && delays.length == 1 && rng.nextInt(5) == 0

  val world: World = new World(
    c,
    rng,
    if (watermarked) Some(Watermark(delays.max * 1000, delays.length, chained)) else None,
    idle = rng.nextInt(4) == 0 && !ofRules,
    snapshots = rng.nextInt(3) == 0 && !ofRules,
    ofRules
  )

  /** Another rule over the same events. */
  def rule(number: Int): World = {
    val other = Schedule.cases.pureApply(Gen.Parameters.default.withSize(20), Seed(seed + (number.toLong << 40)))
    val own = Case(other.query, c.events)
    new World(own, rng, world.plan.stream.watermark, ofRules = true, like = Some(world))
  }

  def inputs: Int = delays.length
  def delayOf(input: Int): Long = delays(input)
  def inputOf(event: Int): Int = Math.floorMod(Schedule.mixed(seed, event), inputs)

  /** How many buckets there are. */
  val buckets: Int = if (world.oneTask && !ofRules) 1 else 1 + rng.nextInt(3)

  /** Whether no events arrive before the watermark has moved, so that there is a micro-batch without any. */
  val waits: Boolean = rng.nextBoolean()

  /** The bytes that the engines of an executor may take. */
  val cacheBytes: Option[Long] = if (rng.nextInt(6) == 0) Some(4096L) else None

  /** Events as they are delivered, each with its place in the order of arrival. Some come twice, and some so late that
    * the watermark may have passed them. Without a watermark events come in order, but for some that are late if their
    * key has gone on; where the order of all keys matters, or that of events of one time, all come in order.
    */
  private val deliveries: Vector[(Long, Int)] = {
    val mayBeLate = rng.nextBoolean()
    val mayBeTwice = rng.nextInt(3) == 0
    val strict = !watermarked && (world.ties || world.plan.stream.idle.isDefined || c.query.consumeBy == Consume.Any)
    (0 until world.size).toVector.flatMap { i =>
      val own = new Random(Schedule.mixed(seed, i))
      val slack = if (watermarked) delays(inputOf(i)) * 1000 - 1 else 1L
      def at(late: Boolean): Long = {
        val start = world.timeOf(i).getOrElse(Schedule.near(world, i)) + own.nextLong(slack)
        if (late) start + own.nextInt(8) * 1000000L else start
      }
      def one() = (at(mayBeLate && !strict && own.nextInt(12) == 0), i)
      if (mayBeTwice && !strict && own.nextInt(10) == 0) Vector(one(), one()) else Vector(one())
    }
  }

  /** Where each micro-batch ends in the order of arrival. */
  private val ends: Vector[Long] = {
    val n = 1 + rng.nextInt(12)
    if (deliveries.isEmpty) Vector.fill(n)(0L)
    else Vector.fill(n)(deliveries(rng.nextInt(deliveries.length))._1).sorted
  }

  def steps: Int = ends.length
  def size: Int = deliveries.length

  /** The micro-batches: the events that arrive, and the random numbers for what happens to them. The last one has all
    * that is left.
    */
  def microBatches: Vector[(Vector[Int], Random, Boolean)] = {
    val arriving = deliveries.indices.toVector.filterNot(without).map(deliveries).sorted
    val kept = ends.indices.toVector.filterNot(merged)
    val starts = Long.MinValue +: kept.map(ends)
    val until = kept.map(ends) :+ Long.MaxValue
    starts.zip(until).zip(kept :+ ends.length).map { case ((from, to), step) =>
      val events = arriving.collect {
        case (at, i) if from < at && at <= to || from == Long.MinValue && at == from => i
      }
      (events, new Random(Schedule.mixed(seed, -1 - step)), calm(step))
    }
  }

  /** Schedules that have a part less. */
  def smaller: Iterator[Schedule] =
    (0 to steps).iterator.filterNot(calm).map(i => copy(calm = calm + i)) ++
      (0 until steps).iterator.filterNot(merged).map(i => copy(merged = merged + i)) ++
      (0 until size).iterator.filterNot(without).map(i => copy(without = without + i))

  def show: String = {
    val stream = world.plan.stream
    val options = stream.watermark.toVector ++ stream.idle.map(n => s"idle $n") ++
      (if (stream.snapshots) Vector("snapshots") else Vector.empty) :+ s"$buckets buckets"
    val batches = microBatches.map { case (events, _, isCalm) =>
      val shown = events.map(i => s"$i${world.pick(i).fold(l => s" $l", e => s" at ${e.time - World.Epoch}")}")
      shown.mkString("  ", ", ", if (isCalm) "" else " (with faults)")
    }
    s"${c.query.text}\n${options.mkString(", ")}\n${batches.mkString("\n")}"
  }

  /** One word, see [[Schedule.read]]. */
  override def toString: String = {
    def list(letter: String, some: Set[Int]) =
      if (some.isEmpty) "" else some.toVector.sorted.mkString(s"/$letter", ",", "")
    s"$seed${list("w", without)}${list("m", merged)}${list("c", calm)}"
  }
}

object Schedule {

  /** What [[Schedule.toString]] has written. */
  def read(text: String): Schedule = {
    val parts = text.split('/')
    def list(letter: Char): Set[Int] =
      parts.tail.filter(_.head == letter).flatMap(_.tail.split(',').map(_.toInt)).toSet
    Schedule(parts.head.toLong, list('w'), list('m'), list('c'))
  }

  private val cases: Gen[Case] = for {
    query <- Gen.frequency(
      16 -> Generators.query,
      1 -> Generators.comparing,
      3 -> Generators.repeating,
      3 -> absent,
      5 -> Endings.query,
      3 -> Beginnings.query
    )
    count <- Gen.frequency(5 -> false, 1 -> true)
    limit <- Gen.frequency(6 -> None, 1 -> Gen.choose(1, 3).map(n => Some(Quantity.Number(BigDecimal(n)))))
    length <- Gen.frequency(1 -> Gen.choose(0, 4), 4 -> Gen.choose(5, 12), 2 -> Gen.choose(13, 40))
    events <- Generators.streamOf(length)
  } yield {
    val select = if (count) query.select.copy(list = SelectList.Count) else query.select
    Case(Simpler.valid(query.copy(select = select, limit = if (count) None else limit)("")), events)
  }

  /** One that is not refused. */
  private def absent: Gen[Query] = Absences.query.retryUntil(q => Case(q, Vector.empty).program.isDefined, 100)

  /** Do matches of the query wait for a deadline? */
  private def waits(c: Case): Boolean = Program.compile(c.query).waits.nonEmpty

  private def mixed(seed: Long, i: Int): Int = new Random(seed ^ (i.toLong << 32) ^ i).nextInt()

  /** A time for an event that has none. */
  private def near(world: World, i: Int): Long =
    (i to 0 by -1).iterator
      .flatMap(world.timeOf)
      .nextOption()
      .orElse((0 until world.size).flatMap(world.timeOf(_)).headOption)
      .getOrElse(0L)
}
