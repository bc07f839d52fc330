package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.ceql.{Consume, Window}
import sparkcer.engine.ceql.Quantity.Number
import sparkcer.engine.compare.Cell
import sparkcer.engine.state.{WireReader, WireWriter}

/** The events of one key, read in order, and the partial matches they have left open.
  *
  * A query keeps partial matches in one of three ways, the same for all its substreams:
  *
  *   - [[PlainSubstream]]: a node of the [[Tecs]] for each state of the determinized automaton;
  *   - [[ComparingSubstream]]: a node for each configuration, where the query compares events;
  *   - [[CountingSubstream]]: numbers and no nodes, where matches are only counted.
  *
  * This class has what they share: the events that are still needed, the window, CONSUME BY, and the outline of saved
  * state. `read` is not overridden, so that the JIT compiler inlines it and an event that changes nothing costs no
  * virtual call.
  */
abstract class Substream private[evaluate] (evaluator: Evaluator, private[evaluate] var index: Int) {
  private[evaluate] val events = new Events
  private[evaluate] val tecs = new Tecs(events)

  /** The states of the determinized automaton that may have partial matches, as bits. State 0, the initial one, is
    * always active. An event whose class leaves all of them as they are changes nothing here. (Where events are
    * compared, the determinized automaton has no known moves, so no class is ever known to leave state 0.)
    */
  private[evaluate] var active: Array[Long] = Substream.Initial

  private var position = 0L
  private var epoch = evaluator.epoch

  /** No partial match uses the last event that was kept: it is there for the matches it closed, until the next one. */
  private var provisional = false

  /** The last event closed a match that consumed all events. */
  private var consumed = false

  /** What waits for its deadline; null unless the query ends with `NO α FOR d`. */
  private[evaluate] val pending: Pending =
    if (evaluator.program.waits.isEmpty) null
    else if (!evaluator.program.cea.comparesAfter) new Pending(null)
    else new Pending(new PendingIndex(evaluator.machine, evaluator.now))

  /** When nodes reach this number, entries with old nodes must be removed, before node numbers wrap around. */
  private var sweepAt = Substream.SweepEvery

  private val countWindow: Long = evaluator.program.query.within match {
    case Some(Window.Events(Number(n))) => n.min(Long.MaxValue).toLong
    case _                              => -1L
  }

  /** The payload of an event of a match. */
  final def payload(event: Int): Array[Byte] = events.payload(event)

  /** Reads the next event and says whether it closes a match; then `evaluator.matches` has the matches.
    *
    * @param cls
    *   its class, from `evaluator.classOf`
    * @param time
    *   its time, not before that of the last event
    * @param bound
    *   the earliest time at which a match that ends here may start (unused in a window of events)
    * @param payload
    *   kept as long as a partial match may need the event
    */
  final def read(cls: Int, time: Long, bound: Long, payload: Array[Byte]): Boolean = {
    position += 1
    // Most events change nothing. What the last event has left to do can then wait as well.
    if (evaluator.automaton.leaves(active, cls)) false
    else if (countWindow < 0) take(cls, time, bound, payload, timed = true)
    else take(cls, position, position - countWindow, payload, timed = true)
  }

  /** Reads the next event of a query that ends with `NO α FOR d`. It closes no match: the matches of which it is the
    * last event wait for their deadline. If it is an α, none waits any longer. All deadlines before its time must have
    * been fired.
    *
    * @param bound
    *   the earliest time at which a match that ends at the deadline may start
    * @param deadline
    *   `time` and d: the last moment at which an α keeps these matches from ending. It does not decrease
    */
  final def readWithDeadline(cls: Int, time: Long, bound: Long, deadline: Long, payload: Array[Byte]): Unit = {
    if (this.deadline < time) throw new IllegalStateException(s"the deadline ${this.deadline} was not fired")
    position += 1
    if (!pending.isEmpty && evaluator.isAbsentAfter(cls)) dropPending(cls, payload)
    if (!evaluator.automaton.leaves(active, cls)) {
      if (isStale) forget()
      if (step(cls, time, bound, payload, timed = true)) hold(deadline)
    }
  }

