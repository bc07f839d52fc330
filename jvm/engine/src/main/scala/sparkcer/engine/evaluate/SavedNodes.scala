package sparkcer.engine.evaluate

import sparkcer.engine.state.{WireReader, WireWriter}

/** Which events and nodes of a substream are saved: those before two numbers. */
final private[evaluate] class SavedNodes(events: Events, tecs: Tecs) {
  private var untilEvent = 0
  private var untilNode = 1

  /** Writes all, or, unless `full`, those that are not saved yet. */
  def save(out: WireWriter, full: Boolean): Unit = {
    events.save(out, if (full) events.base else untilEvent)
    tecs.save(out, if (full) tecs.base else untilNode)
  }

  def restore(in: WireReader): Unit = {
    events.restore(in)
    tecs.restore(in)
  }

  /** All are saved now. */
  def mark(): Unit = {
    untilEvent = events.top
    untilNode = tecs.top
  }
}
