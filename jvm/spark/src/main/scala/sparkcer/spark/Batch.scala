package sparkcer.spark

import scala.collection.mutable

import sparkcer.engine.evaluate.Substream
import sparkcer.engine.state.Bytes

/** Runs a query over the sorted events of a partition. Matches come out as they are found, one event's at a time.
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
    events.flatMap { e =>
      val found = mutable.ArrayBuffer.empty[Array[Byte]]
      val (substream, ties) = substreams.of(e)
      recognizer.read(substream, ties, e, report = slices.forall(_.start(e.slice) <= e.time))(found += _)
      found
    }
  }

  /** The substream of an event: the current one if keys come one after the other, else looked up. */
  final private class Substreams(recognizer: Recognizer) {
    private val byKey = mutable.HashMap.empty[Bytes, (Substream, Ties)]
    private var key: Array[Byte] = _
    private var slice = 0L
    private var current: (Substream, Ties) = _

    def of(e: Event): (Substream, Ties) = {
      if (key == null || slice != e.slice || !java.util.Arrays.equals(key, e.key)) {
        if (grouped) {
          if (current != null) recognizer.evaluator.remove(current._1)
          current = fresh()
        } else current = byKey.getOrElseUpdate(new Bytes(e.key), fresh())
        key = e.key
        slice = e.slice
      }
      current
    }

    private def fresh() = (recognizer.evaluator.newSubstream(), new Ties)
  }
}
