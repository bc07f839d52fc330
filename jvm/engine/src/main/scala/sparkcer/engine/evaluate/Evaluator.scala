package sparkcer.engine.evaluate

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.ceql.Consume

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
  * | 003, Algorithm 1                | here                                                              |
  * |:--------------------------------|:------------------------------------------------------------------|
  * | `Δ`, made I/O-deterministic     | [[Determinized]], deterministic on labels                         |
  * | `T`, union-lists                | `Substream.entries`, a heap of the [[Tecs]] for each active state |
  * | `new-bottom`, `extend`, `union` | `Tecs.start`, `Tecs.extend`, `Tecs.union`                         |
  * | OUTPUT, ENUMERATE               | [[Matches]]                                                       |
  */
final class Evaluator(val program: Program, limits: Evaluator.Limits = Evaluator.Limits()) {
  private[evaluate] var automaton = newAutomaton(limits.states)
  private val substreams = ArrayBuffer.empty[Substream]

  private[evaluate] val cursor = new Cursor
  private val selection =
    if (program.selects || program.distinct) new Selection(cursor, program.strategy, program.distinct) else null

  /** CONSUME BY ANY: how often a match has made all substreams forget. */
  private[evaluate] var epoch = 0L
  private[evaluate] val consume: Consume = program.query.consumeBy

  private def newAutomaton(states: Int) = new Determinized(program.construction, states, limits.bytes)

  def newSubstream(): Substream = {
    val s = new Substream(this, substreams.length)
    substreams += s
    s
  }

  /** Lets go of a substream, which must not be used again. */
  def remove(s: Substream): Unit = {
    val last = substreams.remove(substreams.length - 1)
    if (last ne s) {
      substreams(s.index) = last
      last.index = s.index
    }
  }

  /** The class of an event by its mask: bit i says whether it passes `program.guards(i)`. A class stays valid until the
    * next call.
    */
  def classOf(mask: Long): Int = { makeRoom(); automaton.classOf(mask) }
  def classOf(mask: Array[Long]): Int = { makeRoom(); automaton.classOf(mask) }

  /** A full cache is started anew with the states that are in use; none of them is ever dropped. If those alone are
    * many, the next one may be larger.
    */
  private def makeRoom(): Unit =
    if (automaton.full) {
      val old = automaton
      val used = new java.util.BitSet
      substreams.foreach(_.states.foreach(s => used.set(s)))
      automaton = newAutomaton(math.max(limits.states, 2 * used.cardinality))
      substreams.foreach(_.renumber(old))
    }

  /** The matches of the event that was read last. */
  def matches: Matches =
    if (selection == null) cursor
    else {
      cursor.rewind()
      selection.select()
      selection
    }

  /** How many matches the event that was read last has closed; `Long.MaxValue` stands for that many or more. Where the
    * query is `SELECT COUNT(*)` they are not listed for it, unless a strategy has to compare them.
    */
  def count: Long =
    if (program.countsRuns) runs
    else {
      val all = matches
      all.rewind()
      var n = 0L
      while (all.next()) n += 1
      all.rewind()
      n
    }
  private[evaluate] var runs = 0L

  // What the event at hand adds to entries that are still to be read: state, node and label.
  private var noteStates = new Array[Int](16)
  private var noteNodes = new Array[Int](16)
  private var noteLabels = new Array[Int](16)

  private[evaluate] def note(i: Int, state: Int, node: Int, label: Int): Int = {
    if (i == noteStates.length) {
      noteStates = java.util.Arrays.copyOf(noteStates, 2 * i)
      noteNodes = java.util.Arrays.copyOf(noteNodes, 2 * i)
      noteLabels = java.util.Arrays.copyOf(noteLabels, 2 * i)
    }
    noteStates(i) = state
    noteNodes(i) = node
    noteLabels(i) = label
    i + 1
  }
  private[evaluate] def noteState(i: Int): Int = noteStates(i)
  private[evaluate] def noteNode(i: Int): Int = noteNodes(i)
  private[evaluate] def noteLabel(i: Int): Int = noteLabels(i)

  /** How many determinized states and event classes are known. */
  def states: Int = automaton.states
  def classes: Int = automaton.classes
}

object Evaluator {

  /** How large the cache of the determinized automaton may grow. */
  final case class Limits(states: Int = 10000, bytes: Long = 64L << 20)
}
