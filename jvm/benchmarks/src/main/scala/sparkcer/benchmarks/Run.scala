package sparkcer.benchmarks

import java.lang.management.ManagementFactory

import scala.collection.mutable

import sparkcer.engine.ceql.{Quantity, Window}
import sparkcer.engine.evaluate.{Evaluator, Program, Substream}

/** What one pass over the stream found. */
final case class Outcome(closing: Long, matches: Long, matchedEvents: Long, nanos: Long)

/** The largest state of a pass, and of its first and its second half. */
final case class Peak(nodes: Int, bytes: Long, firstHalf: Int, secondHalf: Int)

/** Runs one query over one stream on the calling thread and takes its CPU time, from a new evaluator each time. */
final class Run(val workload: Workload, program: Program, events: Events, masks: Array[Long]) {
  private val limit = program.query.limit.fold(Long.MaxValue) {
    case Quantity.Number(n) => n.toLong; case _ => Long.MaxValue
  }

  private val (times, within) = program.query.within match {
    case Some(Window.Attribute(Quantity.Number(n), a)) => (events.integers(a.value), n.toLong)
    case _                                             => (new Array[Long](events.size), 0L)
  }

  private val keys: Array[Long] = program.query.partitionBy.map(_.value) match {
    case Vector()    => null
    case Vector(one) => events.numbered(one)
    case _           => throw new IllegalArgumentException("the runner partitions by one column")
  }

  /** Where events are compared, what stands for each. */
  private val rows: Array[Array[Byte]] =
    if (program.comparisons.isEmpty) new Array[Array[Byte]](events.size)
    else Array.tabulate(events.size)(ColumnValues.row)
  private val encoded = if (program.comparisons.isEmpty) null else new ColumnValues(program, events, encoded = true)

  private def newEvaluator(masked: Boolean): Evaluator =
    if (program.comparisons.isEmpty) new Evaluator(program)
    else
      new Evaluator(program, values = if (masked) encoded else new ColumnValues(program, events, encoded = false))

  /** @param visit
    *   every match is visited with each of its events
    * @param masked
    *   masks come from memory instead of from the columns
    */
  def apply(visit: Boolean, masked: Boolean): Outcome = {
    val pass = newPass(visit, masked)
    val before = Run.cpu()
    pass(Run.WithoutEnd).copy(nanos = Run.cpu() - before)
  }

  /** A pass with a new evaluator, which asks before each event whether to go on. */
  def newPass(visit: Boolean, masked: Boolean): Run.Until => Outcome = {
    val source = if (masked) new Run.Given(masks) else new Run.Computed(events.fresh(), program)
    val evaluator = newEvaluator(masked)
    until => if (keys == null) whole(evaluator, source, visit, until) else partitioned(evaluator, source, visit, until)
  }

  private def whole(evaluator: Evaluator, source: Run.Source, visit: Boolean, until: Run.Until): Outcome = {
    val substream = evaluator.newSubstream()
    val seen = new Visitor(evaluator, limit, visit)
    var i = 0
    while (i < times.length && until.goesOn(i)) {
      val time = times(i)
      if (read(substream, evaluator.classOf(source.mask(i)), time, rows(i), seen)) seen.closed()
      i += 1
    }
    seen.outcome
  }

  /** For how long matches wait after their last event, or -1 if the query does not end with `NO … FOR`. */
  private val waits: Long = program.waits match {
    case Vector(Window.Attribute(Quantity.Number(n), _)) => n.toLong
    case _                                               => -1L
  }
  private val deadlines = new Array[Long](1)
  private val bounds = new Array[Long](1)

  /** How far back the query looks, if it begins with `NO … FOR`. */
  private val looksBack: Array[Long] = program.looksBack.collect { case Window.Attribute(Quantity.Number(n), _) =>
    n.toLong
  }.toArray
  private val looksFrom = new Array[Long](looksBack.length)

  private def lookBack(s: Substream, met: Int, time: Long): Int = {
    var i = 0
    while (i < looksBack.length) { looksFrom(i) = time - looksBack(i); i += 1 }
    s.lookBack(met, time, looksFrom)
  }

