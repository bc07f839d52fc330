package sparkcer.engine.evaluate

import sparkcer.engine.ceql.Consume
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
abstract class Substream private[evaluate] (evaluator: Evaluator, private[evaluate] var index: Int)
    extends PartialMatches {
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
  private[evaluate] val pending: PendingMatches =
    if (evaluator.program.waits.isEmpty) null else new PendingMatches(this, evaluator)

  /** Null unless the query begins with `NO α FOR d`. */
  private val lastAbsent: LastAbsent =
    if (evaluator.absentBefore.isEmpty) null else new LastAbsent(this, evaluator)

  /** When nodes reach this number, entries with old nodes must be removed, before node numbers wrap around. */
  private var sweepAt = Substream.SweepEvery

  private val countWindow = evaluator.countWindow

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

  /** The class of the next event of a query that begins with `NO α FOR d`, by what came before it. Each event must be
    * given to this once, and then be read with the class that it returns.
    *
    * @param bounds
    *   for each [[Program.looksBack]], the earliest time at which an α keeps this event from starting a match
    */
  final def lookBack(cls: Int, time: Long, bounds: Array[Long]): Int =
    if (evaluator.automaton.looksBack(cls)) lastAbsent.lookBack(cls, time, bounds) else cls

  /** Reads the next event of a query that ends with `NO α FOR d`, and says whether it closes a match, which it does
    * only where a side of an OR does not end with NO. The other matches of which it is the last event wait for their
    * deadline. If it is an α, they do not wait any longer. All deadlines before its time must have been fired.
    *
    * @param bound
    *   the earliest time at which a match that ends here may start
    * @param deadlines
    *   `time` and d for each of [[Program.waits]]: the last moment at which an α keeps these matches from ending. They
    *   do not decrease from event to event
    * @param bounds
    *   the earliest times at which matches that end at these deadlines may start
    */
  final def readWithDeadlines(
      cls: Int,
      time: Long,
      bound: Long,
      deadlines: Array[Long],
      bounds: Array[Long],
      payload: Array[Byte]
  ): Boolean = {
    if (deadline < time) throw new IllegalStateException(s"the deadline $deadline was not fired")
    position += 1
    if (pending.queues.firstDeadline != Long.MaxValue && evaluator.automaton.absentAfter(cls)) dropPending(cls, payload)
    if (evaluator.automaton.leaves(active, cls)) false
    else {
      if (isStale) forget()
      val found = step(cls, time, pending.earliestStart(bound, bounds), payload, timed = true)
      val closes = found && pending.hold(deadlines, bounds)
      if (closes) consume()
      closes
    }
  }

  private[evaluate] def dropPending(cls: Int, payload: Array[Byte]): Unit = {
    touch()
    pending.queues.clear()
  }

  private[evaluate] def found(deadline: Long): Pending.Item = {
    val cursor = evaluator.cursor
    new Pending.Item(deadline, evaluator.owners, 0L, cursor.end, events.first, cursor.copyOfHeads, endsOfHeads)
  }

  private[evaluate] def close(due: Pending.Item): Unit = {
    evaluator.cursor.reset(tecs, due.event, due.start)
    due.foreachHead((node, label) => evaluator.cursor.addHead(node, label, 0))
  }

  /** Notes that matches which wait use the last event. */
  final private[evaluate] def holds(): Unit = {
    touch()
    provisional = false
  }

  /** The first deadline that matches wait for, and `Long.MaxValue` if none do. */
  final def deadline: Long =
    if (pending == null || isStale) Long.MaxValue else pending.queues.firstDeadline

  /** The order in which equal deadlines of different substreams are fired: smaller numbers first. It matters under
    * CONSUME BY ANY only, and there is one if there is a [[deadline]].
    */
  final def owner: Long = pending.queues.first.owner

  /** Fires the first deadline if it is before a time. Then it closes matches, which `evaluator.matches` has, and
    * `evaluator.deadline` is when they end. Events at the deadline itself come before it. So before an event is read,
    * its substream must fire the deadlines before the event's time, and, under CONSUME BY ANY, all substreams must, in
    * the order of deadlines.
    */
  final def fire(before: Long): Boolean =
    if (deadline >= before) false
    else {
      touch()
      pending.fire()
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

  /** The time of the newest event kept: not after the time of the next event. */
  private[evaluate] def lastTime: Long = if (events.size == 0) Long.MinValue else events.time(events.top - 1)

  /** Keeps the event that is being read, drops what has left the window, and returns the number of the event. */
  final private[evaluate] def keep(time: Long, bound: Long, payload: Array[Byte]): Int = {
    touch()
    if (provisional) events.retract()
    val expired = if (pending == null) events.expire(bound) else pending.expire(events, bound)
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
    if (pending != null) pending.queues.clear()
    provisional = false
    consumed = false
    epoch = evaluator.epoch
  }

  /** Bytes of the owner that are saved with the substream. */
  final def attachment: Array[Byte] = attached
  final def attach(bytes: Array[Byte]): Unit = { attached = bytes; touch() }
  private var attached: Array[Byte] = null

  // Saved state, see Partitions.
  final private[evaluate] val savedNodes = new SavedNodes(events, tecs)
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
    if (lastAbsent != null) lastAbsent.save(out)
    write(out, full)
    if (pending != null) pending.save(out, full)
    markSaved()
  }

  final private[evaluate] def restore(in: WireReader): Unit = {
    position = in.long()
    attached = in.array()
    if (lastAbsent != null) lastAbsent.restore(in)
    readBack(in)
    if (pending != null) pending.restore(in)
    sweepAt = tecs.top + Substream.SweepEvery
    markSaved()
  }

  private def markSaved(): Unit = {
    savedNodes.mark()
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
  final def waiting: Int = if (deadline == Long.MaxValue) 0 else pending.queues.size
  def eventsKept: Int = events.size

  /** For tests: how many entries events have looked at one by one, where events are compared. */
  def looks: Long = 0L

  /** About how much memory it takes. */
  def bytes: Long =
    160 + tecs.bytes + events.bytes + 8L * active.length + (if (pending == null) 0L else pending.queues.bytes)

  /** For tests. */
  def checkInvariants(): Unit = {
    tecs.checkInvariants()
    if (pending != null && !isStale) pending.queues.checkInvariants(tecs, events)
  }
}

private[evaluate] object Substream {

  /** The initial state alone. It is shared, so that substreams which never change it do not take another cache line for
    * each event, and must not be written.
    */
  private val Initial = Array(1L)

  private val SweepEvery = 1 << 28
}