  /** Drops the matches that wait and for which an event of the class is an α. */
  private[evaluate] def dropPending(cls: Int, payload: Array[Byte]): Unit

  final private[evaluate] def dropAllPending(): Unit = {
    touch()
    pending.clear()
  }

  /** Where the matches of each head of the last step end, if an α is compared with them. */
  private[evaluate] def endsOfHeads: Array[Array[Cell]] = null

  /** The matches that the last step has found wait until the deadline. */
  private def hold(deadline: Long): Unit = {
    touch()
    provisional = false
    val owner = evaluator.owners
    evaluator.owners += 1
    pending.add(
      if (evaluator.program.countsRuns) Pending.counted(deadline, owner, evaluator.runs)
      else {
        val cursor = evaluator.cursor
        new Pending.Item(deadline, owner, 0L, cursor.end, events.first, cursor.copyOfHeads, endsOfHeads)
      }
    )
  }

  /** The first deadline that matches wait for, and `Long.MaxValue` if none do. */
  final def deadline: Long =
    if (pending == null || pending.isEmpty || isStale) Long.MaxValue else pending.first.deadline

  /** The order in which equal deadlines of different substreams are fired: smaller numbers first. It matters under
    * CONSUME BY ANY only, and there is one if there is a [[deadline]].
    */
  final def owner: Long = pending.first.owner

  /** Fires the first deadline if it is before a time. Then it closes matches, which `evaluator.matches` has, and
    * `evaluator.deadline` is when they end. Events at the deadline itself come before it. So before an event is read,
    * its substream must fire the deadlines before the event's time, and, under CONSUME BY ANY, all substreams must, in
    * the order of deadlines.
    */
  final def fire(before: Long): Boolean =
    if (deadline >= before) false
    else {
      touch()
      val due = pending.first
      evaluator.firedDeadline = due.deadline
      if (evaluator.program.countsRuns) evaluator.runs = due.count
      else {
        evaluator.cursor.reset(tecs, due.event, due.start)
        due.foreachHead((node, label) => evaluator.cursor.addHead(node, label, 0))
      }
      pending.removeFirst()
      consume()
      true
    }

  /** Reads an event that has no time (NULL): it may be part of a match, but neither start nor end one. */
  final def readUntimed(cls: Int, payload: Array[Byte]): Boolean = {
    position += 1
    take(cls, lastTime, Long.MinValue, payload, timed = false)
  }

