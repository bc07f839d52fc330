package sparkcer.internal.testkit

import java.nio.ByteBuffer

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.ceql.{Consume, Quantity, Window}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Case, Event => TestEvent, Harness, Value}
import sparkcer.internal.batch.{Batch, Spread}
import sparkcer.internal.bind.{Binding, BoundComparisons, Clock, ComparisonBinding, Inputs, Options, ParameterValues}
import sparkcer.internal.bind.{Plan, PlannedQuery, PlannedStream, PlannedWindow, StateMeaning, Watermark}
import sparkcer.internal.output.MatchSchema
import sparkcer.internal.prepare.{Event, Payload}
import sparkcer.internal.stream.{Bucket, BucketOutput, FirstFormat, LogHead}

/** A plan and its events, as [[Cer]] would make them of a query and a DataFrame.
  *
  * The time column is `t` where the window is about it, and then an event without it is left out; else the position.
  * Times differ, or (`ties`) may be the same and a column decides the order. Events may be equal in all they show
  * (`twins`), or so large that the log is soon replaced by a full piece (`fat`).
  */
final class BucketWorld(c: Case, rng: Random, delay: Option[Long]) {
  private val text = c.query.text
  val program: Program = Program(text)
  private val query = program.query
  private val ties = rng.nextInt(3) == 0
  private val twins = rng.nextInt(4) == 0
  private val fat = rng.nextInt(8) == 0

  /** In millionths. */
  private val window: Option[BigDecimal] = query.within.collect {
    case Window.Attribute(Quantity.Number(n), _) => n * 1000000
    case Window.Duration(micros)                 => BigDecimal(micros)
  }
  private val windowIsTime = window.isDefined && rng.nextInt(4) != 0

  val plan: Plan = {
    val key = StructType(query.partitionBy.map(k => StructField(k.value, StringType)))
    val event = StructType.fromDDL("id BIGINT NOT NULL, note STRING, p INT, k STRING, t INT, ts TIMESTAMP")
    val comparisons =
      if (program.comparisons.isEmpty) BoundComparisons.None else BucketWorld.comparisons(program, event)
    Plan(
      PlannedQuery(text, comparisons = comparisons),
      MatchSchema(key, LongType, event, program.columns, program.counts),
      Clock(LongType),
      PlannedWindow(Clock(LongType), window, windowIsTime || !program.countsEvents && window.isEmpty),
      maxMatchesPerEvent = 200,
      PlannedStream(
        delay.map(Watermark(_, inputs = 1, chained = false)),
        idle = None,
        lateRows = rng.nextBoolean(),
        snapshots = false,
        operator = "o",
        metrics = "m",
        StateMeaning("by t", "type='type'", program.digest, FirstFormat("type='type'", program.asFirst))
      )
    )
  }

  /** Whether one bucket has all keys. */
  val oneTask: Boolean = query.partitionBy.isEmpty || query.consumeBy == Consume.Any

  private val events: Map[Int, Event] = c.events.indices.flatMap(i => event(c.events(i), i).map(i -> _)).toMap

  /** Of the events that count, in order. */
  val positions: Vector[Int] = events.keys.toVector.sorted

  /** A fresh copy: evaluation writes into payloads. */
  def pick(i: Int): Event = events(i).copy(payload = events(i).payload.clone())

  /** Positions in an order of arrival that the delay, less two milliseconds, allows. */
  def arrival(rng: Random): Vector[Int] = {
    val delay = plan.stream.watermark.fold(1L)(_.delay)
    positions.map(i => (events(i).time + rng.nextLong(math.max(1, delay - 2000)), rng.nextInt(), i)).sorted.map(_._3)
  }

  /** The rows of a batch. */
  def batch: Vector[ByteBuffer] = {
    val sorted =
      if (oneTask) positions
      else positions.sortBy(i => ByteBuffer.wrap(events(i).key)) // stable: in order inside each key
    val spread = if (oneTask) Spread.OneTask("of the test") else Spread.ByKey(inTime = false)
    new Batch(plan, spread)(sorted.map(pick).iterator).map(r => ByteBuffer.wrap(r.copy().getBytes)).toVector
  }

  def identities(rows: Vector[ByteBuffer]): Vector[String] = rows.map { bytes =>
    val row = new UnsafeRow(plan.schema.row.length)
    row.pointTo(bytes.array, bytes.array.length)
    row.getUTF8String(0).toString
  }

  private def event(e: TestEvent, i: Int): Option[Event] = {
    val key = query.partitionBy.map(a => e(a.value))
    val words = Harness.mask(program, e)
    val clock = e("t") match {
      case Value.Num(n) => Some(BucketWorld.Epoch + (n * 1000000).toLong)
      case _            => None
    }
    val time = if (windowIsTime) clock.map(t => if (ties) t else t + i) else Some(BucketWorld.Epoch + i * 1000000L)
    val dropped = program.droppable && words.forall(_ == 0)
    if (dropped || key.contains(Value.Null)) None
    else
      time.map { t =>
        val at = if (windowIsTime) time else clock
        val more = if (words.length > 1) words.tail else null
        val row = bytes(key.map(_.show))
        Event(row, t, at.getOrElse(0), at.isDefined, i.toLong, 0, words(0), more, payload(t, i, e))
      }
  }

