package sparkcer.engine.automaton

import sparkcer.engine.ceql.Strategy

/** The subset construction of each strategy: from a determinized state and the successors of its runs on an event to
  * the next states.
  *
  * It does not depend on how a set of runs is stored (`S`). [[Construction]] has sets of states as bits, and its
  * results are cached. `compare.Machine` has sets of states with registers, and takes the step for each event anew,
  * because it depends on the values of the event. Each has its own set operations, so that bits stay as fast as they
  * are.
  *
  * It is deterministic on labels: a start and a sequence of (event, label) lead to one state. So different matches are
  * different paths, and none is found twice.
  */
sealed abstract private[engine] class StrategyRules {
  import StrategyRules._

  /** Does a state have three sets of runs, as in [[Threats]], or one? */
  def threatened: Boolean = false

  /** Does a state have a flag beside its set? */
  def flagged: Boolean = false

  /** Does every event change a state with this flag? */
  def changesAlways(flag: Int): Boolean = false

  /** Tells `found` what follows, by label from the smallest.
    *
    * @param p
    *   the successors of the first set; `e` and `b` are those of the others, and unused if there are none
    */
  def step[S](p: Successors[S], e: Successors[S], b: Successors[S], flag: Int, found: Found[S]): Unit
}

private[engine] object StrategyRules {
  def apply(cea: Cea, strategy: Strategy): StrategyRules = strategy match {
    case Strategy.All    => Subsets
    case Strategy.Strict => Strict
    // If all matches have the same length, none is a proper superset of another.
    case Strategy.Max if cea.fixedLength => Subsets
    case other                           => new Threats(other)
  }

  /** Where the runs of a set go with one event, by label. Label 0 leaves the event unmarked. */
  trait Successors[S] {
    def labels: Int
    def sets: Sets[S]

    /** Does a run take a transition with the label? */
    def takes(label: Int): Boolean

    /** The runs that took the label and can go on. */
    def set(label: Int): S

    /** Does a match end with the label? */
    def accepts(label: Int): Boolean

    /** The runs that took one of the labels and can go on. */
    def union(chosen: Int => Boolean): S

    /** The runs that took one of the labels and end a match. */
    def ended(chosen: Int => Boolean): S
  }

  /** The operations on sets of runs. They return a set and leave their arguments as they are. */
  trait Sets[S] {
    def union(a: S, b: S): S

    /** The runs of `a` that find something which no run of `b` finds, as far as that is known: not those that `b` has
      * too, or simulates.
      */
    def without(a: S, b: S): S

    /** Of runs that end a match, those that better ones do not beat. All of them end with the same event. What comes
      * after may take away the match of a better run and leave this one, unless both runs end in the same way and are
      * compared with the same values: then this one never stays alone.
      */
    def unbeaten(ends: S, better: S): S
  }

  /** Is told the next states. */
  trait Found[S] {

    /** A state with one set. If it is empty there is no next state, but a match may end. */
    def next(label: Int, accepts: Boolean, runs: S, flag: Int): Unit

    /** A state with threats. If `p` is empty there is no next state, but a match may end, by the runs in `ends`. */
    def threatened(label: Int, ends: S, p: S, e: S, b: S): Unit
  }

  private val marked: Int => Boolean = _ != 0
  private val unmarked: Int => Boolean = _ == 0
  private val any: Int => Boolean = _ => true

  /** Every match (strategy ALL). A flag is kept as long as nothing is marked. */
  case object Subsets extends StrategyRules {
    def step[S](p: Successors[S], e: Successors[S], b: Successors[S], flag: Int, found: Found[S]): Unit = {
      var label = 0
      while (label < p.labels) {
        if (p.takes(label)) found.next(label, p.accepts(label), p.set(label), if (label == 0) flag else 0)
        label += 1
      }
    }
  }

  /** Matches whose marked events have no gap (STRICT): the flag says whether nothing is marked yet, the last event was
    * marked, or a gap has begun, after which nothing may be marked.
    */
  case object Strict extends StrategyRules {
    private val Nothing = 0
    private val Adjacent = 1
    private val Gap = 2

    override def flagged: Boolean = true
    override def changesAlways(flag: Int): Boolean = flag == Adjacent

    def step[S](p: Successors[S], e: Successors[S], b: Successors[S], flag: Int, found: Found[S]): Unit = {
      var label = 0
      while (label < p.labels) {
        if (p.takes(label) && (label == 0 || flag != Gap)) {
          val next = if (label != 0) Adjacent else if (flag == Nothing) Nothing else Gap
          found.next(label, p.accepts(label), p.set(label), next)
        }
        label += 1
      }
    }
  }

  /** NEXT, LAST and MAX: of the matches with one start, those whose set of marked events no other match beats. The
    * matches of different starts are compared when an event closes them (`evaluate.Selection`), because the window
    * decides which starts count.
    *
    * Beside P, the runs with exactly these labels, a state holds the threats: B, runs of the same start whose marked
    * events beat these so far, and E, runs with equal marked events (for LAST: all runs of the same start, because any
    * of them may still become better). A match counts if P accepts and B does not. What B has or simulates is taken out
    * of P and E: however it goes on, B goes on in the same way.
    */
  final class Threats(strategy: Strategy) extends StrategyRules {
    private val last = strategy == Strategy.Last
    private val max = strategy == Strategy.Max

    override def threatened: Boolean = true

    /** The labels with which E stays E, and B stays B, beside runs that mark the event or do not. */
    private def equal(marks: Boolean): Int => Boolean = if (last) any else if (marks) marked else unmarked
    private def better(marks: Boolean): Int => Boolean =
      if (marks) { if (last || max) marked else any }
      else if (last) unmarked
      else any

    def step[S](p: Successors[S], e: Successors[S], b: Successors[S], flag: Int, found: Found[S]): Unit = {
      val sets = p.sets
      def take(labels: Range, marks: Boolean): Unit = if (labels.exists(p.takes)) {
        val stillBetter = b.union(better(marks))
        // Who marks an event that the others leave unmarked overtakes them.
        val beats = if (marks) stillBetter else sets.union(stillBetter, e.union(marked))
        val stillBetterEnds = b.ended(better(marks))
        val betterEnds = if (marks) stillBetterEnds else sets.union(stillBetterEnds, e.ended(marked))
        val stillEqual = e.union(equal(marks))
        val equals = if (last) stillEqual else sets.without(stillEqual, beats)
        labels.foreach { label =>
          if (p.takes(label)) {
            val ends = sets.unbeaten(p.ended(_ == label), betterEnds)
            found.threatened(label, ends, sets.without(p.set(label), beats), equals, beats)
          }
        }
      }
      take(0 until 1, marks = false)
      take(1 until p.labels, marks = true)
    }
  }
}
