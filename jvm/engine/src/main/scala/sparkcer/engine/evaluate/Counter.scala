package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.automaton.Determinized.{Moves, NoState, Untouched}
import sparkcer.engine.state.{WireReader, WireWriter}

/** Counts the matches that events close, without a tECS and without listing them.
  *
  * The determinized automaton finds each match by one run, so counting matches is counting runs, which is linear
  * algebra: let `M(e)` be the matrix that takes, for each state, the number of runs in it from before an event to after
  * it, where the initial state also keeps its one run, ready to start at a later event. With the events `1 … n` of the
  * window, the runs in each state are the first row of `M(1) · … · M(n)`.
  *
  * The window takes events away at the front, and matrices have no inverse; so the product is kept in two halves (the
  * queue of two stacks). `back` is the product of the events after `middle`. For each event up to `middle`, `front` has
  * the first row of the product from it to `middle`. A count is then the front row of the oldest event times a column
  * of `back`. When the front half has gone, the back half is turned into front rows, from the last event to the first.
  * All products are sparse: an event changes the rows or columns of the states it moves. So an event costs, on average,
  * the states it moves times the states there are, whatever the window holds.
  *
  * Events that move nothing are not kept. Counts stick at `Long.MaxValue` when they pass it.
  */
final private[evaluate] class Counter(automaton: () => Determinized) {
  private var times = new Array[Long](8)
  private var classes = new Array[Int](8)
  private var timed = new Array[Boolean](8)
  private var front = new Array[Array[Long]](8)
  private var mask = 7

  /** Events kept: numbers as in [[Events]]. */
  var base = 0
  private var middle = 0
  var top = 0

  /** The columns of the back product, and, while front rows are made, the rows of the product under way. */
  private val back = new Matrix
  private val rows = new Matrix

  /** States with runs in them, or that may have. */
  private var active = Array(1L)

  /** Columns for states that are still to be read, see `push`. */
  private var noted = List.empty[(Int, Array[Long])]

  /** Grows whenever an event changes something. */
  private var changes = 0L

  def size: Int = top - base

  /** Not after the time of the next event. */
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

  /** Multiplies the back product by the matrix of an event, from the right: columns of targets grow by columns of
    * sources. It is done in place, from the last state to the first; what goes to an earlier one is noted until all are
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

  /** How many runs that start in the window are in the state. */
  private def runs(state: Int): Long =
    if (base == middle) back.at(state, 0) // the window starts where the back half does, in the initial state
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

  /** Forgets what lies before `bound`. */
  def expire(bound: Long): Unit = {
    while (base != top && times(base & mask) < bound) { front(base & mask) = null; base += 1 }
    if (base - middle > 0) turn()
  }

  /** Makes front rows of all events, from the last to the first: rows of sources grow by rows of targets. */
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

  /** In place, from the first state to the last, with the rows as they were for targets that come before their sources.
    *
    * States that no run was in when the event came have no use for their rows, so what was never asked is not needed.
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

  /** Forgets everything. */
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

  /** Does all products again, with the automaton as it is now and the classes renumbered. */
  def replay(newClass: Int => Int): Unit = {
    restart()
    var i = base
    while (i != top) {
      classes(i & mask) = newClass(classes(i & mask))
      push(automaton(), classes(i & mask), timed(i & mask)): Unit
      i += 1
    }
  }

  /** Writes the events from number `from` on; the products follow from them. */
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

  /** Both at least 0; sticks at the largest long. */
  def plus(a: Long, b: Long): Long = { val c = a + b; if (c < 0) Long.MaxValue else c }

  def times(a: Long, b: Long): Long =
    if (Math.multiplyHigh(a, b) != 0 || a * b < 0) Long.MaxValue else a * b
}