  private def bytes(texts: Vector[String]): Array[Byte] = {
    val out = new UnsafeRowWriter(texts.length)
    out.reset()
    out.zeroOutNullBytes()
    texts.zipWithIndex.foreach { case (s, i) => out.write(i, UTF8String.fromString(s)) }
    out.getRow.getBytes.take(out.getRow.getSizeInBytes)
  }

  private def payload(time: Long, i: Int, e: TestEvent): Array[Byte] = {
    val out = new UnsafeRowWriter(6)
    out.reset()
    out.zeroOutNullBytes()
    out.write(0, if (twins) 0L else i.toLong)
    out.write(1, UTF8String.fromString("n" * (if (fat) 8000 else 1)))
    e("p") match {
      case Value.Num(n) => out.write(2, n.toInt)
      case _            => out.setNullAt(2)
    }
    e("k") match {
      case Value.Null => out.setNullAt(3)
      case other      => out.write(3, UTF8String.fromString(other.show))
    }
    e("t") match {
      case Value.Num(n) => out.write(4, n.toInt)
      case _            => out.setNullAt(4)
    }
    out.write(5, time)
    val all = new Array[Byte](Payload.Head) ++ out.getRow.getBytes.take(out.getRow.getSizeInBytes)
    Platform.putLong(all, Platform.BYTE_ARRAY_OFFSET.toLong, time)
    all
  }
}

object BucketWorld {

  /** Long after 0, where Spark's watermark starts. */
  private val Epoch = 1000000000000L

  private lazy val columns =
    SparkSuite.spark.range(0).selectExpr("'A' AS type", "now() AS ts", "1 AS t", "1 AS p", "'x' AS k")

  /** What the query compares, over rows with these columns. */
  private def comparisons(program: Program, event: StructType): BoundComparisons = {
    val options = Options(time = Some("ts"))
    val inputs = Inputs.merge(program.query, Map("S" -> columns, "T" -> columns), options)
    val params = ParameterValues(inputs, program.query, Map.empty)
    new ComparisonBinding(new Binding(inputs, program, options, params)).over(event)
  }
}

/** Runs the buckets of a world as [[Processor]] does, micro-batch by micro-batch. After each, what changed is saved,
  * and at times a bucket is loaded from what was saved.
  */
final class BucketRun(world: BucketWorld, rng: Random) {
  private val plan = world.plan
  private val watermarked = plan.stream.watermark
  private val buckets = Array.fill(if (world.oneTask) 1 else 2)(new Bucket(plan))
  private val logs = Array.fill(buckets.length)(Vector.empty[Array[Byte]])
  private val found = mutable.ArrayBuffer.empty[ByteBuffer]

  /** Spark's watermark of this micro-batch and of the one before, and the next one, in milliseconds. */
  private var (before, now, next) = (0L, 0L, 0L)
  var late = 0L

  /** Rows that Spark would not take: their end is not after the watermark of the micro-batch before. */
  var tooOld = 0L

  def rows: Vector[ByteBuffer] = found.toVector
  def isEmpty: Boolean = buckets.forall(_.isEmpty)

  def microBatch(events: Vector[Event]): Unit = {
    before = now
    now = next
    events.groupBy(bucketOf).foreach { case (b, mine) => work(b)(_.read(mine.toArray, watermark, _)) }
    buckets.indices.foreach { b =>
      // A timer in whole milliseconds. Spark wakes those after the watermark before, up to this one.
      val timer = buckets(b).wakeAt.map(t => -Math.floorDiv(-t, 1000L) - 1)
      if (watermarked.isDefined && timer.exists(t => before < t && t <= now))
        work(b)(_.advance(watermark, _))
    }
    watermarked.foreach(w => events.foreach(e => next = math.max(next, Math.floorDiv(e.time - w.delay, 1000L))))
  }

  /** The watermark moves beyond everything. */
  def end(): Unit = {
    next = Long.MaxValue / 4000
    microBatch(Vector.empty)
  }

  private def watermark = if (watermarked.isEmpty) Long.MinValue else (now + 1) * 1000 + 1

  private def bucketOf(e: Event): Int = Math.floorMod(java.util.Arrays.hashCode(e.key), buckets.length)

  private def work(b: Int)(action: (Bucket, BucketOutput) => Unit): Unit = {
    val out = new BucketOutput(plan.stream.lateRows, watermarked.isDefined)
    action(buckets(b), out)
    late += out.counts.late
    out.result().filter(_.row != null).foreach { r =>
      if (r.end != null && DateTimeUtils.fromJavaTimestamp(r.end) <= before * 1000) tooOld += 1
      found += ByteBuffer.wrap(r.row)
    }
    val (piece, full) = buckets(b).save()
    logs(b) = if (full) Vector(piece) else logs(b) :+ piece
    buckets(b).head = LogHead(buckets(b).head.piece + 1, rng.nextLong())
    if (rng.nextInt(3) == 0) buckets(b) = Bucket.load(plan, logs(b), buckets(b).head)
  }
}
