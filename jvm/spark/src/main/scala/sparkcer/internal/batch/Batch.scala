package sparkcer.internal.batch

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import sparkcer.engine.evaluate.Substream
import sparkcer.engine.state.Bytes
import sparkcer.internal.bind.Plan
import sparkcer.internal.output.{Recognizer, Ties}
import sparkcer.internal.prepare.{Event, Slices}

/** Runs a query over the sorted events of a task. Returns match rows one at a time, as they are found; a row is valid
  * until the next one is asked for.
  *
  * @param unread
  *   columns of the match rows that nobody reads
  */
final class Batch(plan: Plan, spread: Spread, unread: Set[Int] = Set.empty) extends Serializable {

  def apply(events: Iterator[Event], sizes: Batch.Sizes = new Batch.Sizes): Iterator[UnsafeRow] = {
    val recognizer = new Recognizer(plan, unread)
    val substreams = spread match {
      case Spread.BySlice(slices)                 => new BySlice(recognizer, slices, sizes)
      case Spread.ByKey(false)                    => new Grouped(recognizer, sizes)
      case Spread.ByKey(true) | Spread.OneTask(_) => new Mixed(recognizer, sizes)
    }
    new Iterator[UnsafeRow] {
      private var row: UnsafeRow = _

      def hasNext: Boolean = {
        if (row == null) row = recognizer.next()
        while (row == null && events.hasNext) {
          val e = events.next()
          val current = substreams.of(e)
          current.ties.mustPrecede(e, plan)
          recognizer.read(current.substream, current.ties, e, substreams.reports(e))
          row = recognizer.next()
        }
        if (row == null) substreams.close()
        row != null
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
  final private class Reader(recognizer: Recognizer, sizes: Batch.Sizes) {
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
        current = new Reader(recognizer, sizes)
      }
      current
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
        readers(i) = new Reader(recognizer, sizes)
        numbers(i) = e.slice
      }
      readers(i)
    }

    override def reports(e: Event): Boolean = slices.start(e.slice) <= e.time

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
        found = new Reader(recognizer, sizes)
        byKey.put(bytes, found): Unit
      }
      found
    }

    private def forget(now: Long): Unit = {
      val passed = recognizer.bound(now)
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
