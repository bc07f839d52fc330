package sparkcer.internal.stream

import scala.collection.mutable

import sparkcer.engine.evaluate.Partitions
import sparkcer.engine.state.{Bytes, Frame, SharedArrays}
import sparkcer.internal.bind.Plan
import sparkcer.internal.output.{Deadlines, Recognizer, View}
import sparkcer.internal.prepare.Event

/** The substreams of a bucket, and the events that wait to be read. A bucket lives as long as its executor keeps it
  * ([[EngineCache]]), and is saved in pieces ([[BucketLog]]).
  *
  * With a watermark, events are held until no earlier event can arrive, and are then read in time order: the matches
  * are those of a batch, whatever the order of arrival within the delay. Without a watermark, each micro-batch is read
  * as it comes, in time order; an event that is older than the last one of its key is late.
  */
final class Bucket(plan: Plan, recognizer: Recognizer, view: View) extends LiveBucket[Event] {
  def this(plan: Plan) = this(plan, Recognizer(plan), View.Whole)

  private var partitions = new Partitions(recognizer.evaluator)
  private val watermarked = plan.stream.watermark

  /** Whether another stateful operator comes before this one, see [[read]]. */
  private val chained = watermarked.exists(_.chained)

  private val life = new KeyLife(plan, recognizer)

  /** The key without events for the longest time comes first, the key read last comes last. */
  private val keys = new java.util.LinkedHashMap[Bytes, KeyReader](16, 0.75f, true)

  private val held = new Held
  private val newlyHeld = mutable.ArrayBuffer.empty[Event]
  private var heldBytes = 0L

  /** Where matches wait for their deadline. */
  private val deadlines = new Deadlines

  private val recent =
    if (plan.stream.snapshots)
      Some(new RecentEvents(time => recognizer.reachesFrom(recognizer.bound(recognizer.bound(time)))))
    else None

  /** The keys that were read since the last piece. */
  private val changed = mutable.ArrayBuffer.empty[KeyReader]

  /** As of the last piece. */
  private val sizes = new KeySizes

  /** How often matches had consumed the events of all keys when the last piece was written. */
  private var consumptions = recognizer.evaluator.consumptions

  /** The largest time so far, and the time before which all events are read: an older event is late. */
  private var latest = Long.MinValue
  private var released = Long.MinValue

  /** Numbers events by arrival, across micro-batches. */
  private var arrivals = 0L

  private val pieceSizes = new PieceSizes

  /** Reads the events of a micro-batch.
    *
    * An event from a source is late if it is behind Spark's watermark, in every bucket. A stateful operator before this
    * one holds its rows back until the watermark passes them, so they arrive with the micro-batch that makes them old;
    * that operator has already left out the late ones. Events from there are late only if this bucket has read past
    * them.
    */
  def read(events: Array[Event], watermark: Long, out: BucketOutput): Unit = {
    released = math.max(released, if (chained) Processor.toMicros(0) else watermark)
    java.util.Arrays.sort(events, Event.InOrder)
    events.foreach { e =>
      out.counts.events += 1
      e.arrival = arrivals
      arrivals += 1
      if (watermarked.isEmpty) {
        latest = math.max(latest, e.time)
        evaluate(e, out)
      } else if (e.time < released) {
        out.behind(released - e.time)
        out.late(e)
      } else {
        latest = math.max(latest, e.time)
        hold(e)
        newlyHeld += e
      }
    }
    advance(watermark, out)
  }

  private def hold(e: Event): Unit = {
    held.add(e)
    heldBytes += Event.bytes(e)
  }

  private def forgetRead(): Unit = newlyHeld.filterInPlace(_.time >= released): Unit

  private def letGo(): Event = {
    val e = held.poll()
    heldBytes -= Event.bytes(e)
    e
  }

