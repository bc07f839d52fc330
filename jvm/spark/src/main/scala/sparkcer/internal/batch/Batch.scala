package sparkcer.internal.batch

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import sparkcer.engine.evaluate.Substream
import sparkcer.engine.state.Bytes
import sparkcer.internal.bind.Plan
import sparkcer.internal.output.{Deadlines, Recognizer, Ties}
import sparkcer.internal.prepare.{Event, Slices}

/** Runs a query over the sorted events of a task. Returns match rows one at a time, as they are found; a row is valid
  * until the next one is asked for.
  *
  * @param unread
  *   columns of the match rows that nobody reads
  * @param until
  *   the time up to which the events are complete: a match that waits for a later deadline is not returned
  */
final class Batch(plan: Plan, spread: Spread, unread: Set[Int] = Set.empty, until: Long = Long.MaxValue)
    extends Serializable {

  def apply(events: Iterator[Event], sizes: Batch.Sizes = new Batch.Sizes): Iterator[UnsafeRow] = {
    val recognizer = Recognizer(plan, unread)
    val substreams = spread match {
      case Spread.BySlice(slices)                 => new BySlice(recognizer, slices, sizes)
      case Spread.ByKey(false)                    => new Grouped(recognizer, sizes)
      case Spread.ByKey(true) | Spread.OneTask(_) => new Mixed(recognizer, sizes)
    }
    new Iterator[UnsafeRow] {
      private var row: UnsafeRow = _
      private var event: Event = _ // to be read after the deadlines before it
      private var going = true

      def hasNext: Boolean = {
        if (row == null) row = recognizer.next()
        while (row == null && going) {
          if (event == null && events.hasNext) event = events.next()
          if (!(recognizer.waits && substreams.fire(event)))
            if (event != null) read()
            else { substreams.close(); going = false }
          row = recognizer.next()
        }
        row != null
      }

      private def read(): Unit = {
        val current = substreams.of(event)
        current.ties.mustPrecede(event, plan)
        recognizer.read(current.substream, current.ties, event, substreams.reports(event))
        if (recognizer.waits) substreams.noteDeadline(current)
        event = null
      }

      def next(): UnsafeRow = {
        if (!hasNext) throw new NoSuchElementException
        val found = row
        row = null
        found
      }
    }
  }

  /** A substream, with what it remembers of its last events. */
  final private class Reader(recognizer: Recognizer, val key: Array[Byte], sizes: Batch.Sizes)
      extends Deadlines.Waiting {
    sizes.substreams += 1
    val substream: Substream = recognizer.evaluator.newSubstream()
    val ties = new Ties

    def close(): Unit = {
      sizes.events = math.max(sizes.events, substream.eventsKept.toLong)
      sizes.nodes = math.max(sizes.nodes, substream.nodes.toLong)
      recognizer.evaluator.remove(substream)
    }
  }

  /** Finds the substream of an event, and says whether the matches that the event closes are reported. */
  sealed abstract private class Substreams {
    def of(e: Event): Reader
    def reports(e: Event): Boolean = true

    /** Fires a deadline that comes before the event, which is null after the last one, and says whether there was one.
      */
    def fire(e: Event): Boolean

    /** A substream has read an event. */
    def noteDeadline(reader: Reader): Unit = ()
    def close(): Unit
  }

  /** For events that are sorted by key: one substream after the other. */
  final private class Grouped(recognizer: Recognizer, sizes: Batch.Sizes) extends Substreams {
    private var key: Array[Byte] = _
    private var current: Reader = _

    def of(e: Event): Reader = {
      if (key == null || !java.util.Arrays.equals(key, e.key)) {
        close()
        key = e.key
        current = new Reader(recognizer, key, sizes)
      }
      current
    }

    def fire(e: Event): Boolean = current != null && {
      val before = if (e != null && java.util.Arrays.equals(key, e.key)) e.time else Long.MaxValue
      recognizer.fire(current.substream, key, before, Long.MinValue, until)
    }

    def close(): Unit = if (current != null) { current.close(); current = null }
  }

  /** For events of several slices, in time order. Only two consecutive slices overlap, so two substreams are enough. */
  final private class BySlice(recognizer: Recognizer, slices: Slices, sizes: Batch.Sizes) extends Substreams {
    private val readers = new Array[Reader](2)
    private val numbers = new Array[Long](2)

    def of(e: Event): Reader = {
      val i = (e.slice & 1).toInt
      if (readers(i) == null || numbers(i) != e.slice) {
        if (readers(i) != null) readers(i).close()
        readers(i) = new Reader(recognizer, e.key, sizes)
        numbers(i) = e.slice
      }
      readers(i)
    }

    override def reports(e: Event): Boolean = slices.start(e.slice) <= e.time

    /** A slice has the deadlines that lie in it. The next slice has those after it, with the events that they need. */
    def fire(e: Event): Boolean = readers.indices.exists { i =>
      readers(i) != null && {
        val own = e != null && e.slice == numbers(i)
        val over = e == null || (e.slice & 1) == i && !own
        val before = if (own) e.time else slices.start(numbers(i) + 1)
        (own || over) && recognizer.fire(readers(i).substream, readers(i).key, before, slices.start(numbers(i)), until)
      }
    }

    def close(): Unit = readers.indices.foreach { i =>
      if (readers(i) != null) { readers(i).close(); readers(i) = null }
    }
  }

  /** For events of all keys, in time order. Keys without events for a window are dropped, so memory grows with the keys
    * of a window, not with all keys.
    */
  final private class Mixed(recognizer: Recognizer, sizes: Batch.Sizes) extends Substreams {
    private val byKey = new java.util.LinkedHashMap[Bytes, Reader](16, 0.75f, true)
    private val forgets = plan.window.endsInTime
    private var key: Array[Byte] = _
    private var current: Reader = _

    def of(e: Event): Reader = {
      if (key == null || !java.util.Arrays.equals(key, e.key)) {
        if (forgets) forget(e.time)
        key = e.key
        current = lookUp(new Bytes(key))
      }
      current
    }

    private def lookUp(bytes: Bytes): Reader = {
      var found = byKey.get(bytes) // and puts it last
      if (found == null) {
        found = new Reader(recognizer, bytes.array, sizes)
        byKey.put(bytes, found): Unit
      }
      found
    }

    // In the order of time over all keys, because a match may consume the events of all of them.
    private val deadlines = new Deadlines

    override def noteDeadline(reader: Reader): Unit = deadlines.note(reader)

    def fire(e: Event): Boolean = {
      val before = if (e == null) Long.MaxValue else e.time
      deadlines.first < before && {
        val reader = deadlines.poll()
        recognizer.fire(reader.substream, reader.key, before, Long.MinValue, until): Unit
        deadlines.note(reader)
        true
      }
    }

    private def forget(now: Long): Unit = {
      val passed = recognizer.lastsFrom(now)
      val all = byKey.values().iterator()
      var going = true
      while (going && all.hasNext) {
        val oldest = all.next()
        if (oldest.ties.lastTime < passed) {
          oldest.close()
          all.remove()
        } else going = false
      }
    }

    def close(): Unit = {
      byKey.values().forEach(_.close())
      byKey.clear()
    }
  }
}

object Batch {

  /** The largest sizes in a task, for metrics. */
  final class Sizes {
    var substreams = 0L
    var events = 0L
    var nodes = 0L
  }
}
