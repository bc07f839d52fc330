package sparkcer.internal.stream

import java.util.Comparator

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Murmur3HashFunction
import org.apache.spark.sql.types.IntegerType

import sparkcer.engine.evaluate.{Partitions, Substream}
import sparkcer.engine.state.{Bytes, Frame, WireReader, WireWriter}
import sparkcer.internal.output.{Counts, BucketOutput, Plan, Recognizer, Ties}
import sparkcer.internal.prepare.Event

/** The substreams of a bucket, and the events that wait for their turn. It lives as long as its executor keeps it, and
  * is saved piece by piece.
  *
  * With a watermark, events are held until none can come that belongs before them, and are then read in time order:
  * what comes out is what a batch gives, whatever the order of arrival within the delay. Without one, they are read as
  * micro-batches bring them, in time order inside each; an event that is older than the last of its key is late.
  */
final class Bucket(plan: Plan) {
  private val recognizer = new Recognizer(plan)
  private var partitions = new Partitions(recognizer.evaluator)

  /** Keys from the one that is silent longest to the one read last. */
  private val keys = new java.util.LinkedHashMap[Bytes, Bucket.Reader](16, 0.75f, true)

  private val held = new Held
  private val newlyHeld = mutable.ArrayBuffer.empty[Event]

  /** Where there are snapshots: the events that were read of the last two windows, and those since the last piece. */
  private val recent = mutable.ArrayDeque.empty[Event]
  private val newlyRead = mutable.ArrayBuffer.empty[Event]
  private var recentBytes = 0L
  private var lastRead = Long.MinValue

  /** The keys that were read since the last piece. */
  private val changed = mutable.ArrayBuffer.empty[Bucket.Reader]

  /** What all keys and held events weigh together, as of the last piece. */
  private var keyBytes = 0L
  private var nodes = 0L

  /** Events kept by the largest of the keys that the last piece is about. */
  private var largest = 0L
  private var heldBytes = 0L

  /** The largest time met, and the time before which everything is read: an older event is late. */
  private var latest = Long.MinValue
  private var released = Long.MinValue

  /** Numbers events by arrival, across micro-batches. */
  private var arrivals = 0L

  /** Where its log ends, and what a full piece and the pieces after it weigh. */
  var head: LogHead = LogHead.Empty
  private var fullBytes = 0L
  private var laterBytes = 0L

  /** Reads what a micro-batch brings.
    *
    * Of a source's events, those that are past for Spark are late in every bucket. An operator with state before this
    * one ([[Plan.chained]]) has held its rows back itself: the micro-batch that makes them past is the one that brings
    * them, and older ones it has left out. There only what this bucket has read already makes an event late.
    *
    * @param watermark
    *   the time before which everything is past for Spark after this micro-batch
    */
  def read(events: Array[Event], watermark: Long, out: BucketOutput): Unit = {
    released = math.max(released, if (plan.chained) Processor.toMicros(0) else watermark)
    java.util.Arrays.sort(events, Bucket.InOrder)
    events.foreach { e =>
      out.counts.events += 1
      e.arrival = arrivals
      arrivals += 1
      plan.delay match {
        case Some(_) =>
          if (e.time < released) out.late(e)
          else {
            latest = math.max(latest, e.time)
            hold(e)
            newlyHeld += e
          }
        case None =>
          latest = math.max(latest, e.time)
          evaluate(e, out)
      }
    }
    advance(watermark, out)
  }

  private def hold(e: Event): Unit = {
    held.add(e)
    heldBytes += Bucket.bytesOf(e)
  }

  private def letGo(): Event = {
    val e = held.poll()
    heldBytes -= Bucket.bytesOf(e)
    e
  }

  /** Reads the held events that none can come before any more, and lets silent keys go. Where the watermark is of one
    * input, and no operator with state is before this one, the bucket's own events tell it already what Spark's
    * watermark will be after this micro-batch. The one of several inputs depends on the slowest, which need not be
    * here; and rows that another operator held back may lie before others by more than the delay.
    */
  def advance(watermark: Long, out: BucketOutput): Unit = {
    plan.delay.foreach { delay =>
      val mine =
        if (plan.inputs > 1 || plan.chained || latest < Long.MinValue + delay) Long.MinValue else latest - delay
      released = math.max(released, math.max(watermark, mine))
      while (!held.isEmpty && held.first.time < released) evaluate(letGo(), out)
      newlyHeld.filterInPlace(_.time >= released)
    }
    forgetSilent(out)
    forgetRecent()
    out.counts.held += held.size
  }

