package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq

import sparkcer.engine.ceql.Comparison

/** A complex event automaton (CORE, Section 3). It marks events with labels: a label is the set of selected variables
  * that an event is bound to, and label 0 leaves the event unmarked.
  *
  * State 0 is initial and no transition enters it. A transition reads one event; `condition` is the bit of the event's
  * mask that it needs, or [[Cea.Always]] if it takes any event. A run accepts when it takes a transition into a final
  * state. A run in a final state without outgoing transitions is not kept.
  *
  * If there are `comparisons`, a run also keeps the values that later events may be compared with, see [[Registers]].
  *
  * Of a query with `NO α FOR d` at its end, `endings` says what an α is. The automaton itself is that of what comes
  * before; its final states keep what an α is compared with. A final state that is not in `endingOf` closes a match at
  * once, as a side of OR without NO does. Of a query with `NO α FOR d` at its beginning, `absentBefore` does: the
  * transitions that leave state 0 are taken unless an α came, and bit `conditions.length + i` of a mask says whether
  * one of the i-th came.
  */
final class Cea(
    val states: Int,
    val conditions: ArraySeq[EventCondition],
    val labels: ArraySeq[Set[String]],
    val transitions: ArraySeq[Cea.Transition],
    val finals: Set[Int],
    val comparisons: ArraySeq[Comparison] = ArraySeq.empty,
    val endings: ArraySeq[Ending[Int]] = ArraySeq.empty,
    val endingOf: Map[Int, Int] = Map.empty,
    val absentBefore: ArraySeq[AbsentBefore[Int]] = ArraySeq.empty
) {

  /** How many bits a mask has. */
  val bits: Int = conditions.length + absentBefore.length

  /** How many words a mask takes. */
  val maskWords: Int = math.max(1, (bits + 63) / 64)

  /** Are the events that must not come after a match compared with those of the match? */
  val comparesAfter: Boolean = endings.exists(_.absent.exists(_.uses.nonEmpty))

  /** Do matches end in different ways, some at once or after another time? */
  val endsApart: Boolean = endings.length > 1 || endings.nonEmpty && finals.exists(!endingOf.contains(_))

  /** Does what comes after a match depend on the states in which its runs end? */
  val keepsEnds: Boolean = comparesAfter || endsApart

  /** The transitions that leave each state. */
  val outgoing: ArraySeq[ArraySeq[Cea.Transition]] = {
    val by = transitions.groupBy(_.from)
    ArraySeq.tabulate(states)(q => by.getOrElse(q, ArraySeq.empty))
  }

  /** How many words a set of states takes as bits. */
  val words: Int = (states + 63) / 64

  /** How many events a variable is bound to in a match. This is read off the automaton, so it is exact unless
    * conditions exclude each other.
    */
  def multiplicity(variable: String): Multiplicity = {
    val (least, most) = Cea.counts(this, labels(_).contains(variable))
    Multiplicity(atLeastOne = least > 0, atMostOne = most < 2)
  }

  /** Do all matches mark the same number of events? Then the events of one match are never a proper subset of those of
    * another.
    */
  def fixedLength: Boolean = Cea.lengths(this)

  /** Is the first event of every match marked? Then the marked events determine where the match starts. */
  def startsMarked: Boolean = outgoing(0).forall(_.label != 0)
}

/** How many events a variable is bound to: one, at most one, or any number. */
final case class Multiplicity(atLeastOne: Boolean, atMostOne: Boolean) {
  override def toString: String = if (!atMostOne) "many" else if (atLeastOne) "one" else "optional"
}

object Cea {
  val Always: Int = -1

  /** @param also
    *   further conditions that the event must meet
    * @param uses
    *   comparisons of the event with earlier ones
    * @param resets
    *   comparisons that forget the earlier events, before the `uses`
    * @param unless
    *   what the event must not be
    */
  final case class Transition(
      from: Int,
      condition: Int,
      label: Int,
      to: Int,
      also: Set[Int] = Set.empty,
      uses: Vector[ComparisonUse] = Vector.empty,
      resets: Set[Int] = Set.empty,
      unless: Set[Unless[Int]] = Set.empty
  ) {

    /** Does an event that meets these conditions take it, as far as comparisons let it? */
    def passes(conditions: Int => Boolean): Boolean =
      (condition == Always || conditions(condition)) && also.forall(conditions) &&
        unless.forall(u => u.uses.nonEmpty || !conditions(u.condition))
  }

  /** The smallest and the largest number of transitions with such a label on an accepting path, counted up to 2. */
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

  /** Is every state reached with one number of marked events, and every final state with the same number? */
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
