package sparkcer.engine.evaluate

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.{Bits, Determinized}
import sparkcer.engine.ceql.{Consume, Window}
import sparkcer.engine.ceql.Quantity.Number
import sparkcer.engine.compare.{EventValues, Machine, Now}

/** Runs a query over any number of substreams (one for each key of PARTITION BY), which share the determinized
  * automaton. For one thread.
  *
  * {{{
  * val evaluator = new Evaluator(Program("SELECT * FROM S WHERE A ; B WITHIN 10 [t]"))
  * val substream = evaluator.newSubstream()
  * if (substream.read(evaluator.classOf(mask), time, time - 10, payload)) {
  *   val matches = evaluator.matches
  *   while (matches.next()) …
  * }
  * }}}
  *
  * | CORE, Algorithm 1               | here                                                              |
  * |:--------------------------------|:------------------------------------------------------------------|
  * | `Δ`, made I/O-deterministic     | [[Determinized]], deterministic on labels                         |
  * | `T`, union-lists                | entries of a [[Substream]], a heap of the [[Tecs]] for each state |
  * | `new-bottom`, `extend`, `union` | `Tecs.start`, `Tecs.extend`, `Tecs.union`                         |
  * | OUTPUT, ENUMERATE               | [[Matches]]                                                       |
  *
  * @param values
  *   the values of events, for a query that compares them (`program.comparisons`)
  */