  /** Reads the held events that no other event can precede any more, and drops idle keys.
    *
    * With one input and no stateful operator before this one, the bucket's own events tell what Spark's watermark will
    * be after this micro-batch. With several inputs the watermark depends on the slowest, which may not be in this
    * bucket; and an operator that holds rows back may send rows that are older than others by more than the delay.
    */
  def advance(watermark: Long, out: BucketOutput): Unit = {
    watermarked.foreach { w =>
      val own = if (w.inputs > 1 || w.chained || latest < Long.MinValue + w.delay) Long.MinValue else latest - w.delay
      released = math.max(released, math.max(watermark, own))
      readUntil(released, out)
      // In Real-Time Mode this is done for each event, and must not go over all of them each time.
      if (newlyHeld.length > 2 * held.size + 1024) forgetRead()
      held.trim()
    }
    dropIdle(out)
    recent.foreach(_.expire())
  }

  /** Reads held events and fires deadlines, in the order of time. Events come before the deadlines of the same time. */
  private def readUntil(time: Long, out: BucketOutput): Unit = {
    def event = if (held.isEmpty) Long.MaxValue else held.first.time
    while (math.min(event, deadlines.first) < time)
      if (event <= deadlines.first) evaluate(letGo(), out) else fire(time, out)
  }

  private def fire(before: Long, out: BucketOutput): Unit = {
    val end = deadlines.first
    val reader = deadlines.poll().asInstanceOf[KeyReader]
    recognizer.fire(reader.substream, reader.key, before, Long.MinValue, Long.MaxValue): Unit
    returnRows(end, reader, out)
  }

  private def evaluate(e: Event, out: BucketOutput): Unit = {
    val key = new Bytes(e.key)
    var reader = keys.get(key) // and puts it last
    if (reader == null) {
      reader = new KeyReader(e.key, partitions.getOrCreate(e.key), view)
      keys.put(key, reader): Unit
    }
    if (!reader.ties.precede(e)) out.late(e)
    else {
      recognizer.read(reader.substream, reader.ties, e)
      recent.foreach(_.add(e))
      returnRows(e.time, reader, out)
    }
  }

  /** Returns the matches that end at a time, of a key that has changed. */
  private def returnRows(end: Long, reader: KeyReader, out: BucketOutput): Unit = {
    var row = recognizer.next()
    while (row != null) {
      out.matched(row, end)
      row = recognizer.next()
    }
    if (recognizer.waits) deadlines.note(reader)
    if (!reader.unsaved) {
      reader.unsaved = true
      changed += reader
    }
  }

  /** For a snapshot: the last moment of which all events are read. */
  def complete: Long = if (released == Long.MinValue) released else released - 1

  /** For a snapshot. */
  def recentEvents: Vector[Event] = recent.fold(Vector.empty[Event])(_.toVector)

  /** Drops the keys whose window has passed, which cannot be part of a match any more; and those that had no event for
    * `idle`, which are counted. With a watermark, only the time up to which all events are read counts for this: an
    * event of the key may still wait, or be on its way. Without one, time is where the slowest of the keys is that were
    * read in this micro-batch: others can be far ahead, where a backlog is read or a time stamp is wrong.
    */
  private def dropIdle(out: BucketOutput): Unit = {
    // Goes over the keys only if one may be idle: in Real-Time Mode this is asked for each event.
    def slowest =
      if (keys.isEmpty || keys.values().iterator().next().ties.lastTime >= life.idle(latest)) Long.MinValue
      else changed.iterator.map(_.ties.lastTime).minOption.getOrElse(Long.MinValue)
    val passed = life.passed(released)
    val idle = life.idle(if (watermarked.isDefined) released else slowest)
    val all = keys.entrySet().iterator()
    var going = true
    while (going && all.hasNext) {
      val reader = all.next().getValue
      val last = reader.ties.lastTime
      if (last < passed || last < idle) {
        if (last >= passed) out.counts.idle += 1
        partitions.remove(reader.key)
        reader.gone = true
        sizes.remove(reader.size)
        all.remove()
      } else going = false
    }
  }