  private def evaluate(e: Event, out: BucketOutput): Unit = {
    val key = new Bytes(e.key)
    var reader = keys.get(key) // and puts it last
    if (reader == null) {
      reader = new Bucket.Reader(e.key, partitions.getOrCreate(e.key))
      keys.put(key, reader): Unit
    }
    if (!reader.ties.precede(e)) out.late(e)
    else {
      recognizer.read(reader.substream, reader.ties, e)
      if (plan.snapshots) { remember(e); newlyRead += e }
      var row = recognizer.next()
      while (row != null) {
        out.matched(row, e.time)
        row = recognizer.next()
      }
      if (!reader.unsaved) {
        reader.unsaved = true
        changed += reader
      }
    }
  }

  private def remember(e: Event): Unit = {
    recent += e
    recentBytes += Bucket.bytesOf(e)
    lastRead = math.max(lastRead, e.time)
  }

  private def forgetRecent(): Unit = if (recent.nonEmpty) {
    val from = recognizer.bound(recognizer.bound(lastRead))
    while (recent.head.time < from) recentBytes -= Bucket.bytesOf(recent.removeHead())
  }

  /** For a snapshot. */
  def recentEvents: Vector[Event] = recent.toVector

  /** Keys whose window has passed can have no part in a match any more; keys that were silent for `idle` are dropped,
    * and counted.
    */
  private def forgetSilent(out: BucketOutput): Unit = {
    val passed =
      if (plan.windowIsTime && plan.delay.isDefined && released != Long.MinValue)
        recognizer.bound(released)
      else Long.MinValue
    val now = math.max(latest, released)
    val idle = plan.idle.fold(Long.MinValue)(n => if (now < Long.MinValue + n) Long.MinValue else now - n)
    val all = keys.entrySet().iterator()
    var going = true
    while (going && all.hasNext) {
      val entry = all.next()
      val reader = entry.getValue
      val last = reader.ties.lastTime
      if (last < passed || last < idle) {
        if (last >= passed) out.counts.idle += 1
        partitions.remove(reader.key)
        reader.gone = true
        weigh(reader, 0, 0)
        all.remove()
      } else going = false
    }
  }

  private def weigh(r: Bucket.Reader, bytes: Long, n: Long): Unit = {
    keyBytes += bytes - r.bytes
    nodes += n - r.nodes
    r.bytes = bytes
    r.nodes = n
  }

  /** The time at which somebody should look in, even if no event comes: when the first held event can be read, or the
    * first key be dropped.
    */
  def wakeAt: Option[Long] =
    if (plan.delay.isEmpty) None
    else if (!held.isEmpty) Some(held.first.time)
    else if (keys.isEmpty) None
    else {
      val last = keys.values().iterator().next().ties.lastTime
      val passed =
        if (plan.windowIsTime && plan.windowSize.isDefined) Some(plan.windowClock.after(last, plan.windowSize))
        else None
      val idle = plan.idle.map(n => if (last > Long.MaxValue - n - 1) Long.MaxValue else last + n + 1)
      (passed ++ idle).minOption
    }

  def isEmpty: Boolean = keys.isEmpty && held.isEmpty && recent.isEmpty

  /** About what it takes in memory, as of the last piece. */
  def bytes: Long = 1024L + keyBytes + heldBytes + recentBytes

  /** How it stands, as of the last piece: nothing here walks all keys. */
  def measure(counts: Counts): Unit = {
    counts.keys += keys.size
    counts.nodes += nodes
    counts.largest = math.max(counts.largest, largest)
    counts.bytes += fullBytes + laterBytes
  }

  // State

