package sparkcer.engine.evaluate

import sparkcer.engine.state.{WireReader, WireWriter}

/** For each `NO α FOR d` at the beginning of a query, the time of the last α in a substream. CONSUME BY does not forget
  * them.
  */
final private[evaluate] class LastAbsent(substream: Substream, evaluator: Evaluator) {
  private val times = Array.fill(evaluator.absentBefore.length)(LastAbsent.Never)

  /** The class of an event by what came before it, and from now on this event came. See [[Substream.lookBack]]. */
  def lookBack(cls: Int, time: Long, bounds: Array[Long]): Int = {
    var came = 0
    var i = 0
    while (i < times.length) {
      if (times(i) != LastAbsent.Never && times(i) >= bounds(i)) came |= 1 << i
      if (evaluator.meets(cls, evaluator.absentBefore(i)) && times(i) != time) {
        times(i) = time
        substream.touch()
      }
      i += 1
    }
    evaluator.automaton.after(cls, came)
  }

  def save(out: WireWriter): Unit = times.foreach(out.long)
  def restore(in: WireReader): Unit = times.indices.foreach(i => times(i) = in.long())
}

private object LastAbsent {

  /** The time of an α that did not come yet. */
  private val Never = Long.MinValue
}
