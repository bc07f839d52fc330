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

  /** The first deadline, and `Long.MaxValue` if nothing waits. It is asked for each event, so it is kept here. */
  def firstDeadline: Long = deadline
  private var deadline = Long.MaxValue
  private def update(): Unit = deadline = if (next.isEmpty) Long.MaxValue else next.first.deadline

  def isEmpty: Boolean = next.isEmpty

  /** The one with the first deadline. */
  def first: Item = next.first

  def add(queue: Int, item: Item): Unit = { queues(queue).add(item); update() }
  def removeFirst(): Unit = { next.removeFirst(); update() }
  def clear(): Unit = { queues.foreach(_.clear()); update() }

  /** See [[Pending.removeCompared]]. */
  def removeCompared(meets: Int => Boolean): Boolean = {
    val some = queues.map(_.removeCompared(meets)).contains(true)
    update()
    some
  }

  def size: Int = queues.iterator.map(_.size).sum
  def bytes: Long = queues.iterator.map(_.bytes).sum

  def save(out: WireWriter, full: Boolean, topEvent: Int, topNode: Int): Unit =
    queues.foreach(_.save(out, full, topEvent, topNode))

  /** Appends what waits in the next piece, and returns the largest number of an owner in it. */
  def restore(in: WireReader, topEvent: Int, topNode: Int): Long = {
    val owner = queues.map(_.restore(in, topEvent, topNode)).max
    update()
    owner
  }

  /** For tests. */
  def checkInvariants(tecs: Tecs, events: Events): Unit = {
    queues.foreach(_.checkInvariants(tecs, events))
    require(firstDeadline == (if (isEmpty) Long.MaxValue else first.deadline), "the first deadline is another one")
  }
}
