package sparkcer.benchmarks.peers

import sparkcer.benchmarks.{ConditionTable, Events, Run}
import sparkcer.engine.ceql.{Quantity, Window}
import sparkcer.engine.evaluate.{Evaluator, Program}
import sparkcer.peers.{Feed, Pass}

/** Several queries over one stream, as the rules of a set: all conditions are asked together, and a query that has none
  * of those that an event meets does not read it.
  */
final class RuleSetPass(programs: Vector[Program], events: Events) extends Pass {
  private val (table, tests) = ConditionTable(programs.flatMap(_.conditions), events)
  events.conditions = tests
  private val times = events.integers("ts")

  private val evaluators: Array[Evaluator] = programs.map(new Evaluator(_)).toArray
  private val substreams = evaluators.map(_.newSubstream())
  private val windows: Array[Long] = programs
    .map(_.query.within)
    .collect { case Some(Window.Attribute(Quantity.Number(n), _)) =>
      n.toLong
    }
    .toArray
  require(windows.length == programs.length, "a rule of the benchmark has a window on a column")

  /** For each condition its query, and which of its conditions it is. */
  private val rule: Array[Int] = programs.zipWithIndex.flatMap { case (p, r) => p.conditions.map(_ => r) }.toArray
  private val bit: Array[Int] = programs.flatMap(_.conditions.indices).toArray

  private var found = 0L

  def run(feed: Feed): Long = {
    var i = feed.next()
    while (i >= 0) {
      events.at = i
      dispatch(table.masks(events), times(i))
      i = feed.next()
    }
    found
  }

  private def dispatch(masks: Array[Long], time: Long): Unit = {
    var reading = -1
    var mask = 0L
    var w = 0
    while (w < masks.length) {
      var left = masks(w)
      while (left != 0) {
        val condition = (w << 6) + java.lang.Long.numberOfTrailingZeros(left)
        if (rule(condition) != reading) {
          if (reading >= 0) read(reading, mask, time)
          reading = rule(condition)
          mask = 0L
        }
        mask |= 1L << bit(condition)
        left &= left - 1
      }
      w += 1
    }
    if (reading >= 0) read(reading, mask, time)
  }

  private def read(r: Int, mask: Long, time: Long): Unit = {
    val evaluator = evaluators(r)
    if (substreams(r).read(evaluator.classOf(mask), time, time - windows(r), null))
      if (evaluator.program.counts) found += evaluator.count
      else {
        val all = evaluator.matches
        while (all.next()) {
          var touched = all.start
          var i = 0
          while (i < all.length) { touched ^= all.event(i) + all.label(i); i += 1 }
          Run.sink = touched
          found += 1
        }
      }
  }

  def matches: Long = found
  def close(): Unit = ()
}