  private def read(s: Substream, met: Int, time: Long, row: Array[Byte], seen: Visitor): Boolean = {
    val cls = if (looksBack.length == 0) met else lookBack(s, met, time)
    if (waits < 0) s.read(cls, time, time - within, row)
    else {
      while (s.fire(time)) if (seen != null) seen.closed()
      deadlines(0) = time + waits
      bounds(0) = deadlines(0) - within
      s.readWithDeadlines(cls, time, time - within, deadlines, bounds, row)
    }
  }

  private def partitioned(evaluator: Evaluator, source: Run.Source, visit: Boolean, until: Run.Until): Outcome = {
    val substreams = mutable.LongMap.empty[Substream]
    val seen = new Visitor(evaluator, limit, visit)
    var i = 0
    while (i < times.length && until.goesOn(i)) {
      val time = times(i)
      val substream = substreams.getOrElseUpdate(keys(i), evaluator.newSubstream())
      if (read(substream, evaluator.classOf(source.mask(i)), time, rows(i), seen)) seen.closed()
      i += 1
    }
    seen.outcome
  }

  /** One more pass, slow, that looks at the state now and then. */
  def peak(): Peak = {
    val evaluator = newEvaluator(masked = true)
    val substreams = mutable.LongMap.empty[Substream]
    val nodes = new Array[Int](2)
    var bytes = 0L
    var i = 0
    while (i < times.length) {
      val substream = substreams.getOrElseUpdate(if (keys == null) 0L else keys(i), evaluator.newSubstream())
      read(substream, evaluator.classOf(masks(i)), times(i), rows(i), seen = null): Unit
      if (i % 1000 == 999) {
        val half = if (i < times.length / 2) 0 else 1
        nodes(half) = math.max(nodes(half), substreams.values.map(_.nodes).sum)
        bytes = math.max(bytes, substreams.values.map(_.bytes).sum)
      }
      i += 1
    }
    Peak(nodes.max, bytes, nodes(0), nodes(1))
  }
}

/** Counts closing events and, if it visits, goes over their matches and touches every event of each. For COUNT(*) it
  * takes the number that the engine has.
  */
final private class Visitor(evaluator: Evaluator, limit: Long, visit: Boolean) {
  private var closing = 0L
  private var matches = 0L
  private var matched = 0L
  private var sum = 0L

  def closed(): Unit = {
    closing += 1
    if (evaluator.program.counts) matches += evaluator.count
    else if (visit) {
      val all = evaluator.matches
      var left = limit
      while (left > 0 && all.next()) {
        left -= 1
        val n = all.length
        var touched = all.start
        var i = 0
        while (i < n) { touched ^= all.event(i) + all.label(i); i += 1 }
        sum += touched
        matched += n
        matches += 1
      }
    }
  }

  def outcome: Outcome = {
    Run.sink = sum
    Outcome(closing, matches, matched, 0)
  }
}

object Run {
  @volatile private[benchmarks] var sink = 0L

  private val threads = ManagementFactory.getThreadMXBean
  def cpu(): Long = threads.getCurrentThreadCpuTime

  /** Whether a pass goes on with an event. */
  trait Until { def goesOn(event: Int): Boolean }

  object WithoutEnd extends Until { def goesOn(event: Int): Boolean = true }

  /** Where masks come from. */
  sealed trait Source { def mask(i: Int): Long }

  final class Given(masks: Array[Long]) extends Source {
    def mask(i: Int): Long = masks(i)
  }

  final class Computed(events: Events, program: Program) extends Source {
    private val (table, tests) = ConditionTable(program.conditions, events)
    require(table.single, "the runner takes up to 64 conditions")
    events.conditions = tests
    def mask(i: Int): Long = { events.at = i; table.mask(events) }
  }

  def masks(events: Events, program: Program): Array[Long] = {
    val source = new Computed(events, program)
    Array.tabulate(events.size)(source.mask)
  }
}
