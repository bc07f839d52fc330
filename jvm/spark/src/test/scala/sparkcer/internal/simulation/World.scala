package sparkcer.internal.simulation

import java.nio.ByteBuffer

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.ceql.{Consume, Quantity, Window}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Case, Event => TestEvent, Harness, Valuations, Value}
import sparkcer.internal.batch.{Batch, Spread}
import sparkcer.internal.bind.{Binding, BoundComparisons, Clock, ComparisonBinding, Inputs, Options, ParameterValues}
import sparkcer.internal.bind.{Plan, PlannedQuery, PlannedStream, PlannedWindow, StateMeaning, Watermark}
import sparkcer.internal.output.MatchSchema
import sparkcer.internal.prepare.{Event, Payload}
import sparkcer.internal.stream.FirstFormat
import sparkcer.internal.testkit.SparkSuite

/** A plan and its events, as [[sparkcer.Cer]] would make them of a query and a DataFrame.
  *
  * The time column is `t` if the window is about it, and then an event without it is left out; otherwise it is the
  * position. Times differ, or (`ties`) may be the same, and a column decides the order. Events may be so large that the
  * log is soon replaced by a full piece (`fat`).
  *
  * @param watermark
  *   of the stream
  * @param idle
  *   whether keys are dropped that are without events for so long that none can come any more
  * @param ofRules
  *   whether the query is a rule of a set: then the time column is `t`, and times are whole milliseconds, as the
  *   watermark is, so that an event is late for all rules or for none
  * @param like
  *   another rule of the set, with the same events
  */
