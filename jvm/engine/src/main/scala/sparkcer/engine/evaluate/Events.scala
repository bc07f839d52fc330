package sparkcer.engine.evaluate

import sparkcer.engine.state.{WireReader, WireWriter}

/** A ring buffer of the events that partial matches use, oldest first. They are numbered in the order they are read.
  * The numbers are Ints that wrap around, so two of them are compared by their difference; a window never holds 2^31
  * events.
  *
  * Numbers are in the order of time, so an event has left the window exactly when its number is below [[first]]. The
  * nodes of the tECS that an event adds are numbered in the same order, so each event knows its first node, and nodes
  * are freed together with their event.
  */
final private[evaluate] class Events {
  private var times = new Array[Long](Events.Initial)
  private var firstNodes = new Array[Int](Events.Initial)
  private var payloads = new Array[Array[Byte]](Events.Initial)
  private var mask = Events.Initial - 1

  /** The oldest event kept, and one past the newest. */
  var base = 0
  var top = 0

  /** The oldest event at which a partial match may start. It is `base`, unless older events are kept for matches that
    * wait for their deadline.
    */
  var first = 0

  def size: Int = top - base

  def append(time: Long, firstNode: Int, payload: Array[Byte]): Int = {
    if (size == mask + 1) resize(2 * (mask + 1))
    val slot = top & mask
    times(slot) = time
    firstNodes(slot) = firstNode
    payloads(slot) = payload
    top += 1
    top - 1
  }

  /** Removes the newest event, which nothing uses. */
  def retract(): Unit = {
    top -= 1
    payloads(top & mask) = null
  }

  def time(event: Int): Long = times(event & mask)
  def firstNode(event: Int): Int = firstNodes(event & mask)
  def payload(event: Int): Array[Byte] = payloads(event & mask)

  /** Removes the events before `bound`, and says whether there were any. */
  def expire(bound: Long): Boolean =
    if (base == top || times(base & mask) >= bound) false
    else {
      var b = base
      while (b != top && times(b & mask) < bound) b += 1
      first = b
      removeUntil(b)
      true
    }

  /** The same, but events from number `needed` on are kept, although no partial match may start there. */
  def expire(bound: Long, needed: Int): Boolean = {
    while (first != top && times(first & mask) < bound) first += 1
    val until = if (needed - first < 0) needed else first
    val some = until - base > 0
    if (some) removeUntil(until)
    some
  }

  /** The first event, from [[first]] on, that is not before a time; times do not decrease. */
  def firstFrom(bound: Long): Int = {
    var (low, high) = (first, top)
    while (low != high) {
      val middle = low + ((high - low) >>> 1)
      if (times(middle & mask) < bound) low = middle + 1 else high = middle
    }
    low
  }

  private def removeUntil(event: Int): Unit = {
    while (base != event) {
      payloads(base & mask) = null
      base += 1
    }
    if (mask >= 8 * Events.Initial && size < (mask + 1) / 8) resize((mask + 1) / 2)
  }

  def clear(): Unit = expire(Long.MaxValue): Unit

  private def resize(capacity: Int): Unit = {
    if (capacity <= 0) throw Tecs.tooLarge
    val newTimes = new Array[Long](capacity)
    val newFirst = new Array[Int](capacity)
    val newPayloads = new Array[Array[Byte]](capacity)
    var i = base
    while (i != top) {
      newTimes(i & (capacity - 1)) = times(i & mask)
      newFirst(i & (capacity - 1)) = firstNodes(i & mask)
      newPayloads(i & (capacity - 1)) = payloads(i & mask)
      i += 1
    }
    times = newTimes
    firstNodes = newFirst
    payloads = newPayloads
    mask = capacity - 1
  }

  /** Writes the events from number `from` on, and the number of the oldest one kept. */
  def save(out: WireWriter, from: Int): Unit = {
    val first = if (from - base < 0) base else from
    out.int(base)
    out.int(first)
    out.int(top - first)
    var before = 0L
    var i = first
    while (i != top) {
      out.long(time(i) - before)
      before = time(i)
      out.int(firstNode(i))
      out.shared(payload(i))
      i += 1
    }
  }

  /** Appends the events of the next piece. */
  def restore(in: WireReader): Unit = {
    val newBase = in.int()
    val first = in.int()
    if (base == top) { base = first; top = first }
    while (base != top && newBase - base > 0) { payloads(base & mask) = null; base += 1 }
    if (base == top) { base = first; top = first }
    var before = 0L
    (0 until in.int()).foreach { _ =>
      before += in.long()
      append(before, in.int(), in.shared()): Unit
    }
    this.first = base
  }

  def bytes: Long = {
    var b = 16L * (mask + 1)
    var i = base
    while (i != top) { val p = payload(i); if (p != null) b += 16 + p.length; i += 1 }
    b
  }
}

private[evaluate] object Events {
  private val Initial = 4
}