final class Evaluator(
    val program: Program,
    limits: Evaluator.Limits = Evaluator.Limits(),
    values: EventValues = null
) {
  if (program.comparisons.nonEmpty && values == null)
    throw new IllegalArgumentException("The query compares events, and nobody is there to say what their values are.")

  private[evaluate] var automaton = newAutomaton()
  private val substreams = ArrayBuffer.empty[Substream]

  // For a query that compares events, or whose matches end in different ways.
  private[evaluate] val machine: Machine =
    if (program.comparisons.isEmpty && !program.cea.endsApart) null else program.newMachine()
  private[evaluate] val now: Now = if (machine == null) null else new Now(values, program.terms.length)

  private[evaluate] val cursor = new Cursor
  private val selection =
    if (program.selects || program.distinct) new Selection(cursor, program.strategy, program.distinct) else null

  /** Under CONSUME BY ANY, how often a match has consumed the events of all substreams. */
  private[evaluate] var epoch = 0L
  def consumptions: Long = epoch
  private[evaluate] val consume: Consume = program.query.consumeBy

  /** The number of events in the window, or -1 if it is not a window of events. */
  private[evaluate] val countWindow: Long = program.query.within match {
    case Some(Window.Events(Number(n))) => n.min(Long.MaxValue).toLong
    case _                              => -1L
  }

  /** Has the mask of the class one of these bits? */
  private[evaluate] def meets(cls: Int, bits: Array[Long]): Boolean = {
    val mask = automaton.maskOf(cls)
    var w = mask.length - 1
    while (w >= 0 && (mask(w) & bits(w)) == 0) w -= 1
    w >= 0
  }

  /** For each `NO α FOR d` at the beginning of the query, the bits of an α. */
  private[evaluate] val absentBefore: Array[Array[Long]] = program.cea.absentBefore.iterator.map { before =>
    val words = new Array[Long](program.cea.maskWords)
    before.conditions.foreach(Bits.set(words, _))
    words
  }.toArray

  // For a query that ends with `NO α FOR d`.

  /** For each final state, which of [[Program.waits]] its matches wait for; -1 for other states, and where they end at
    * once.
    */
  private[evaluate] val queueOf: Array[Int] = Array.tabulate(program.cea.states) { q =>
    program.cea.endingOf.get(q).fold(-1)(e => program.waits.indexOf(program.cea.endings(e).length))
  }

  /** How many times matches have begun to wait, in all substreams. */
  private[evaluate] var owners = 0L

  /** When the matches of the last call of [[Substream.fire]] end. */
  def deadline: Long = firedDeadline
  private[evaluate] var firedDeadline = 0L

  private def newAutomaton() = new Determinized(program.construction, limits.states, limits.bytes)

  def newSubstream(): Substream = {
    val index = substreams.length
    val s: Substream =
      if (program.countsRuns) new CountingSubstream(this, index)
      else if (machine != null) new ComparingSubstream(this, index)
      else new PlainSubstream(this, index)
    substreams += s
    s
  }

  /** Removes a substream, which must not be used again. */
  def remove(s: Substream): Unit = {
    val last = substreams.remove(substreams.length - 1)
    if (last ne s) {
      substreams(s.index) = last
      last.index = s.index
    }
  }

  /** The class of an event by its mask: bit i says whether it meets `program.conditions(i)`. It is valid until the next
    * call.
    */
  def classOf(mask: Long): Int = { makeRoom(); automaton.classOf(mask) }
  def classOf(mask: Array[Long]): Int = { makeRoom(); automaton.classOf(mask) }

  /** Replaces a full cache by a new one with the states that are in use. If these alone fill it, its limits are raised.
    */
  private def makeRoom(): Unit =
    if (automaton.full) {
      val old = automaton
      automaton = newAutomaton()
      if (machine != null) machine.forgetClasses()
      substreams.foreach(_.renumber(old))
      automaton.relax()
    }

  /** The matches of the event that was read last, or of the deadline that was fired last; at most as many as LIMIT
    * allows. Each call begins at the first.
    */
  def matches: Matches = {
    val all = unlimited
    program.limit match {
      case Some(n) => new Limited(all, n)
      case None    => all
    }
  }

  private def unlimited: Matches = {
    cursor.rewind()
    if (selection == null) cursor
    else {
      selection.select()
      selection
    }
  }

  /** How many matches the event that was read last, or the deadline that was fired last, has closed; `Long.MaxValue`
    * means that many or more. For `SELECT COUNT(*)` they are not listed, unless a strategy has to compare them.
    */
  def count: Long =
    if (program.countsRuns) runs
    else if (selection == null) cursor.count
    else {
      val all = unlimited
      var n = 0L
      while (all.next()) n += 1
      n
    }
  private[evaluate] var runs = 0L

  // What the current event adds to entries, written after all entries are read: state, node and label, and from where.
  private var noteStates = new Array[Int](16)
  private var noteNodes = new Array[Int](16)
  private var noteLabels = new Array[Int](16)
  private var noteSources = new Array[Int](16)

  private[evaluate] def note(i: Int, state: Int, node: Int, label: Int, source: Int): Int = {
    if (i == noteStates.length) {
      noteStates = java.util.Arrays.copyOf(noteStates, 2 * i)
      noteNodes = java.util.Arrays.copyOf(noteNodes, 2 * i)
      noteLabels = java.util.Arrays.copyOf(noteLabels, 2 * i)
      noteSources = java.util.Arrays.copyOf(noteSources, 2 * i)
    }
    noteStates(i) = state
    noteNodes(i) = node
    noteLabels(i) = label
    noteSources(i) = source
    i + 1
  }

  /** Sorts the first `n` notes by the states that they come from. */
  private[evaluate] def sortNotes(n: Int): Unit =
    Evaluator.sort(automaton, noteSources, noteLabels, n, noteStates, noteNodes)
  private[evaluate] def noteState(i: Int): Int = noteStates(i)
  private[evaluate] def noteNode(i: Int): Int = noteNodes(i)
  private[evaluate] def noteLabel(i: Int): Int = noteLabels(i)
}

object Evaluator {

  /** Sorts the first `n` elements of parallel arrays by state, in the order of `Determinized.compare`, and by label. It
    * is an insertion sort, because they are few.
    */
  private[evaluate] def sort(
      a: Determinized,
      states: Array[Int],
      labels: Array[Int],
      n: Int,
      others: Array[Int]*
  ): Unit = {
    def swap(x: Array[Int], i: Int): Unit = { val h = x(i); x(i) = x(i - 1); x(i - 1) = h }
    for (k <- 1 until n) {
      var i = k
      while (
        i > 0 && {
          val o = a.compare(states(i), states(i - 1))
          o < 0 || o == 0 && labels(i) < labels(i - 1)
        }
      ) {
        swap(states, i)
        swap(labels, i)
        others.foreach(swap(_, i))
        i -= 1
      }
    }
  }

  /** How large the cache of the determinized automaton may grow. */
  final case class Limits(states: Int = 10000, bytes: Long = 64L << 20)
}