  private def take(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean = {
    if (isStale) forget()
    val closes = step(cls, time, bound, payload, timed)
    if (closes) consume()
    closes
  }

  /** A match is closed. */
  private def consume(): Unit =
    if (evaluator.consume != Consume.None) {
      consumed = true
      if (evaluator.consume == Consume.Any) evaluator.epoch += 1
    }

  /** Has a match consumed all that is here? */
  private def isStale: Boolean = consumed || epoch != evaluator.epoch

  /** Moves the partial matches with an event, and says whether it closes a match. */
  private[evaluate] def step(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean

  /** The time of the newest event kept: not after the time of the next event. */
  private[evaluate] def lastTime: Long = if (events.size == 0) Long.MinValue else events.time(events.top - 1)

  /** Keeps the event that is being read, drops what has left the window, and returns the number of the event. */
  final private[evaluate] def keep(time: Long, bound: Long, payload: Array[Byte]): Int = {
    touch()
    if (provisional) events.retract()
    val expired =
      if (pending == null || pending.isEmpty) events.expire(bound) else events.expire(bound, pending.first.start)
    if (expired) tecs.free(if (events.size == 0) tecs.top else events.firstNode(events.base))
    events.append(time, tecs.top, payload)
  }

  /** Ends the step of an event that was kept.
    *
    * @param used
    *   whether a partial match uses the event
    */
  final private[evaluate] def kept(used: Boolean): Boolean = {
    provisional = !used
    if (tecs.top - sweepAt >= 0) {
      sweep()
      sweepAt = tecs.top + Substream.SweepEvery
    }
    evaluator.cursor.nonEmpty
  }

  private def forget(): Unit = {
    touch()
    events.clear()
    tecs.free(tecs.top)
    clear()
    if (pending != null) pending.clear()
    provisional = false
    consumed = false
    epoch = evaluator.epoch
  }

  /** Drops all partial matches. */
  private[evaluate] def clear(): Unit

  /** Removes the partial matches that have left the window. */
  private[evaluate] def sweep(): Unit

  /** Switches to the evaluator's new automaton, which numbers states and classes in another way. */
  private[evaluate] def renumber(old: Determinized): Unit

  /** Bytes of the owner that are saved with the substream. */
  final def attachment: Array[Byte] = attached
  final def attach(bytes: Array[Byte]): Unit = { attached = bytes; touch() }
  private var attached: Array[Byte] = null

  // Saved state, see Partitions. Events and nodes from these numbers on are not saved yet.
  private var savedEvents = 0
  private var savedNodes = 1
  private var savedPosition = -1L
  private var dirty = true

  /** Notes that there is something to save. */
  final private[evaluate] def touch(): Unit = dirty = true

  final private[evaluate] def saved: Boolean = savedPosition >= 0
  final private[evaluate] def changed: Boolean =
    dirty || consumed || provisional || epoch != evaluator.epoch || countWindow >= 0 && savedPosition != position

  final private[evaluate] def save(out: WireWriter, full: Boolean): Unit = {
    settle()
    out.long(position)
    out.array(attached)
    write(out, full)
    if (pending != null) pending.save(out, full, events.top, tecs.top)
    markSaved()
  }

  final private[evaluate] def restore(in: WireReader): Unit = {
    position = in.long()
    attached = in.array()
    readBack(in)
    if (pending != null)
      evaluator.owners = math.max(evaluator.owners, pending.restore(in, events.top, tecs.top) + 1)
    sweepAt = tecs.top + Substream.SweepEvery
    markSaved()
  }

  /** Writes all partial matches, or, unless `full`, what is new since they were last saved. */
  private[evaluate] def write(out: WireWriter, full: Boolean): Unit

  /** Adds what `write` wrote to what is here. */
  private[evaluate] def readBack(in: WireReader): Unit

  final private[evaluate] def writeNodes(out: WireWriter, full: Boolean): Unit = {
    events.save(out, if (full) events.base else savedEvents)
    tecs.save(out, if (full) tecs.base else savedNodes)
  }

  final private[evaluate] def readNodes(in: WireReader): Unit = {
    events.restore(in)
    tecs.restore(in)
  }

  private def markSaved(): Unit = {
    savedEvents = events.top
    savedNodes = tecs.top
    savedPosition = position
    dirty = false
  }

  /** Does what the last event has left for the next one to do. */
  private def settle(): Unit = {
    if (isStale) forget()
    if (provisional) { events.retract(); provisional = false }
  }

  final def nodes: Int = tecs.size

  /** How many last events have matches that wait for their deadline. */
  final def waiting: Int = if (deadline == Long.MaxValue) 0 else pending.size
  def eventsKept: Int = events.size

  /** For tests: how many entries events have looked at one by one, where events are compared. */
  def looks: Long = 0L

  /** About how much memory it takes. */
  def bytes: Long =
    160 + tecs.bytes + events.bytes + 8L * active.length + (if (pending == null) 0L else pending.bytes)

  /** For tests. */
  def checkInvariants(): Unit = {
    tecs.checkInvariants()
    if (pending != null && !isStale) pending.checkInvariants(tecs, events)
  }
}

private[evaluate] object Substream {
  def apply(evaluator: Evaluator, index: Int): Substream =
    if (evaluator.program.countsRuns) new CountingSubstream(evaluator, index)
    else if (evaluator.machine != null) new ComparingSubstream(evaluator, index)
    else new PlainSubstream(evaluator, index)

  /** The initial state alone. It is shared, so that substreams which never change it do not take another cache line for
    * each event, and must not be written.
    */
  private val Initial = Array(1L)

  private val SweepEvery = 1 << 28
}
