package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.automaton.Determinized.NoState
import sparkcer.engine.ceql.{Consume, Window}
import sparkcer.engine.ceql.Quantity.Number
import sparkcer.engine.state.{WireReader, WireWriter}

/** The partial matches of one substream: for each active state of the determinized automaton a node of the tECS.
  *
  * An event costs the states it moves, and for each a few writes and a logarithm at the most; the states that its class
  * leaves untouched are passed over 64 at a time.
  */
final class Substream private[evaluate] (evaluator: Evaluator, private[evaluate] var index: Int) {
  private val events = new Events
  private val tecs = new Tecs(events)

  // Active states as bits, and their nodes. State 0, the initial one, is always active and has no node.
  private var active = Array(1L)
  private var entries = new Array[Int](4)

  private var position = 0L
  private var epoch = evaluator.epoch

  /** The last event was kept for its matches only. */
  private var provisional = false

  /** Everything was consumed by the last event. */
  private var consumed = false

  /** The node after which entries that nobody touched must be looked at, before numbers come round. */
  private var sweepAt = Substream.SweepEvery

  private val countWindow: Long = evaluator.program.query.within match {
    case Some(Window.Events(Number(n))) => n.min(Long.MaxValue).toLong
    case _                              => -1L
  }

  /** Under LIMIT the order in which matches come must not depend on how states happen to be numbered: neither on a
    * restart nor on the events of other keys.
    */
  private val inOrder = evaluator.program.limit.isDefined

  /** In place of the tECS where matches are only counted. */
  private val counter = if (evaluator.program.countsRuns) new Counter(() => evaluator.automaton) else null

  /** In place of the entries where events are compared. */
  private val runs = if (evaluator.machine != null) new Runs(evaluator, events, tecs) else null
  private val plain = counter == null && runs == null

  /** The payload of an event of a match. */
  def payload(event: Int): Array[Byte] = events.payload(event)

  /** Reads the next event and says whether it closes a match; then `evaluator.matches` has them.
    *
    * @param cls
    *   its class, from `evaluator.classOf`
    * @param time
    *   its time, not before the last one's
    * @param bound
    *   the earliest time a match that ends here may start at (unused in a window of events)
    * @param payload
    *   kept as long as a partial match may need the event
    */
  def read(cls: Int, time: Long, bound: Long, payload: Array[Byte]): Boolean = {
    position += 1
    if (!plain) readOtherwise(cls, time, bound, payload)
    // Most events move nothing. What the last one left to do can then wait as well.
    else if (evaluator.automaton.leaves(active, cls)) false
    else if (countWindow < 0) step(cls, time, bound, payload, timed = true)
    else step(cls, position, position - countWindow, payload, timed = true)
  }

  private def readOtherwise(cls: Int, time: Long, bound: Long, payload: Array[Byte]): Boolean =
    if (counter != null) count(cls, time, bound, timed = true)
    else if (runs.idle(cls)) false
    else if (countWindow < 0) stepRuns(cls, time, bound, payload, timed = true)
    else stepRuns(cls, position, position - countWindow, payload, timed = true)

  /** Reads an event that has no time (NULL): it may be part of a match, but neither start nor end one. */
  def readUntimed(cls: Int, payload: Array[Byte]): Boolean = {
    position += 1
    if (counter != null) count(cls, counter.lastTime, Long.MinValue, timed = false)
    else {
      val time = if (events.size == 0) Long.MinValue else events.time(events.top - 1)
      if (runs != null) stepRuns(cls, time, Long.MinValue, payload, timed = false)
      else step(cls, time, Long.MinValue, payload, timed = false)
    }
  }

  private def count(cls: Int, time: Long, bound: Long, timed: Boolean): Boolean = {
    if (consumed || epoch != evaluator.epoch) forget()
    val before = counter.top
    val closed =
      if (countWindow < 0 || !timed) counter.read(cls, time, bound, timed)
      else counter.read(cls, position, position - countWindow, timed)
    if (counter.top != before) dirty = true
    evaluator.runs = closed
    if (closed > 0) consume()
    closed > 0
  }

