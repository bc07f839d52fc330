package sparkcer.engine.evaluate

import sparkcer.engine.evaluate.Pending.Item
import sparkcer.engine.state.{WireReader, WireWriter}

/** All matches of a substream that wait for a deadline, in a query that ends with `NO α FOR d`: a queue for each length
  * that the sides of an OR say, and one in other queries.
  */
final private[evaluate] class PendingQueues(queues: Array[Pending]) {

  /** In most queries there is one, and it is asked for each event. */
  private val only = if (queues.length == 1) queues(0) else null

  /** The queue with the first deadline. */
  private def next: Pending = if (only != null) only else earliest

  /** Equal deadlines are in the order of the events that they belong to. */
  private def earliest: Pending = {
    var found = queues(0)
    var i = 1
    while (i < queues.length) {
      val q = queues(i)
      if (!q.isEmpty && (found.isEmpty || isBefore(q.first, found.first))) found = q
      i += 1
    }
    found
  }

  private def isBefore(a: Item, b: Item): Boolean =
    a.deadline < b.deadline || a.deadline == b.deadline && a.owner < b.owner

  def isEmpty: Boolean = next.isEmpty

  /** The one with the first deadline. */
  def first: Item = next.first

  def add(queue: Int, item: Item): Unit = queues(queue).add(item)
  def removeFirst(): Unit = next.removeFirst()
  def clear(): Unit = queues.foreach(_.clear())

  /** See [[Pending.removeCompared]]. */
  def removeCompared(meets: Int => Boolean): Boolean = queues.map(_.removeCompared(meets)).contains(true)

  def size: Int = queues.iterator.map(_.size).sum
  def bytes: Long = queues.iterator.map(_.bytes).sum

  def save(out: WireWriter, full: Boolean, topEvent: Int, topNode: Int): Unit =
    queues.foreach(_.save(out, full, topEvent, topNode))

  /** Appends what waits in the next piece, and returns the largest number of an owner in it. */
  def restore(in: WireReader, topEvent: Int, topNode: Int): Long = queues.map(_.restore(in, topEvent, topNode)).max

  /** For tests. */
  def checkInvariants(tecs: Tecs, events: Events): Unit = queues.foreach(_.checkInvariants(tecs, events))
}
