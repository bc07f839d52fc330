package sparkcer.internal.stream

import sparkcer.internal.prepare.Event

/** Events that wait, in order. What a micro-batch adds is mostly in order already and mostly after what is there, which
  * costs one pass; the worst case is a sort.
  */
final private[sparkcer] class Held {
  private var events = new Array[Event](16)
  private var from = 0
  private var until = 0

  /** Up to here they are in order. */
  private var sorted = 0

  def size: Int = until - from
  def isEmpty: Boolean = until == from

  def add(e: Event): Unit = {
    if (until == events.length) makeRoom()
    if (sorted == until && (isEmpty || Bucket.InOrder.compare(events(until - 1), e) <= 0)) sorted = until + 1
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
    java.util.Arrays.sort(events, from, until, Bucket.InOrder)
    sorted = until
  }

  /** Moves the events to the front, of a larger array if they fill more than half of this one, or of a smaller. */
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
