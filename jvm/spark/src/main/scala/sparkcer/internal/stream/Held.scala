package sparkcer.internal.stream

import sparkcer.internal.prepare.Event

/** The events that wait to be read, in order. New events mostly come in order and after those that wait, which costs
  * one pass; the worst case is a sort. After [[trim]], the memory is that of the events that wait, however many have
  * passed.
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

  /** Gives back the room that a burst has left. Costs as much as the events that wait, and only if those that were read
    * since are more.
    */
  def trim(): Unit = if (events.length > Held.Small && size < events.length / 4) resize(2 * size)

  private[sparkcer] def room: Int = events.length

  private def order(): Unit = if (sorted != until) {
    if (until - sorted <= Held.Few) (sorted until until).foreach(insert)
    else java.util.Arrays.sort(events, from, until, Event.InOrder)
    sorted = until
  }

  /** Moves an event to its place among those before it, which are in order. */
  private def insert(at: Int): Unit = {
    val e = events(at)
    var low = from
    var high = at
    while (low < high) {
      val middle = (low + high) >>> 1
      if (Event.InOrder.compare(events(middle), e) <= 0) low = middle + 1 else high = middle
    }
    System.arraycopy(events, low, events, low + 1, at - low)
    events(low) = e
  }

  private def makeRoom(): Unit = resize(2 * size)

  /** Moves the events to the front of an array of this length. */
  private def resize(length: Int): Unit = {
    val n = size
    val next = new Array[Event](math.max(16, length))
    System.arraycopy(events, from, next, 0, n)
    events = next
    sorted -= from
    from = 0
    until = n
  }
}

private object Held {

  /** So much room is never given back. */
  val Small = 1024

  /** In Real-Time Mode events come one by one: so few are put in their places without a look at all others. */
  val Few = 4
}