  /** What changed since the last piece, or everything, if the pieces have grown to more than twice that. */
  def save(): (Array[Byte], Boolean) = {
    largest = 0
    changed.filterInPlace(!_.gone)
    changed.foreach { r =>
      r.substream.attach(r.ties.save())
      r.unsaved = false
      largest = math.max(largest, r.substream.eventsKept.toLong)
      weigh(r, 200 + r.substream.bytes, r.substream.nodes.toLong)
    }
    val full = head == LogHead.Empty || laterBytes > 2 * fullBytes + Bucket.SmallLog
    val piece = Frame.write { out =>
      out.byte(if (full) 1 else 0)
      out.long(latest)
      out.long(released)
      out.long(arrivals)
      val events = if (full) held.toVector else newlyHeld.toVector
      out.int(events.length)
      events.foreach(Bucket.write(out, _))
      if (plan.snapshots) {
        val read = if (full) recent.toVector else newlyRead.toVector
        out.int(read.length)
        read.foreach(Bucket.write(out, _))
      }
      out.array(if (full) partitions.save() else partitions.saveChanges(changed.iterator.map(_.key)))
    }
    newlyHeld.clear()
    newlyRead.clear()
    changed.clear()
    if (full) { fullBytes = piece.length.toLong; laterBytes = 0 }
    else laterBytes += piece.length
    (piece, full)
  }

  private def restore(pieces: Vector[Array[Byte]]): Unit = {
    val engine = pieces.map { bytes =>
      val in = Frame.read(bytes)
      val full = in.byte() == 1
      if (full) {
        held.clear(); heldBytes = 0; recent.clear(); recentBytes = 0; fullBytes = bytes.length.toLong; laterBytes = 0
      } else laterBytes += bytes.length
      latest = in.long()
      released = in.long()
      arrivals = in.long()
      (0 until in.int()).foreach(_ => hold(Bucket.read(in)))
      while (!held.isEmpty && held.first.time < released) letGo(): Unit
      if (plan.snapshots) {
        (0 until in.int()).foreach(_ => remember(Bucket.read(in)))
        forgetRecent()
      }
      in.array()
    }
    partitions = Partitions.load(recognizer.evaluator, engine)
    val readers = mutable.ArrayBuffer.empty[Bucket.Reader]
    partitions.foreach((key, s) => readers += new Bucket.Reader(key, s))
    readers.sortBy(_.ties.lastTime).foreach { r =>
      keys.put(new Bytes(r.key), r)
      weigh(r, 200 + r.substream.bytes, r.substream.nodes.toLong)
    }
  }
}

object Bucket {

  /** The bucket that a log describes. */
  def load(plan: Plan, pieces: Vector[Array[Byte]], head: LogHead): Bucket = {
    val bucket = new Bucket(plan)
    bucket.restore(pieces)
    bucket.head = head
    bucket
  }

  /** A number for each bucket, such that Spark, which places them by a hash, has one for each of as many partitions. */
  def ids(n: Int): Seq[Int] = {
    val ids = Array.fill(n)(-1)
    var left = n
    var id = 0
    while (left > 0) {
      val at = Math.floorMod(Murmur3HashFunction.hash(id, IntegerType, 42L).toInt, n)
      if (ids(at) < 0) { ids(at) = id; left -= 1 }
      id += 1
    }
    ids.toSeq
  }

  /** Bytes of log that are not worth replacing. */
  private val SmallLog = 65536L

  final private class Reader(val key: Array[Byte], val substream: Substream) {
    val ties: Ties = Ties.load(substream.attachment)
    var unsaved = false
    var gone = false
    var bytes = 0L
    var nodes = 0L
  }

  private def bytesOf(e: Event): Long = 120L + e.payload.length + e.key.length

  private[sparkcer] val InOrder: Comparator[Event] = (a, b) => {
    val byTime = java.lang.Long.compare(a.time, b.time)
    val byOrder = if (byTime != 0) byTime else java.lang.Long.compare(a.order, b.order)
    if (byOrder != 0) byOrder else java.lang.Long.compare(a.arrival, b.arrival)
  }

  private def write(out: WireWriter, e: Event): Unit = {
    out.array(e.key)
    out.long(e.time)
    out.long(e.clock)
    out.byte(if (e.timed) 1 else 0)
    out.long(e.order)
    out.long(e.arrival)
    out.words(e.mask +: Option(e.more).getOrElse(Array.empty[Long]))
    out.array(e.payload)
  }

  private def read(in: WireReader): Event = {
    val key = in.array()
    val (time, clock, timed, order, arrival) = (in.long(), in.long(), in.byte() == 1, in.long(), in.long())
    val masks = in.words()
    Event(
      key,
      time,
      clock,
      timed,
      order,
      arrival,
      masks.head,
      if (masks.length > 1) masks.tail else null,
      in.array()
    )
  }
}
