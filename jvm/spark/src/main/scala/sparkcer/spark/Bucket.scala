package sparkcer.spark

import java.util.Comparator

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Murmur3HashFunction
import org.apache.spark.sql.types.IntegerType

import sparkcer.engine.evaluate.{Partitions, Substream}
import sparkcer.engine.state.{Bytes, Frame, WireReader, WireWriter}

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
    * @param watermark
    *   the time before which everything is past for Spark: an older event is late in every bucket
    */
  def read(events: Array[Event], watermark: Long, out: Output): Unit = {
    released = math.max(released, watermark)
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
            held.add(e)
            newlyHeld += e
          }
        case None =>
          latest = math.max(latest, e.time)
          evaluate(e, out)
      }
    }
    advance(watermark, out)
  }

  /** Reads the held events that none can come before any more, and lets silent keys go. */
  def advance(watermark: Long, out: Output): Unit = {
    plan.delay.foreach { delay =>
      val mine = if (latest < Long.MinValue + delay) Long.MinValue else latest - delay
      released = math.max(released, math.max(watermark, mine))
      while (!held.isEmpty && held.first.time < released) evaluate(held.poll(), out)
      newlyHeld.filterInPlace(_.time >= released)
    }
    forgetSilent(out)
    out.counts.held += held.size
  }

  private def evaluate(e: Event, out: Output): Unit = {
    val key = new Bytes(e.key)
    var reader = keys.get(key) // and puts it last
    if (reader == null) {
      val s = partitions.getOrCreate(e.key)
      reader = new Bucket.Reader(s, Ties.load(s.attachment))
      keys.put(key, reader): Unit
    }
    if (reader.ties.isAfter(e.time)) out.late(e)
    else {
      recognizer.read(reader.substream, reader.ties, e)
      var row = recognizer.next()
      while (row != null) {
        out.matched(row, e.time)
        row = recognizer.next()
      }
      reader.unsaved = true
    }
  }

  /** Keys whose window has passed can have no part in a match any more; keys that were silent for `idle` are dropped,
    * and counted.
    */
  private def forgetSilent(out: Output): Unit = {
    val passed =
      if (plan.windowIsTime && plan.delay.isDefined && released != Long.MinValue)
        recognizer.bound(released)
      else Long.MinValue
    val idle = plan.idle.fold(Long.MinValue)(n => if (latest < Long.MinValue + n) Long.MinValue else latest - n)
    val all = keys.entrySet().iterator()
    var going = true
    while (going && all.hasNext) {
      val entry = all.next()
      val last = entry.getValue.ties.lastTime.getOrElse(Long.MinValue)
      if (last < passed || last < idle) {
        if (last >= passed) out.counts.idle += 1
        partitions.remove(entry.getKey.array)
        all.remove()
      } else going = false
    }
  }

  /** The time at which somebody should look in, even if no event comes: when the first held event can be read, or the
    * first key be dropped.
    */
  def wakeAt: Option[Long] =
    if (plan.delay.isEmpty) None
    else if (!held.isEmpty) Some(held.first.time)
    else if (plan.windowIsTime && plan.windowSize.isDefined && !keys.isEmpty)
      keys.values().iterator().next().ties.lastTime.map(t => plan.windowClock.after(t, plan.windowSize))
    else None

  def isEmpty: Boolean = keys.isEmpty && held.isEmpty

  def bytes: Long = {
    var b = 1024L
    keys.values().forEach(r => b += 200 + r.substream.bytes)
    held.foreach(e => b += 120 + e.payload.length + e.key.length)
    b
  }

  def measure(counts: Counts): Unit = {
    counts.keys += keys.size
    keys.values().forEach { r =>
      counts.nodes += r.substream.nodes
      counts.largest = math.max(counts.largest, r.substream.eventsKept.toLong)
    }
    counts.bytes += fullBytes + laterBytes
  }

  // State

  /** What changed since the last piece, or everything, if the pieces have grown to more than twice that. */
  def save(): (Array[Byte], Boolean) = {
    keys.values().forEach { r =>
      if (r.unsaved) { r.substream.attach(r.ties.save()); r.unsaved = false }
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
      out.array(if (full) partitions.save() else partitions.saveChanges())
    }
    newlyHeld.clear()
    if (full) { fullBytes = piece.length.toLong; laterBytes = 0 }
    else laterBytes += piece.length
    (piece, full)
  }

  private def restore(pieces: Vector[Array[Byte]]): Unit = {
    val engine = pieces.map { bytes =>
      val in = Frame.read(bytes)
      val full = in.byte() == 1
      if (full) { held.clear(); fullBytes = bytes.length.toLong; laterBytes = 0 }
      else laterBytes += bytes.length
      latest = in.long()
      released = in.long()
      arrivals = in.long()
      (0 until in.int()).foreach(_ => held.add(Bucket.read(in)))
      while (!held.isEmpty && held.first.time < released) held.poll(): Unit
      in.array()
    }
    partitions = Partitions.load(recognizer.evaluator, engine)
    val readers = mutable.ArrayBuffer.empty[(Bytes, Bucket.Reader)]
    partitions.foreach((key, s) => readers += ((new Bytes(key), new Bucket.Reader(s, Ties.load(s.attachment)))))
    readers.sortBy(_._2.ties.lastTime).foreach { case (key, reader) => keys.put(key, reader) }
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

  final private class Reader(val substream: Substream, val ties: Ties) {
    var unsaved = false
  }

  private[spark] val InOrder: Comparator[Event] = (a, b) => {
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
      0L,
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
