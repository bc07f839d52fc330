package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq

import sparkcer.engine.ceql.Comparison

/** A complex event automaton (003, Section 3), whose marks are labels: the set of selected variables that an event goes
  * to.
  *
  * State 0 is initial and is never entered. A transition reads one event; `condition` is the index of the bit it needs, or
  * [[Cea.Always]] for a step over any event. `label` 0 leaves the event unmarked. A run accepts when it takes a
  * transition into a final state; final states without transitions of their own are never stored.
  *
  * With `comparisons` a run also keeps what these tests may still compare ([[Registers]]).
  */
final class Cea(
    val states: Int,
    val conditions: ArraySeq[EventCondition],
    val labels: ArraySeq[Set[String]],
    val transitions: ArraySeq[Cea.Transition],
    val finals: Set[Int],
    val comparisons: ArraySeq[Comparison] = ArraySeq.empty
) {

  /** The transitions of each state. */
  val outgoing: ArraySeq[ArraySeq[Cea.Transition]] = {
    val by = transitions.groupBy(_.from)
    ArraySeq.tabulate(states)(q => by.getOrElse(q, ArraySeq.empty))
  }

  /** The words of a set of states as bits. */
  val words: Int = (states + 63) / 64

  /** How many events a variable binds in a match: decided on the automaton, so exact but for conditions that exclude
    * each other.
    */
  def multiplicity(variable: String): Multiplicity = {
    val (least, most) = Cea.counts(this, labels(_).contains(variable))
    Multiplicity(atLeastOne = least > 0, atMostOne = most < 2)
  }

  /** Do all matches mark the same number of events? Then no match's positions are a proper subset of another's. */
  def fixedLength: Boolean = Cea.lengths(this)

  /** Is the first event of every match marked? Then the marked events alone tell where the match starts. */
  def startsMarked: Boolean = outgoing(0).forall(_.label != 0)
}

/** One, optional, or many events in a variable. */
final case class Multiplicity(atLeastOne: Boolean, atMostOne: Boolean) {
  override def toString: String = if (!atMostOne) "many" else if (atLeastOne) "one" else "optional"
}

object Cea {
  val Always: Int = -1

  /** @param also
    *   further conditions that the event must pass
    * @param uses
    *   tests of the event with earlier ones
    * @param resets
    *   comparisons that begin anew, before the uses
    */
  final case class Transition(
      from: Int,
      condition: Int,
      label: Int,
      to: Int,
      also: Set[Int] = Set.empty,
      uses: Vector[ComparisonUse] = Vector.empty,
      resets: Set[Int] = Set.empty
  ) {
    def passes(conditions: Int => Boolean): Boolean = (condition == Always || conditions(condition)) && also.forall(conditions)
  }

  /** The smallest and the largest number of transitions with a marked label on an accepting path, counted up to 2. */
  private def counts(a: Cea, marked: Int => Boolean): (Int, Int) = {
    val seen = Array.ofDim[Boolean](a.states, 3)
    val work = scala.collection.mutable.Stack((0, 0))
    seen(0)(0) = true
    while (work.nonEmpty) {
      val (q, n) = work.pop()
      a.outgoing(q).foreach { t =>
        val m = math.min(2, n + (if (marked(t.label)) 1 else 0))
        if (!seen(t.to)(m)) { seen(t.to)(m) = true; work.push((t.to, m)) }
      }
    }
    val at = a.finals.toVector.flatMap(f => (0 to 2).filter(seen(f)(_)))
    (at.minOption.getOrElse(0), at.maxOption.getOrElse(0))
  }

  /** Every state is entered after one number of marks, and the final ones after the same. */
  private def lengths(a: Cea): Boolean = {
    val length = Array.fill(a.states)(-1)
    length(0) = 0
    val work = scala.collection.mutable.Queue(0)
    var fixed = true
    while (work.nonEmpty && fixed) {
      val q = work.dequeue()
      a.outgoing(q).foreach { t =>
        val n = length(q) + (if (t.label != 0) 1 else 0)
        if (length(t.to) < 0) { length(t.to) = n; work.enqueue(t.to) }
        else if (length(t.to) != n) fixed = false
      }
    }
    fixed && a.finals.map(length(_)).size <= 1
  }
}
