package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.automaton.Determinized.{Moves, NoState, Untouched}
import sparkcer.engine.state.{WireReader, WireWriter}

/** Counts the matches that events close, without a tECS and without listing them.
  *
  * The determinized automaton finds each match by one run, so counting matches is counting runs, which is linear
  * algebra. Let the matrix `M(e)` map the number of runs in each state before an event to the numbers after it. The
  * initial state always keeps its one run, so that matches can start at a later event. With the events `1 … n` of the
  * window, the numbers of runs in the states are the first row of `M(1) · … · M(n)`.
  *
  * Events leave the window at the front, and these matrices have no inverse. So the product is kept in two halves, as a
  * queue can be made of two stacks. `back` is the product of the events after `middle`. For each event up to `middle`,
  * `front` has the first row of the product from that event to `middle`. A count is then the front row of the oldest
  * event times a column of `back`. When all events of the front half have left the window, the back half is converted
  * into front rows, from the last event to the first. All products are sparse, because an event changes only the rows
  * or columns of the states it moves. So an event costs, on average, the states it moves times all states, however much
  * the window holds.
  *
  * Events that move nothing are not kept. A count that would exceed `Long.MaxValue` stays there.
  */
final private[evaluate] class Counter(automaton: () => Determinized) {
  private var times = new Array[Long](8)
  private var classes = new Array[Int](8)
  private var timed = new Array[Boolean](8)
  private var front = new Array[Array[Long]](8)
  private var mask = 7

  /** The oldest event kept, and (`top`) one past the newest; numbers as in [[Events]]. */
  var base = 0
  private var middle = 0
  var top = 0

  /** The columns of the back product, and, while front rows are computed, the rows of the product so far. */
  private val back = new Matrix
  private val rows = new Matrix

  /** The states that may have runs in them, as bits. The array is changed in place or replaced. */
  var active: Array[Long] = Array(1L)

  /** Columns to add to states that are not read yet, see `push`. */
  private var noted = List.empty[(Int, Array[Long])]

  /** Increases whenever an event changes something. */
  private var changes = 0L

  def size: Int = top - base

  /** The time of the newest event kept: not after the time of the next event. */
  def lastTime: Long = if (size == 0) Long.MinValue else times((top - 1) & mask)

  /** Reads an event and returns how many matches it closes. */
  def read(cls: Int, time: Long, bound: Long, isTimed: Boolean): Long = {
    val a = automaton()
    if (a.leaves(active, cls)) 0L
    else {
      expire(bound)
      val before = changes
      val closed = push(a, cls, isTimed)
      if (changes != before) append(time, cls, isTimed)
      closed
    }
  }

  /** Multiplies the back product from the right by the matrix of an event: columns of sources are added to columns of
    * targets. It works in place, from the last state to the first; what goes to an earlier state is noted until all are
    * read. Returns how many runs accept.
    */
  private def push(a: Determinized, cls: Int, isTimed: Boolean): Long = {
    back.makeRoom(a.states)
    val untouched = a.untouched(cls)
    var closed = 0L
    var word = active.length - 1
    while (word >= 0) {
      var touched = active(word) & ~(if (word < untouched.length) untouched(word) else 0L)
      while (touched != 0) {
        val bit = 63 - java.lang.Long.numberOfLeadingZeros(touched)
        touched ^= 1L << bit
        val state = (word << 6) + bit
        val moves = a.moves(state, cls)
        if ((moves ne Untouched) && (state != 0 || isTimed)) {
          back.makeRoom(a.states)
          closed = Counter.plus(closed, pushFrom(state, moves, isTimed))
        }
      }
      word -= 1
    }
    if (noted.nonEmpty) {
      noted.foreach { case (t, column) => Matrix.add(back.line(t), column); activate(t) }
      noted = Nil
    }
    closed
  }

  private def pushFrom(state: Int, moves: Moves, isTimed: Boolean): Long = {
    var accepting = 0
    var same = if (moves.stays || state == 0) 1L else 0L
    var i = 0
    while (i < moves.length) {
      val t = moves.target(i)
      if (isTimed && moves.accepts(i)) accepting += 1
      if (t == state) same += 1
      else if (t != NoState) {
        if (t > state) { Matrix.add(back.line(t), back.line(state)); activate(t) }
        else noted ::= ((t, back.line(state).clone()))
        changes += 1
      }
      i += 1
    }
    val closed = if (accepting == 0) 0L else Counter.times(accepting.toLong, runs(state))
    if (same != 1) {
      Matrix.scale(back.line(state), same)
      if (same == 0) active(state >> 6) &= ~(1L << state)
      changes += 1
    }
    closed
  }

  /** The number of runs in the state that start in the window. */
  private def runs(state: Int): Long =
    if (base == middle) back.at(state, 0) // the front half is empty: all runs start in the back half
    else {
      val row = front(base & mask)
      val column = back.lineOrNull(state)
      if (column == null) { if (state < row.length) row(state) else 0L }
      else {
        var sum = 0L
        var r = math.min(row.length, column.length) - 1
        while (r >= 0) {
          if (row(r) != 0 && column(r) != 0) sum = Counter.plus(sum, Counter.times(row(r), column(r)))
          r -= 1
        }
        sum
      }
    }

  /** Removes the events before `bound`. */
  private def expire(bound: Long): Unit = {
    while (base != top && times(base & mask) < bound) { front(base & mask) = null; base += 1 }
    if (base - middle > 0) turn()
  }

  /** Computes front rows for all events, from the last to the first: rows of targets are added to rows of sources. */
  private def turn(): Unit = {
    val a = automaton()
    rows.makeRoom(a.states)
    rows.clear()
    var i = top
    while (i != base) {
      i -= 1
      turnOne(a, classes(i & mask), timed(i & mask))
      front(i & mask) = Matrix.trimmed(rows.line(0))
    }
    middle = top
    back.clear()
    active = Array(1L)
    if (base != top) {
      val oldest = front(base & mask)
      oldest.indices.foreach(s => if (oldest(s) != 0) activate(s))
    }
  }

  /** Multiplies the rows from the left by the matrix of an event. It works in place, from the first state to the last,
    * and uses a copy of the old rows for targets that come before their sources.
    *
    * It only needs the moves that are known. A state whose moves were never computed had no run in it when the event
    * was read, so its row is not needed.
    */
  private def turnOne(a: Determinized, cls: Int, isTimed: Boolean): Unit = {
    val sources = a.moved(cls)
    val old = if (a.movesBack(cls)) sources.map(s => rows.line(s).clone()) else null
    var k = if (isTimed || sources.length == 0 || sources(0) != 0) 0 else 1
    while (k < sources.length) {
      val s = sources(k)
      val moves = a.moves(s, cls)
      val row = rows.line(s)
      var same = if (moves.stays || s == 0) 1L else 0L
      var i = 0
      while (i < moves.length) { if (moves.target(i) == s) same += 1; i += 1 }
      if (same != 1) Matrix.scale(row, same)
      i = 0
      while (i < moves.length) {
        val t = moves.target(i)
        if (t != NoState && t != s) {
          val at = if (t < s && old != null) java.util.Arrays.binarySearch(sources, t) else -1
          Matrix.add(row, if (at >= 0) old(at) else rows.line(t))
        }
        i += 1
      }
      k += 1
    }
  }

  private def activate(s: Int): Unit = {
    if ((s >> 6) >= active.length) active = java.util.Arrays.copyOf(active, (s >> 6) + 1)
    active(s >> 6) |= 1L << s
  }

  private def append(time: Long, cls: Int, isTimed: Boolean): Unit = {
    if (size == mask + 1) grow()
    times(top & mask) = time
    classes(top & mask) = cls
    timed(top & mask) = isTimed
    top += 1
  }

  private def grow(): Unit = {
    val wide = 2 * (mask + 1)
    if (wide <= 0) throw Tecs.tooLarge
    val (newTimes, newClasses, newTimed, newFront) =
      (new Array[Long](wide), new Array[Int](wide), new Array[Boolean](wide), new Array[Array[Long]](wide))
    var i = base
    while (i != top) {
      newTimes(i & (wide - 1)) = times(i & mask)
      newClasses(i & (wide - 1)) = classes(i & mask)
      newTimed(i & (wide - 1)) = timed(i & mask)
      newFront(i & (wide - 1)) = front(i & mask)
      i += 1
    }
    times = newTimes
    classes = newClasses
    timed = newTimed
    front = newFront
    mask = wide - 1
  }

  /** Removes all events. */
  def clear(): Unit = {
    base = top
    java.util.Arrays.fill(front.asInstanceOf[Array[AnyRef]], null)
    restart()
  }

  private def restart(): Unit = {
    middle = base
    back.clear()
    active = Array(1L)
  }

  /** Computes all products again, after states and classes are renumbered. */
  def replay(newClass: Int => Int): Unit = {
    restart()
    var i = base
    while (i != top) {
      classes(i & mask) = newClass(classes(i & mask))
      push(automaton(), classes(i & mask), timed(i & mask)): Unit
      i += 1
    }
  }

  /** Writes the events from number `from` on. The products are not written: they can be computed from the events. */
  def save(out: WireWriter, from: Int, maskOf: Int => Array[Long]): Int = {
    val first = if (from - base < 0) base else from
    out.int(base)
    out.int(first)
    out.int(top - first)
    var i = first
    while (i != top) {
      out.long(times(i & mask))
      out.byte(if (timed(i & mask)) 1 else 0)
      out.words(maskOf(classes(i & mask)))
      i += 1
    }
    top
  }

  def restore(in: WireReader, classOf: Array[Long] => Int): Int = {
    val newBase = in.int()
    val first = in.int()
    if (base == top || newBase - top >= 0) { base = first; top = first }
    else base = newBase
    (0 until in.int()).foreach { _ =>
      val time = in.long()
      val isTimed = in.byte() == 1
      append(time, classOf(in.words()), isTimed)
    }
    replay(identity)
    top
  }

  def bytes: Long = 24L * (mask + 1) + front.iterator.filter(_ != null).map(16L + 8 * _.length).sum
}

private[evaluate] object Counter {

  /** The sum of numbers that are not negative, at most `Long.MaxValue`. */
  def plus(a: Long, b: Long): Long = { val c = a + b; if (c < 0) Long.MaxValue else c }

  def times(a: Long, b: Long): Long =
    if (Math.multiplyHigh(a, b) != 0 || a * b < 0) Long.MaxValue else a * b
}
