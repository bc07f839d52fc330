package sparkcer.internal.rules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import sparkcer.engine.evaluate.Substream
import sparkcer.engine.state.Bytes
import sparkcer.internal.output.{Deadlines, Recognizer, Ties, View}
import sparkcer.internal.prepare.Event

/** Runs the rules of a set over the events of a task, in the order of time. Returns rows one at a time, as they are
  * found; a row is valid until the next one is asked for.
  *
  * @param untils
  *   the times up to which events are complete: a match that waits for a later deadline is not returned
  */
final private[rules] class RuleBatch(set: RuleSetPlan, untils: Array[Long], events: Iterator[InternalRow])
    extends Iterator[UnsafeRow] {
  private val dispatch = new Dispatch(set)
  private val rows = new RuleRows(set)
  private val rules: Array[RunningRule] = set.rules.map(new RunningRule(_)).toArray
  private val groups: Array[Keys] = Array.tabulate(set.groups)(new Keys(_))
  private val deadlines = new Deadlines

  final private class RunningRule(val plan: RulePlan) {
    lazy val recognizer: Recognizer = plan.recognizer(set, rows)
    lazy val view: View = plan.identified(set.event)
    val until: Long = plan.until.fold(Long.MaxValue)(untils)
  }

  /** The substream of a key for one rule. */
  final private class Reader(val rule: RunningRule, val key: Array[Byte]) extends Deadlines.Waiting {
    val substream: Substream = rule.recognizer.evaluator.newSubstream()
    val ties = new Ties(rule.view)

    def close(): Unit = rule.recognizer.evaluator.remove(substream)
  }

  /** The substreams of a key by rule, and the time of its last event. */
  final private class Key {
    val readers = new java.util.HashMap[Int, Reader]
    var lastTime = 0L
  }

  /** The keys of a group. Those that cannot matter any more are dropped, if time ends the windows of all rules. */
  final private class Keys(number: Int) {
    private val own = set.rulesOf(number).map(rules(_))
    private val forgets = own.forall(_.plan.plan.window.endsInTime)
    private val lasts = own.flatMap(_.plan.plan.window.lastsFor).maxOption
    private val byKey = new java.util.LinkedHashMap[Bytes, Key](16, 0.75f, true)

    def of(bytes: Array[Byte], time: Long): Key = {
      if (forgets) forget(own.head.plan.plan.clock.bound(time, lasts))
      val key = byKey.computeIfAbsent(new Bytes(bytes), _ => new Key)
      key.lastTime = time
      key
    }

    private def forget(before: Long): Unit = {
      val all = byKey.values().iterator()
      var going = true
      while (going && all.hasNext) {
        val oldest = all.next()
        if (oldest.lastTime < before) {
          oldest.readers.values().forEach(_.close())
          all.remove()
        } else going = false
      }
    }
  }

  private var row: UnsafeRow = _
  private var running: RunningRule = _ // which may have rows to return
  private var waiting: InternalRow = _ // to be read after the deadlines before it
  private var going = true

  // The event that rules read, one after the other.
  private var event: Event = _
  private var key: Key = _
  private var nextRule = 0

  def hasNext: Boolean = {
    if (row == null) row = found()
    while (row == null && going) {
      if (nextRule < dispatch.count) read()
      else if (waiting == null && events.hasNext) waiting = events.next()
      else if (!fire()) { if (waiting != null) begin() else going = false }
      row = found()
    }
    row != null
  }

  private def found(): UnsafeRow =
    if (running == null) null
    else
      try running.recognizer.next()
      catch { case NonFatal(e) => throw FailedRule(running.plan, e) }

  def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException
    val one = row
    row = null
    one
  }

  /** Fires a deadline that comes before the event, and says whether there was one. */
  private def fire(): Boolean = {
    val before = if (waiting == null) Long.MaxValue else waiting.getLong(RuleEvents.Time)
    deadlines.first < before && {
      val reader = deadlines.poll().asInstanceOf[Reader]
      running = reader.rule
      try running.recognizer.fire(reader.substream, reader.key, before, Long.MinValue, running.until): Unit
      catch { case NonFatal(e) => throw FailedRule(running.plan, e) }
      deadlines.note(reader)
      true
    }
  }

  private def begin(): Unit = {
    val group = waiting.getInt(RuleEvents.Group)
    val time = waiting.getLong(RuleEvents.Time)
    event = Event(
      waiting.getBinary(RuleEvents.Key),
      time,
      time,
      timed = true,
      waiting.getLong(RuleEvents.Order),
      waiting.getLong(RuleEvents.Arrival),
      0L,
      null,
      waiting.getBinary(RuleEvents.Payload)
    )
    key = groups(group).of(event.key, time)
    dispatch(group, waiting.getBinary(RuleEvents.Met))
    nextRule = 0
    waiting = null
  }

  /** The next rule reads the event. A rule that depends on neighbours reads events which meet none of its conditions,
    * too; they matter for a key only after one that does.
    */
  private def read(): Unit = {
    val number = dispatch.reading(nextRule)
    nextRule += 1
    if (dispatch.meetsOne(number) || key.readers.containsKey(number)) {
      val reader = key.readers.computeIfAbsent(number, n => new Reader(rules(n), event.key))
      running = reader.rule
      val masked = event.copy(mask = dispatch.mask(number), more = dispatch.more(number))
      try running.recognizer.read(reader.substream, reader.ties, masked)
      catch { case NonFatal(e) => throw FailedRule(running.plan, e) }
      if (running.recognizer.waits) deadlines.note(reader)
    }
  }
}