  private def step(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean = {
    if (consumed || epoch != evaluator.epoch) forget()
    val automaton = evaluator.automaton
    val untouched = automaton.untouched(cls)
    var event = Substream.NotKept
    var adds = 0
    val cursor = evaluator.cursor
    var word = active.length - 1
    while (word >= 0) {
      var touched = active(word) & ~(if (word < untouched.length) untouched(word) else 0L)
      while (touched != 0) {
        val bit = 63 - java.lang.Long.numberOfLeadingZeros(touched)
        touched ^= 1L << bit
        val state = (word << 6) + bit
        val moves = automaton.moves(state, cls)
        if ((moves ne Determinized.Untouched) && (state != 0 || timed)) {
          if (event == Substream.NotKept) {
            event = keep(time, bound, payload)
            cursor.reset(tecs, event)
          }
          adds = move(state, moves, event, adds, timed)
        }
      }
      word -= 1
    }
    if (event == Substream.NotKept) false
    else {
      if (inOrder) {
        evaluator.sortNotes(adds)
        cursor.sortHeads(automaton)
      }
      if (adds > 0) writeNoted(adds)
      provisional = tecs.top == events.firstNode(event)
      if (tecs.top - sweepAt >= 0) sweep()
      val closes = cursor.nonEmpty
      if (closes) consume()
      closes
    }
  }

  /** As [[step]], on configurations. */
  private def stepRuns(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean = {
    if (consumed || epoch != evaluator.epoch) forget()
    if (!runs.find(cls, payload, timed)) false
    else {
      val event = keep(time, bound, payload)
      evaluator.cursor.reset(tecs, event)
      provisional = !runs.step(cls, event, timed)
      if (tecs.top - sweepAt >= 0) sweep()
      val closes = evaluator.cursor.nonEmpty
      if (closes) consume()
      closes
    }
  }

  private def consume(): Unit =
    if (evaluator.consume != Consume.None) {
      consumed = true
      if (evaluator.consume == Consume.Any) evaluator.epoch += 1
    }

  private def keep(time: Long, bound: Long, payload: Array[Byte]): Int = {
    dirty = true
    if (provisional) events.retract()
    if (events.expire(bound)) tecs.free(if (events.size == 0) tecs.top else events.firstNode(events.base))
    events.append(time, tecs.top, payload)
  }

  /** Reads one entry and adds to those it moves to. No entry may be read after it was written, or the event would be
    * used twice: states are visited from the last to the first, and what goes to an earlier one is noted for later.
    */
  private def move(state: Int, moves: Determinized.Moves, event: Int, noted: Int, timed: Boolean): Int = {
    var adds = noted
    val node = if (state == 0) 0 else entries(state)
    if (state != 0 && !tecs.live(node)) remove(state)
    else {
      if (state != 0 && !moves.stays) remove(state)
      var i = 0
      while (i < moves.length) {
        val label = moves.label(i)
        val target = moves.target(i)
        if (moves.accepts(i) && timed) evaluator.cursor.addHead(node, label, state)
        if (target >= state && !inOrder) add(target, node, event, label)
        else if (target != NoState) adds = evaluator.note(adds, target, node, label, state)
        i += 1
      }
    }
    adds
  }

  private def writeNoted(adds: Int): Unit = {
    val event = events.top - 1
    var i = 0
    while (i < adds) {
      add(evaluator.noteState(i), evaluator.noteNode(i), event, evaluator.noteLabel(i))
      i += 1
    }
  }

  /** Adds to an entry the matches of a node (0: the one that starts now) with the event, marked if there is a label. */
  private def add(state: Int, node: Int, event: Int, label: Int): Unit = {
    if (state >= entries.length) grow(state)
    val bit = 1L << state
    val there = if ((active(state >> 6) & bit) == 0) 0 else entries(state)
    active(state >> 6) |= bit
    entries(state) =
      if (node == 0) tecs.start(event, label, there)
      else if (label != 0) tecs.extend(node, event, label, there)
      else tecs.union(node, there)
  }

  private def grow(state: Int): Unit = {
    entries = java.util.Arrays.copyOf(entries, math.max(state + 1, 2 * entries.length))
    active = java.util.Arrays.copyOf(active, (entries.length + 63) >> 6)
  }

  private def remove(state: Int): Unit = active(state >> 6) &= ~(1L << state)

  private def forget(): Unit = {
    dirty = true
    java.util.Arrays.fill(active, 0L)
    active(0) = 1L
    events.clear()
    tecs.free(tecs.top)
    if (counter != null) counter.clear()
    if (runs != null) runs.clear()
    provisional = false
    consumed = false
    epoch = evaluator.epoch
  }

  private def sweep(): Unit = {
    states.foreach(s => if (!tecs.live(entries(s))) remove(s))
    if (runs != null) runs.sweep()
    sweepAt = tecs.top + Substream.SweepEvery
  }

  /** The active states that have a node. */
  private[evaluate] def states: Iterator[Int] =
    active.indices.iterator.flatMap { w =>
      val word = if (w == 0) active(0) & ~1L else active(w)
      Iterator
        .iterate(word)(b => b & (b - 1))
        .takeWhile(_ != 0)
        .map(b => (w << 6) + java.lang.Long.numberOfTrailingZeros(b))
    }

  /** Goes over to the evaluator's new automaton. */
  private[evaluate] def renumber(old: Determinized): Unit = {
    val before = states.map(s => (evaluator.automaton.intern(old.configuration(s)), entries(s))).toVector
    active = Array(1L)
    entries = new Array[Int](4)
    before.foreach { case (s, node) => add(s, node, 0, label = 0) }
    if (counter != null) counter.replay(cls => evaluator.automaton.classOf(old.maskOf(cls)))
  }

  /** Bytes of the owner's that are saved with the substream. */
  def attachment: Array[Byte] = attached
  def attach(bytes: Array[Byte]): Unit = { attached = bytes; dirty = true }
  private var attached: Array[Byte] = null

  // State, see Partitions. What came after these numbers is not saved yet.
  private var savedEvents = 0
  private var savedNodes = 1
  private var savedCounts = 0
  private var savedPosition = -1L
  private var dirty = true

  private[evaluate] def saved: Boolean = savedPosition >= 0
  private[evaluate] def changed: Boolean =
    dirty || consumed || provisional || epoch != evaluator.epoch || countWindow >= 0 && savedPosition != position

  private[evaluate] def save(out: WireWriter, full: Boolean): Unit = {
    settle()
    out.long(position)
    out.array(attached)
    if (counter != null)
      savedCounts = counter.save(out, if (full) counter.base else savedCounts, evaluator.automaton.maskOf)
    events.save(out, if (full) events.base else savedEvents)
    tecs.save(out, if (full) tecs.base else savedNodes)
    val live = states.filter(s => tecs.live(entries(s))).toVector
    out.int(live.length)
    live.foreach { s =>
      out.words(evaluator.automaton.configuration(s))
      out.int(tecs.top - entries(s))
    }
    if (runs != null) runs.save(out, full)
    markSaved()
  }

  private[evaluate] def restore(in: WireReader): Unit = {
    position = in.long()
    attached = in.array()
    if (counter != null) savedCounts = counter.restore(in, evaluator.automaton.classOf(_))
    events.restore(in)
    tecs.restore(in)
    active = Array(1L)
    entries = new Array[Int](4)
    (0 until in.int()).foreach { _ =>
      val state = evaluator.automaton.intern(in.words())
      add(state, tecs.top - in.int(), 0, label = 0)
    }
    if (runs != null) runs.restore(in)
    sweepAt = tecs.top + Substream.SweepEvery
    markSaved()
  }

  private def markSaved(): Unit = {
    savedEvents = events.top
    savedNodes = tecs.top
    savedPosition = position
    dirty = false
  }

  /** Does what the last event left for the next one to do. */
  private def settle(): Unit = {
    if (consumed || epoch != evaluator.epoch) forget()
    if (provisional) { events.retract(); provisional = false }
  }

  def nodes: Int = tecs.size

  /** How many entries events have looked at one by one, where events are compared. */
  def looks: Long = if (runs == null) 0L else runs.looks
  def eventsKept: Int = if (counter == null) events.size else counter.size

  /** About how much memory it takes. */
  def bytes: Long = {
    val instead = if (counter != null) counter.bytes else if (runs != null) runs.bytes else 0L
    160 + tecs.bytes + instead + events.bytes + 4L * entries.length + 8L * active.length
  }

  /** For tests. */
  def checkInvariants(): Unit = {
    tecs.checkInvariants()
    if (runs != null) runs.checkInvariants()
    states.foreach { s =>
      val n = entries(s)
      if (tecs.live(n)) require(n - tecs.top < 0, s"state $s has a node that does not exist")
    }
  }
}

private[evaluate] object Substream {
  private val NotKept = Int.MinValue
  private val SweepEvery = 1 << 28
}
