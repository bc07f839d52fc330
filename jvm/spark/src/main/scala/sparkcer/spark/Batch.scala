package sparkcer.spark

import sparkcer.engine.evaluate.Substream
import sparkcer.engine.state.Bytes

/** Runs a query over the sorted events of a partition. Matches come out as they are found, one at a time.
  *
  * @param grouped
  *   whether events come key by key and slice by slice; else in time order, with all keys mixed
  */
final class Batch(plan: Plan, grouped: Boolean, slices: Option[Slices])
    extends (Iterator[Event] => Iterator[Array[Byte]])
    with Serializable {

  def apply(events: Iterator[Event]): Iterator[Array[Byte]] = {
    val recognizer = new Recognizer(plan)
    val substreams = new Substreams(recognizer)
    val cut = slices.orNull
    new Iterator[Array[Byte]] {
      private var row: Array[Byte] = _

      def hasNext: Boolean = {
        if (row == null) row = recognizer.next()
        while (row == null && events.hasNext) {
          val e = events.next()
          val current = substreams.of(e)
          recognizer.read(current._1, current._2, e, report = cut == null || cut.start(e.slice) <= e.time)
          row = recognizer.next()
        }
        row != null
      }

      def next(): Array[Byte] = {
        if (!hasNext) throw new NoSuchElementException
        val found = row
        row = null
        found
      }
    }
  }

  /** The substream of an event: the current one if keys come one after the other, else looked up. In time order, keys
    * that were silent for a window are forgotten, so that memory goes with the keys of a window, not with all.
    */
  final private class Substreams(recognizer: Recognizer) {
    private val byKey = new java.util.LinkedHashMap[Bytes, (Substream, Ties)](16, 0.75f, true)
    private val forgets = plan.windowIsTime && plan.windowSize.isDefined
    private var key: Array[Byte] = _
    private var slice = 0L
    private var current: (Substream, Ties) = _

    def of(e: Event): (Substream, Ties) = {
      if (key == null || slice != e.slice || !java.util.Arrays.equals(key, e.key)) {
        if (grouped) {
          if (current != null) recognizer.evaluator.remove(current._1)
          current = fresh()
        } else {
          if (forgets) forget(e.time)
          current = lookUp(e.key)
        }
        key = e.key
        slice = e.slice
      }
      current
    }

    private def lookUp(k: Array[Byte]): (Substream, Ties) = {
      val bytes = new Bytes(k)
      var found = byKey.get(bytes) // and puts it last
      if (found == null) {
        found = fresh()
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
        if (oldest._2.lastTime.exists(_ < passed)) {
          recognizer.evaluator.remove(oldest._1)
          all.remove()
        } else going = false
      }
    }

    private def fresh() = (recognizer.evaluator.newSubstream(), new Ties)
  }
}
