package sparkcer.engine.automaton

import scala.collection.mutable

/** A fragment in which a run remembers something (`M`) beside its state: each state has a copy for each memory with
  * which a run can be in it. Only what can be reached is built. The steps and empty steps of the fragment are replaced.
  */
abstract private[automaton] class Product[M](compiler: Compiler, fragment: Fragment) {
  private val steps = compiler.steps.drop(fragment.firstStep).groupBy(_.from)
  private val empties = compiler.empties.drop(fragment.firstEmpty).groupBy(_.from)
  private val copies = mutable.Map.empty[(Int, M), Int]
  private val work = mutable.Queue.empty[(Int, M)]

  /** What a run remembers at the entry. */
  protected def initial: M

  /** May a run with this memory leave at the exit? */
  protected def mayLeave(memory: M): Boolean

  /** Adds the steps of a copy of the state that `step` leaves, each with what the run remembers then. */
  protected def take(from: Int, memory: M, step: Step): Unit

  def result(): Fragment = {
    compiler.steps.takeInPlace(fragment.firstStep)
    compiler.empties.takeInPlace(fragment.firstEmpty)
    val entry = copy(fragment.entry, initial)
    val exit = compiler.fresh()
    while (work.nonEmpty) {
      val (state, memory) = work.dequeue()
      val from = copies((state, memory))
      if (state == fragment.exit && mayLeave(memory)) compiler.empties += Empty(from, exit)
      empties.getOrElse(state, Nil).foreach(e => compiler.empties += e.copy(from = from, to = copy(e.to, memory)))
      steps.getOrElse(state, Nil).foreach(take(from, memory, _))
    }
    fragment.copy(entry = entry, exit = exit)
  }

  protected def copy(state: Int, memory: M): Int =
    copies.getOrElseUpdate((state, memory), { work.enqueue((state, memory)); compiler.fresh() })
}
