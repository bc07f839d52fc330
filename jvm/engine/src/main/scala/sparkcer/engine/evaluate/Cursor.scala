package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized

/** Enumerates the matches that an event or a deadline closed (ENUMERATE in CORE). The time for each match is linear in
  * its length. It holds one match and the nodes that are still to visit, never a set of matches.
  */
final private[evaluate] class Cursor extends Matches {
  private var tecs: Tecs = _

  // The heads: the last events of matches, with the node they extend (0: the match starts there), and their label.
  private var headNodes = new Array[Int](4)
  private var headLabels = new Array[Int](4)
  private var headStates = new Array[Int](4)
  private var heads = 0
  private var closing = 0
  private var first = 0

  private var nextHead = 0
  private var stackNodes = new Array[Int](16)
  private var stackDepths = new Array[Int](16)
  private var stacked = 0

  private var pathEvents = new Array[Int](16)
  private var pathLabels = new Array[Int](16)

  var length = 0
  var start = 0

  /** Prepares for the matches of another event. */
  def reset(over: Tecs, closingEvent: Int): Unit = reset(over, closingEvent, over.first)

  /** @param firstStart
    *   the oldest event at which a match may start
    */
  def reset(over: Tecs, closingEvent: Int, firstStart: Int): Unit = {
    tecs = over
    closing = closingEvent
    first = firstStart
    heads = 0
    rewind()
  }

  def nonEmpty: Boolean = heads > 0

  /** Sorts the heads by the state they come from, see [[Evaluator.sort]]. */
  def sortHeads(automaton: Determinized): Unit = Evaluator.sort(automaton, headStates, headLabels, heads, headNodes)

  def addHead(node: Int, label: Int, state: Int): Unit = {
    if (heads == headNodes.length) {
      headNodes = java.util.Arrays.copyOf(headNodes, 2 * heads)
      headLabels = java.util.Arrays.copyOf(headLabels, 2 * heads)
      headStates = java.util.Arrays.copyOf(headStates, 2 * heads)
    }
    headNodes(heads) = node
    headLabels(heads) = label
    headStates(heads) = state
    heads += 1
  }

  /** The node and the label of each head, in turn. */
  def copyOfHeads: Array[Int] =
    Array.tabulate(2 * heads)(i => if (i % 2 == 0) headNodes(i / 2) else headLabels(i / 2))

  def end: Int = closing

  def event(i: Int): Int = pathEvents(i)
  def label(i: Int): Int = pathLabels(i)

  /** Goes back to before the first match. */
  def rewind(): Unit = { nextHead = 0; stacked = 0 }

  def next(): Boolean =
    if (stacked > 0) {
      stacked -= 1
      descend(stackNodes(stacked), stackDepths(stacked))
      true
    } else if (nextHead < heads) {
      val node = headNodes(nextHead)
      val label = headLabels(nextHead)
      nextHead += 1
      if (label != 0) mark(0, closing, label)
      val depth = if (label != 0) 1 else 0
      if (node == 0) {
        start = closing
        length = depth
      } else descend(node, depth)
      true
    } else false

  /** The number of matches, at most `Long.MaxValue`. They are not listed: each live node is visited once. */
  def count: Long = {
    val known = new java.util.HashMap[Int, Long]
    var sum = 0L
    var h = 0
    while (h < heads) {
      sum = Counter.plus(sum, if (headNodes(h) == 0) 1L else countFrom(headNodes(h), known))
      h += 1
    }
    sum
  }

  /** The number of matches that a node stands for: those of its item, and of the nodes beside it. */
  private def countFrom(root: Int, known: java.util.HashMap[Int, Long]): Long = {
    stacked = 0
    push(root)
    while (stacked > 0) {
      val n = stackNodes(stacked - 1)
      val before = stacked
      val (next, left, right) = (tecs.next(n), tecs.left(n), tecs.right(n))
      if (next != 0 && !known.containsKey(next)) push(next)
      if (live(left) && !known.containsKey(left)) push(left)
      if (live(right) && !known.containsKey(right)) push(right)
      if (stacked == before) {
        def of(child: Int): Long = if (live(child)) known.get(child) else 0L
        known.put(n, Counter.plus(if (next == 0) 1L else known.get(next), Counter.plus(of(left), of(right))))
        stacked -= 1
      }
    }
    known.get(root)
  }

  private def push(n: Int): Unit = leave(n, 0)

  private def live(n: Int): Boolean = tecs.startsFrom(n, first)

  /** Goes from a live node to the start of its match. The nodes beside it are left for later. */
  private def descend(from: Int, at: Int): Unit = {
    var n = from
    var depth = at
    var going = true
    while (going) {
      leave(tecs.left(n), depth)
      leave(tecs.right(n), depth)
      val label = tecs.label(n)
      if (label != 0) { mark(depth, tecs.event(n), label); depth += 1 }
      val next = tecs.next(n)
      if (next == 0) {
        start = tecs.event(n)
        length = depth
        going = false
      } else n = next
    }
  }

  private def leave(n: Int, depth: Int): Unit =
    if (live(n)) {
      if (stacked == stackNodes.length) {
        stackNodes = java.util.Arrays.copyOf(stackNodes, 2 * stacked)
        stackDepths = java.util.Arrays.copyOf(stackDepths, 2 * stacked)
      }
      stackNodes(stacked) = n
      stackDepths(stacked) = depth
      stacked += 1
    }

  private def mark(depth: Int, event: Int, label: Int): Unit = {
    if (depth == pathEvents.length) {
      pathEvents = java.util.Arrays.copyOf(pathEvents, 2 * depth)
      pathLabels = java.util.Arrays.copyOf(pathLabels, 2 * depth)
    }
    pathEvents(depth) = event
    pathLabels(depth) = label
  }
}
