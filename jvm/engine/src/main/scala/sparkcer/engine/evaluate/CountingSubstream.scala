package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.state.{WireReader, WireWriter}

/** A substream of a query that only counts matches. It keeps no payloads and no nodes: a [[Counter]] has the numbers of
  * partial matches.
  */
final private[evaluate] class CountingSubstream(evaluator: Evaluator, number: Int)
    extends Substream(evaluator, number) {
  private val counter = new Counter(() => evaluator.automaton)
  share()

  /** The first number of an event that is not saved yet. */
  private var savedCounts = 0

  private[evaluate] def step(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean = {
    val before = counter.top
    evaluator.runs = counter.read(cls, time, bound, timed)
    if (counter.top != before) touch()
    share()
    evaluator.runs > 0
  }

  /** The states with runs in them are the counter's. It may have replaced the array. */
  private def share(): Unit = active = counter.active

  override private[evaluate] def lastTime: Long = counter.lastTime

  override private[evaluate] def found(deadline: Long): Pending.Item =
    Pending.counted(deadline, evaluator.owners, evaluator.runs)

  override private[evaluate] def close(due: Pending.Item): Unit = evaluator.runs = due.count

  private[evaluate] def clear(): Unit = { counter.clear(); share() }

  private[evaluate] def sweep(): Unit = ()

  private[evaluate] def renumber(old: Determinized): Unit = {
    counter.replay(cls => evaluator.automaton.classOf(old.maskOf(cls)))
    share()
  }

  // There are no nodes and no entries. The format of saved state has a place for them, as in the other substreams.

  private[evaluate] def write(out: WireWriter, full: Boolean): Unit = {
    savedCounts = counter.save(out, if (full) counter.base else savedCounts, evaluator.automaton.maskOf)
    savedNodes.save(out, full)
    out.int(0)
  }

  private[evaluate] def readBack(in: WireReader): Unit = {
    savedCounts = counter.restore(in, evaluator.automaton.classOf(_))
    share()
    savedNodes.restore(in)
    in.int(): Unit
  }

  override def eventsKept: Int = counter.size
  override def bytes: Long = super.bytes + counter.bytes
}
