package sparkcer.internal.batch

import sparkcer.internal.prepare.Slices

/** How the events of a batch are spread over tasks. */
sealed trait Spread {
  def words: String
}

object Spread {

  /** All events of a key are in one task.
    *
    * @param inTime
    *   whether events are sorted by time, which is cheaper than by key and time. It needs a window, which tells when a
    *   key can be dropped; without one, events are sorted by key, and one key is read after the other
    */
  final case class ByKey(inTime: Boolean) extends Spread { def words: String = "by key" }

  final case class BySlice(slices: Slices) extends Spread { def words: String = "by slices of time" }

  /** All events are in one task. */
  final case class OneTask(why: String) extends Spread { def words: String = s"on one task, because $why" }
}