final class World(
    c: Case,
    rng: Random,
    watermark: Option[Watermark],
    idle: Boolean = false,
    snapshots: Boolean = false,
    ofRules: Boolean = false,
    like: Option[World] = None
) {
  private val text = c.query.text
  val program: Program = Program(text)
  private val query = program.query
  val ties: Boolean = like.fold(rng.nextInt(3) == 0)(_.ties)
  private val fat: Boolean = like.fold(rng.nextInt(8) == 0)(_.fat)

  /** In millionths. */
  private val window: Option[BigDecimal] = query.within.collect {
    case Window.Attribute(Quantity.Number(n), _) => n * 1000000
    case Window.Duration(micros)                 => BigDecimal(micros)
  }
  private val windowIsTime = window.isDefined && (ofRules || rng.nextInt(4) != 0) || program.waits.nonEmpty
  private val timeIsT = windowIsTime || ofRules

  /** For how long matches wait, in millionths. */
  private val waits: Vector[Long] = program.waits.map(w => (Valuations.sizeOf(w)._2 * 1000000).toLong)

  /** How far a query looks back, in millionths. */
  private val looksBack: Vector[BigDecimal] = program.looksBack.map(w => Valuations.sizeOf(w)._2 * 1000000)

  /** Whether one bucket has all keys. */
  val oneTask: Boolean = query.partitionBy.isEmpty || query.consumeBy == Consume.Any

  private val prepared: Vector[Either[World.LeftOut, Event]] = c.events.indices.map(i => event(c.events(i), i)).toVector

  /** An event as it is before the shuffle, or why it does not get so far. A fresh copy: evaluation writes into
    * payloads.
    */
  def pick(i: Int): Either[World.LeftOut, Event] = prepared(i).map(e => e.copy(payload = e.payload.clone()))

  /** The time of an event, which moves the watermark even if the event is left out. */
  def timeOf(i: Int): Option[Long] = time(c.events(i), i)

  def size: Int = prepared.length

  /** What a late event shows, if it has a time. */
  def shown(i: Int): Option[ByteBuffer] =
    timeOf(i).map(t => ByteBuffer.wrap(payload(t, i, c.events(i)).drop(Payload.Head)))

  val plan: Plan = {
    val key = StructType(query.partitionBy.map(k => StructField(k.value, StringType)))
    val event = StructType.fromDDL("id BIGINT NOT NULL, note STRING, p INT, k STRING, t INT, ts TIMESTAMP")
    val comparisons = if (program.comparisons.isEmpty) BoundComparisons.None else World.comparisons(program, event)
    Plan(
      PlannedQuery(text, comparisons = comparisons),
      MatchSchema(key, LongType, event, program.columns, program.counts),
      Clock(LongType),
      PlannedWindow(Clock(LongType), window, windowIsTime || !program.countsEvents && window.isEmpty, waits, looksBack),
      maxMatchesPerEvent = 200,
      PlannedStream(
        watermark,
        if (idle) Some((longestLife +: (waits ++ looksBack.map(_.toLong))).max) else None,
        lateRows = true,
        snapshots = snapshots && isSnapshot,
        operator = "o",
        metrics = "m",
        StateMeaning("by t", "type='type'", program.digest, FirstFormat("type='type'", program.asFirst))
      )
    )
  }

  private def isSnapshot = windowIsTime && query.consumeBy == Consume.None && query.limit.isEmpty

  /** The longest time between the first and the last event of a key. */
  private def longestLife: Long =
    prepared
      .flatMap(_.toOption)
      .groupBy(e => ByteBuffer.wrap(e.key))
      .values
      .map(all => all.map(_.time).max - all.map(_.time).min)
      .maxOption
      .getOrElse(0L)

  /** The rows of a batch over these events, in any order and perhaps several times. */
  def batch(some: Vector[Int]): Vector[ByteBuffer] = {
    val events = some.sorted.flatMap(pick(_).toOption)
    val sorted = if (oneTask) events else events.sortBy(e => ByteBuffer.wrap(e.key)) // stable: in order inside each key
    val spread = if (oneTask) Spread.OneTask("of the test") else Spread.ByKey(inTime = false)
    new Batch(plan, spread)(sorted.iterator).map(r => ByteBuffer.wrap(r.copy().getBytes)).toVector
  }

  /** The end of a match, from its row. */
  def endOf(bytes: ByteBuffer): Long = row(bytes).getLong(if (program.counts) 1 else 3)

  /** The key of a match, from its row. */
  def keyOf(bytes: ByteBuffer): ByteBuffer =
    ByteBuffer.wrap(row(bytes).getStruct(if (program.counts) 0 else 1, query.partitionBy.length).getBytes)

  /** The end and the number of a row of COUNT(*). */
  def countOf(bytes: ByteBuffer): String = s"${row(bytes).getLong(1)} ${row(bytes).getLong(2)}"

  def identityOf(bytes: ByteBuffer): String = row(bytes).getUTF8String(0).toString

  private def row(bytes: ByteBuffer): UnsafeRow = {
    val row = new UnsafeRow(plan.schema.row.length)
    row.pointTo(bytes.array, bytes.array.length)
    row
  }

  private def clock(e: TestEvent): Option[Long] = e("t") match {
    case Value.Num(n) => Some(World.Epoch + (n * 1000000).toLong)
    case _            => None
  }

  private def time(e: TestEvent, i: Int): Option[Long] =
    if (timeIsT) clock(e).map(t => if (ties) t else t + (if (ofRules) 1000L * i else i))
    else Some(World.Epoch + i * 1000000L)

  private def event(e: TestEvent, i: Int): Either[World.LeftOut, Event] = {
    val key = query.partitionBy.map(a => e(a.value))
    val words = Harness.mask(program, e)
    time(e, i).fold[Either[World.LeftOut, Event]](Left(World.NullTime)) { t =>
      if (key.contains(Value.Null)) Left(World.NullKey)
      else if (program.droppable && words.forall(_ == 0)) Left(World.Dropped)
      else {
        val at = if (timeIsT) Some(t) else clock(e)
        val more = if (words.length > 1) words.tail else null
        Right(
          Event(bytes(key.map(_.show)), t, at.getOrElse(0), at.isDefined, i.toLong, 0, words(0), more, payload(t, i, e))
        )
      }
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
    out.write(0, i.toLong)
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

object World {

  /** Why an event does not get to a bucket, with its place among the numbers of a [[sparkcer.internal.prepare.Tally]].
    */
  sealed abstract class LeftOut(val place: Int)
  case object Dropped extends LeftOut(1)
  case object NullKey extends LeftOut(2)
  case object NullTime extends LeftOut(3)

  /** Long after 0, where Spark's watermark starts. */
  val Epoch = 1000000000000L

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
