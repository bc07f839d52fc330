package sparkcer.engine.evaluate

import sparkcer.engine.state.{StateException, WireReader, WireWriter}

/** The timed enumerable compact set (tECS) of CORE, Section 4.1: all partial matches in nodes that share what they have
  * in common. A node is not changed after it is written.
  *
  * A node stands for a set of partial matches (a start and the marked events so far). It has an *item* and two other
  * nodes beside it, `left` and `right`, and stands for the matches of all three. An item is
  *
  *   - a start: `next` is 0; the match starts at `event`, which is marked if `label` is not 0; or
  *   - an output: every match of `next`, with `event` marked by `label` at its end.
  *
  * CORE has union nodes, and keeps them shallow by gadgets and sorted union-lists. Here nodes form a persistent leftist
  * heap in the order of `maxStart`, the latest start in the set: `left` and `right` never start later than the node
  * itself, and `rank(left) >= rank(right)`. So an enumeration can stop at the first node whose latest start is out of
  * the window; every node that it visits gives at least one match, and the time for each match is linear in its length.
  * The union of two sets takes logarithmic time, and only one write if the new one starts last, which is the usual
  * case.
  *
  * Nodes are in a ring buffer, 8 ints each, and are numbered as events are (0 is no node). They are freed oldest first,
  * when the event that added them leaves the window: everything they stand for started before the window, too. So a
  * live node may point to a freed one, and no pointer may be followed unless it is [[live]].
  */
