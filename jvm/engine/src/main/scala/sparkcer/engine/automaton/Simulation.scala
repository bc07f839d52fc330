package sparkcer.engine.automaton

import scala.collection.mutable

/** Which states can do all that others can: b simulates p if a run from b can take each event that a run from p takes,
  * marking it or not as that one does, ends a match whenever that one does, and is then again in a state that simulates
  * the other's. So the runs from b find all the sets of events that the runs from p find.
  *
  * The strategies need it for `A{n,}`: a run with more events simulates those with fewer, and where it also beats them,
  * they need not be followed. Without it, each number of events that a run has is combined with each number that its
  * rivals have.
  *
  * It is the greatest such relation: pairs of states are removed as long as one does not fit. States that keep
  * different registers, or compare events differently, simulate nothing but themselves. For a large automaton nothing
  * is looked for, which only costs speed.
  */
final private[engine] class Simulation(cea: Cea, live: Int => Seq[Int]) {
  private val n = cea.states

  /** How many pairs of transitions were compared. */
  private var compared = 0L

  /** `simulates(b)(p)` */
  private val simulates: Array[Array[Boolean]] =
    if (cea.transitions.length > Simulation.MaxTransitions) null
    else {
      val registers = Array.tabulate(n)(live(_))
      val found = Array.tabulate(n, n)((b, p) => registers(b) == registers(p))
      def fits(b: Int, p: Int) = b == p || cea.outgoing(p).forall { t =>
        cea.outgoing(b).exists(u => isLike(t, u) && (cea.outgoing(t.to).isEmpty || found(u.to)(t.to)))
      }
      val into = cea.transitions.groupBy(_.to)
      val work = mutable.Queue.empty[(Int, Int)]
      def check(b: Int, p: Int): Unit = if (found(b)(p) && !fits(b, p)) {
        found(b)(p) = false
        work.enqueue((b, p))
      }
      for (b <- 0 until n; p <- 0 until n if compared < Simulation.MaxCompared) check(b, p)
      while (work.nonEmpty && compared < Simulation.MaxCompared) {
        val (b, p) = work.dequeue()
        for (u <- into.getOrElse(b, Nil); t <- into.getOrElse(p, Nil)) check(u.from, t.from)
      }
      if (compared < Simulation.MaxCompared) found else null
    }

  /** Can `u` be taken whenever `t` can, with the same effect? */
  private def isLike(t: Cea.Transition, u: Cea.Transition): Boolean = {
    compared += 1
    val asked = t.also + t.condition
    (u.condition == Cea.Always || asked(u.condition)) && u.also.subsetOf(asked) && u.unless.subsetOf(t.unless) &&
    (t.label != 0) == (u.label != 0) && t.uses == u.uses && t.resets == u.resets &&
    (!cea.finals(t.to) || endsLike(t.to, u.to))
  }

  /** Do runs that end in `u` end as those in `t` do, if they keep the same? */
  private def endsLike(t: Int, u: Int): Boolean =
    cea.finals(u) && cea.endingOf.get(t) == cea.endingOf.get(u) && live(t) == live(u)

  /** Does a run from b find all that a run from p with the same registers finds? */
  def apply(b: Int, p: Int): Boolean = if (simulates == null) b == p else simulates(b)(p)

  /** For each state those that it simulates, as bits. */
  def asBits: Array[Array[Long]] = Array.tabulate(n) { b =>
    val set = new Array[Long](cea.words)
    (0 until n).foreach(p => if (apply(b, p)) Bits.set(set, p))
    set
  }
}

private[engine] object Simulation {

  /** Finding it takes time in the square of the number of transitions, */
  private val MaxTransitions = 2000

  /** and much more where many of them leave one state: minutes, without this. It is reached within seconds. */
  private val MaxCompared = 20000000L
}