  /** When the first held event can be read, the first deadline is over, or the first key can be dropped. */
  def wakeAt: Option[Long] =
    if (watermarked.isEmpty) None
    else if (!held.isEmpty || deadlines.first != Long.MaxValue)
      Some(math.min(if (held.isEmpty) Long.MaxValue else held.first.time, deadlines.first))
    else if (keys.isEmpty) None
    else life.endsAt(keys.values().iterator().next().ties.lastTime)

  def isEmpty: Boolean = keys.isEmpty && held.isEmpty && recent.forall(_.isEmpty)

  def bytes: Long = 1024L + sizes.bytes + deadlines.bytes + heldBytes + recent.fold(0L)(_.bytes)

  /** Does not walk over the keys. */
  def measure(counts: Counts): Unit = {
    counts.held += held.size
    counts.keys += keys.size
    counts.nodes += sizes.nodes
    counts.pending += sizes.pending
    counts.largest = math.max(counts.largest, sizes.largest)
    counts.bytes += pieceSizes.total
  }

  def save(): (Array[Byte], Boolean) = {
    val full = head == LogHead.Empty || pieceSizes.wantFull
    (save(full, null), full)
  }

  /** @param arrays
    *   where the payloads of events go, if other buckets have them too
    */
  def save(full: Boolean, arrays: SharedArrays): Array[Byte] = {
    sizes.largest = 0
    if (recognizer.evaluator.consumptions != consumptions) {
      consumptions = recognizer.evaluator.consumptions
      sizes.nothingPending()
    }
    forgetRead()
    changed.filterInPlace(!_.gone)
    changed.foreach { r =>
      r.substream.attach(r.ties.save())
      r.unsaved = false
      sizes.largest = math.max(sizes.largest, r.substream.eventsKept.toLong)
      sizes.update(r.size, r.substream)
    }
    val piece = Frame.write(arrays) { out =>
      out.byte(if (full) 1 else 0)
      out.long(latest)
      out.long(released)
      out.long(arrivals)
      val events = if (full) held.toVector else newlyHeld.toVector
      out.int(events.length)
      events.foreach(_.write(out))
      recent.foreach(_.save(out, full))
      out.array(if (full) partitions.save(arrays) else partitions.saveChanges(changed.iterator.map(_.key), arrays))
    }
    newlyHeld.clearAndShrink()
    changed.clearAndShrink()
    pieceSizes.note(full, piece)
    piece
  }

  private def restore(pieces: Vector[(Array[Byte], SharedArrays)]): Unit = {
    val engine = pieces.map { case (bytes, arrays) =>
      val in = Frame.read(bytes, arrays)
      val full = in.byte() == 1
      if (full) { held.clear(); heldBytes = 0 }
      pieceSizes.note(full, bytes)
      latest = in.long()
      released = in.long()
      arrivals = in.long()
      (0 until in.int()).foreach(_ => hold(Event.read(in)))
      while (!held.isEmpty && held.first.time < released) letGo(): Unit
      recent.foreach(_.restore(in, full))
      in.array() -> arrays
    }
    partitions = Partitions.load(recognizer.evaluator, engine)
    val readers = mutable.ArrayBuffer.empty[KeyReader]
    partitions.foreach((key, s) => readers += new KeyReader(key, s, view))
    readers.sortBy(_.ties.lastTime).foreach { r =>
      keys.put(new Bytes(r.key), r)
      sizes.update(r.size, r.substream)
      if (recognizer.waits) deadlines.note(r)
    }
  }
}

object Bucket {

  /** The bucket that a log describes. */
  def load(plan: Plan, pieces: Vector[Array[Byte]], head: LogHead): Bucket =
    load(new Bucket(plan), pieces.map(_ -> null), head)

  /** @param pieces
    *   each with the arrays that it shares with the pieces of other buckets
    */
  private[sparkcer] def load(bucket: Bucket, pieces: Vector[(Array[Byte], SharedArrays)], head: LogHead): Bucket = {
    bucket.restore(pieces)
    bucket.head = head
    bucket
  }
}