final private[evaluate] class Tecs(events: Events) {
  import Tecs._

  private var nodes = new Array[Int](Initial * Width)
  private var mask = Initial - 1

  /** The oldest node kept, and one past the newest. */
  var base = 1
  var top = 1

  def size: Int = top - base
  def bytes: Long = 4L * nodes.length

  private def slot(n: Int): Int = (n & mask) << WidthBits

  def event(n: Int): Int = nodes(slot(n) + Event)
  def label(n: Int): Int = nodes(slot(n) + Label)
  def next(n: Int): Int = nodes(slot(n) + Next)
  def left(n: Int): Int = nodes(slot(n) + Left)
  def right(n: Int): Int = nodes(slot(n) + Right)
  def maxStart(n: Int): Int = nodes(slot(n) + MaxStart)
  def rank(n: Int): Int = nodes(slot(n) + Rank)

  /** Does the node stand for a match that starts in the window? Also false for no node. */
  def live(n: Int): Boolean = startsFrom(n, events.first)

  /** Does the node stand for a match that starts at the event `first` or later? */
  def startsFrom(n: Int, first: Int): Boolean = n != 0 && n - base >= 0 && maxStart(n) - first >= 0

  /** The oldest event at which a partial match may start. */
  def first: Int = events.first

  /** The matches that start at `event`, marked if `label` is not 0, and those of `beside`. */
  def start(event: Int, label: Int, beside: Int): Int = add(event, label, 0, event, beside)

  /** The matches of `n`, with `event` marked by `label`, and those of `beside`. */
  def extend(n: Int, event: Int, label: Int, beside: Int): Int = add(event, label, n, maxStart(n), beside)

  /** A new item beside a node: one write if it starts last. */
  private def add(event: Int, label: Int, next: Int, start: Int, beside: Int): Int =
    if (!live(beside)) write(event, label, next, 0, 0, start, 1)
    else if (start - maxStart(beside) >= 0) write(event, label, next, beside, 0, start, 1)
    else union(write(event, label, next, 0, 0, start, 1), beside)

  /** The union of two nodes that share no match. */
  def union(a: Int, b: Int): Int =
    if (!live(a)) b
    else if (!live(b)) a
    else if (maxStart(a) - maxStart(b) < 0) union(b, a)
    else {
      val merged = union(right(a), b)
      val other = if (live(left(a))) left(a) else 0
      val swap = other == 0 || rank(other) < rank(merged)
      val l = if (swap) merged else other
      val r = if (swap) other else merged
      val at = slot(a)
      write(
        nodes(at + Event),
        nodes(at + Label),
        nodes(at + Next),
        l,
        r,
        nodes(at + MaxStart),
        if (r == 0) 1 else rank(r) + 1
      )
    }

  private def write(event: Int, label: Int, next: Int, left: Int, right: Int, maxStart: Int, rank: Int): Int = {
    if (top - base == mask + 1 || top == 0) makeRoom()
    val n = top
    top += 1
    val at = slot(n)
    nodes(at + Event) = event
    nodes(at + Label) = label
    nodes(at + Next) = next
    nodes(at + Left) = left
    nodes(at + Right) = right
    nodes(at + MaxStart) = maxStart
    nodes(at + Rank) = rank
    n
  }

  private def makeRoom(): Unit = {
    if (top == 0) top = 1 // 0 is no node: leave its slot unused
    if (top - base > mask) resize(2 * (mask + 1))
  }

  /** Frees the nodes before `n`. */
  def free(n: Int): Unit = {
    base = n
    if (mask >= 8 * Initial && size < (mask + 1) / 8) resize((mask + 1) / 2)
  }

  private def resize(capacity: Int): Unit = {
    if (capacity > MaxNodes) throw tooLarge
    val copy = new Array[Int](capacity * Width)
    var n = base
    while (n != top) {
      System.arraycopy(nodes, slot(n), copy, (n & (capacity - 1)) << WidthBits, Width)
      n += 1
    }
    nodes = copy
    mask = capacity - 1
  }

  /** Writes the nodes from number `from` on, and the number of the oldest one kept. Pointers are written as distances,
    * which are small.
    */
  def save(out: WireWriter, from: Int): Unit = {
    val first = if (from - base < 0) base else from
    out.int(base)
    out.int(first)
    out.int(top - first)
    def pointer(n: Int, to: Int): Unit = out.int(if (to == 0 || to - base < 0) 0 else n - to)
    var n = first
    while (n != top) {
      if (n != 0) {
        out.int(event(n))
        out.int(label(n))
        pointer(n, next(n))
        pointer(n, left(n))
        pointer(n, right(n))
        out.int(event(n) - maxStart(n))
        out.int(rank(n))
      }
      n += 1
    }
  }

  /** Appends the nodes of the next piece. */
  def restore(in: WireReader): Unit = {
    val newBase = in.int()
    val first = in.int()
    if (base == top || newBase - top >= 0) { base = first; top = first }
    else base = newBase
    val end = first + in.int()
    while (top != end)
      if (top == 0) top += 1
      else {
        val n = top
        val event = in.int()
        val label = in.int()
        def pointer(): Int = { val d = in.int(); if (d == 0) 0 else n - d }
        write(event, label, pointer(), pointer(), pointer(), event - in.int(), in.int()): Unit
      }
  }

  /** The event that added the node. Among the nodes of one event a pointer may go to a larger number. */
  private def madeBy(n: Int): Int = {
    var e = events.base
    while (e + 1 - events.top < 0 && events.firstNode(e + 1) - n <= 0) e += 1
    e
  }

  /** For tests: throws if a live node breaks an invariant. */
  def checkInvariants(): Unit = {
    var n = base
    while (n != top) {
      if (live(n)) {
        val m = maxStart(n)
        require(event(n) - events.base >= 0 && event(n) - events.top < 0, s"node $n uses a forgotten event")
        require(m - event(n) <= 0, s"node $n starts after its event")
        if (next(n) == 0) require(m == event(n), s"start node $n has another start")
        else {
          require(live(next(n)), s"live output node $n goes on to a dead one")
          require(maxStart(next(n)) == m, s"output node $n is not as late as what it goes on to")
          require(next(n) - n < 0 && event(next(n)) - event(n) < 0, s"output node $n does not go back in time")
        }
        for (child <- Seq(left(n), right(n)) if live(child)) {
          require(
            child - n < 0 || child != n && madeBy(child) == madeBy(n),
            s"node $n points to a node of a later event"
          )
          require(maxStart(child) - m <= 0, s"node $n starts before the one below it")
        }
        val (l, r) = (left(n), right(n))
        if (live(r)) require(!live(l) || rank(l) >= rank(r), s"node $n leans to the right")
      }
      n += 1
    }
  }
}

private[engine] object Tecs {
  private val WidthBits = 3
  private val Width = 1 << WidthBits
  private val Event = 0
  private val Label = 1
  private val Next = 2
  private val Left = 3
  private val Right = 4
  private val MaxStart = 5
  private val Rank = 6

  private val Initial = 4

  /** An array has at most 2^31 ints. */
  private val MaxNodes = 1 << 27

  def tooLarge: StateException = new StateException("CER_STATE_TOO_LARGE", "most" -> MaxNodes.toString)
}
