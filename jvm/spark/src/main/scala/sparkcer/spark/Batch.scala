package sparkcer.spark

import scala.collection.mutable

import sparkcer.engine.evaluate.Substream

/** Runs a query over the sorted events of a partition. Matches come out as they are found, one event's at a time. */
final class Batch(plan: Plan, sortedByKey: Boolean)
    extends (Iterator[Event] => Iterator[Array[Byte]])
    with Serializable {

  def apply(events: Iterator[Event]): Iterator[Array[Byte]] = {
    val recognizer = new Recognizer(plan)
    val substreams = new Substreams(recognizer)
    events.flatMap { e =>
      val found = mutable.ArrayBuffer.empty[Array[Byte]]
      val (substream, ties) = substreams.of(e)
      recognizer.read(substream, ties, e)(found += _)
      found
    }
  }

  /** The substream of an event: the current one if keys come one after the other, else looked up. */
  final private class Substreams(recognizer: Recognizer) {
    private val byKey = mutable.HashMap.empty[Seq[Byte], (Substream, Ties)]
    private var key: Array[Byte] = _
    private var current: (Substream, Ties) = _

    def of(e: Event): (Substream, Ties) = {
      if (key == null || !java.util.Arrays.equals(key, e.key)) {
        if (sortedByKey) {
          if (current != null) recognizer.evaluator.remove(current._1)
          current = fresh()
        } else current = byKey.getOrElseUpdate(e.key.toSeq, fresh())
        key = e.key
      }
      current
    }

    private def fresh() = (recognizer.evaluator.newSubstream(), new Ties)
  }
}
