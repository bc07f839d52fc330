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

  /** Columns of the back product; null for the column of the unit matrix. */
  private var back = new Array[Array[Long]](8)

  /** States with runs in them, or that may have. */
  private var active = Array(1L)

  def size: Int = top - base

  /** Not after the time of the next event. */
  def lastTime: Long = if (size == 0) Long.MinValue else times((top - 1) & mask)

  /** Reads an event and returns how many matches it closes. */
  def read(cls: Int, time: Long, bound: Long, isTimed: Boolean): Long = {
    val a = automaton()
    if (a.leaves(active, cls)) 0L
    else {
      expire(bound)
      val sources = touchedBy(a, cls, isTimed)
      var closed = 0L
      var moves = false
      var i = 0
      while (i < sources.length) {
        val m = a.moves(sources(i), cls)
        var k = 0
        while (k < m.length) {
          if (isTimed && m.accepts(k)) closed = Counter.plus(closed, runs(sources(i)))
          if (m.target(k) != NoState) moves = true
          k += 1
        }
        if (!m.stays && sources(i) != 0) moves = true
        i += 1
      }
      if (moves) {
        append(time, cls, isTimed)
        push(a, cls, sources)
      }
      closed
    }
  }

  /** How many runs that start in the window are in the state. */
  private def runs(state: Int): Long = {
    val column = if (state < back.length) back(state) else null
    if (base == middle) { // the window starts where the back half does, in the initial state
      if (column == null) (if (state == 0) 1L else 0L) else column(0)
    } else {
      val row = front(base & mask)
      if (column == null) (if (state < row.length) row(state) else 0L)
      else {
        var sum = 0L
        var r = 0
        while (r < row.length && r < column.length) {
          if (row(r) != 0 && column(r) != 0) sum = Counter.plus(sum, Counter.times(row(r), column(r)))
          r += 1
        }
        sum
      }
    }
  }

  /** Multiplies the back product by the matrix of an event, from the right: columns of targets grow by columns of
    * sources.
    */
  private def push(a: Determinized, cls: Int, sources: Array[Int]): Unit = if (sources.nonEmpty) {
    val height = 1 + sources.iterator.map(s => math.max(s, Counter.targets(a.moves(s, cls)).foldLeft(0)(math.max))).max
    if (height > back.length) back = java.util.Arrays.copyOf(back, math.max(height, 2 * back.length))
    val old = sources.map(s => column(s))
    sources.foreach(s => if (s != 0 && !a.moves(s, cls).stays) { back(s) = Counter.Zero; active(s >> 6) &= ~(1L << s) })
    sources.indices.foreach { i =>
      Counter.targets(a.moves(sources(i), cls)).foreach { t =>
        back(t) = Counter.sum(column(t), old(i))
        activate(t)
      }
    }
  }

  private def column(s: Int): Array[Long] =
    if (back(s) != null) back(s) else { val unit = new Array[Long](s + 1); unit(s) = 1L; unit }

  private def touchedBy(a: Determinized, cls: Int, isTimed: Boolean): Array[Int] = {
    val untouched = a.untouched(cls)
    val found = Array.newBuilder[Int]
    var word = 0
    while (word < active.length) {
      var bits = active(word) & ~(if (word < untouched.length) untouched(word) else 0L)
      while (bits != 0) {
        val s = (word << 6) + java.lang.Long.numberOfTrailingZeros(bits)
        bits &= bits - 1
        if ((s != 0 || isTimed) && (a.moves(s, cls) ne Untouched)) found += s
      }
      word += 1
    }
    found.result()
  }

  /** Forgets what lies before `bound`. */
  def expire(bound: Long): Unit = {
    while (base != top && times(base & mask) < bound) { front(base & mask) = null; base += 1 }
    if (base - middle > 0) turn()
  }

  /** Makes front rows of all events, from the last to the first: rows of sources grow by rows of targets. */
  private def turn(): Unit = {
    val a = automaton()
    val rows = new Array[Array[Long]](a.states)
    def row(s: Int): Array[Long] =
      if (rows(s) != null) rows(s) else { val unit = new Array[Long](s + 1); unit(s) = 1L; unit }
    var i = top
    while (i != base) {
      i -= 1
      val cls = classes(i & mask)
      // States that no run was in when the event came have no use for their rows; what is not known was never asked.
      val sources = (0 until a.states).filter { s =>
        val m = a.known(s, cls)
        m != null && (m ne Untouched) && (s != 0 || timed(i & mask))
      }
      val fresh = sources.map { s =>
        val m = a.moves(s, cls)
        val stays = if (s == 0 || m.stays) row(s) else Counter.Zero
        Counter.targets(m).foldLeft(stays)((sum, t) => Counter.sum(sum, row(t)))
      }
      sources.indices.foreach(k => rows(sources(k)) = fresh(k))
      front(i & mask) = row(0)
    }
    middle = top
    java.util.Arrays.fill(back.asInstanceOf[Array[AnyRef]], null)
    active = Array(1L)
    if (base != top) {
      val oldest = front(base & mask)
      oldest.indices.foreach(s => if (oldest(s) != 0) activate(s))
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
    if (wide <= 0) throw new IllegalStateException(Tecs.TooLarge)
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
    java.util.Arrays.fill(back.asInstanceOf[Array[AnyRef]], null)
    active = Array(1L)
  }

  /** Does all products again, with the automaton as it is now and the classes renumbered. */
  def replay(newClass: Int => Int): Unit = {
    restart()
    var i = base
    while (i != top) {
      classes(i & mask) = newClass(classes(i & mask))
      val a = automaton()
      push(a, classes(i & mask), touchedBy(a, classes(i & mask), timed(i & mask)))
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
  private val Zero = new Array[Long](0)

  private def targets(m: Moves): Iterator[Int] = (0 until m.length).iterator.map(m.target).filter(_ != NoState)

  /** Both at least 0; sticks at the largest long. */
  def plus(a: Long, b: Long): Long = { val c = a + b; if (c < 0) Long.MaxValue else c }

  def times(a: Long, b: Long): Long =
    if (a == 0 || b == 0) 0L else if (Math.multiplyHigh(a, b) != 0 || a * b < 0) Long.MaxValue else a * b

  private def sum(a: Array[Long], b: Array[Long]): Array[Long] = {
    val (long, short) = if (a.length >= b.length) (a, b) else (b, a)
    val c = long.clone()
    var i = 0
    while (i < short.length) { c(i) = plus(c(i), short(i)); i += 1 }
    c
  }
}
