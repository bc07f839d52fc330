package sparkcer.internal.stream

import sparkcer.internal.prepare.Event

/** The events that wait to be read, in order. New events mostly come in order and after those that wait, which costs
  * one pass; the worst case is a sort.
  */
final private[sparkcer] class Held {
  private var events = new Array[Event](16)
  private var from = 0
  private var until = 0

  /** The events before this place are in order. */
  private var sorted = 0

  def size: Int = until - from
  def isEmpty: Boolean = until == from

  def add(e: Event): Unit = {
    if (until == events.length) makeRoom()
    if (sorted == until && (isEmpty || Event.InOrder.compare(events(until - 1), e) <= 0)) sorted = until + 1
    events(until) = e
    until += 1
  }

  def first: Event = { order(); events(from) }

  def poll(): Event = {
    order()
    val e = events(from)
    events(from) = null
    from += 1
    e
  }

  def toVector: Vector[Event] = events.slice(from, until).toVector

  def clear(): Unit = {
    java.util.Arrays.fill(events.asInstanceOf[Array[AnyRef]], null)
    from = 0
    until = 0
    sorted = 0
  }

  private def order(): Unit = if (sorted != until) {
    java.util.Arrays.sort(events, from, until, Event.InOrder)
    sorted = until
  }

  /** Moves the events to the front of an array of twice their number. */
  private def makeRoom(): Unit = {
    val n = size
    val next = new Array[Event](math.max(16, 2 * n))
    System.arraycopy(events, from, next, 0, n)
    events = next
    sorted -= from
    from = 0
    until = n
  }
}
