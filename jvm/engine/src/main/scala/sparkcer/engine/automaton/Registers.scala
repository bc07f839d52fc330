package sparkcer.engine.automaton

import sparkcer.engine.ceql.Comparison

/** What runs remember for comparisons. Each comparison has one register or more. A register is *live* in a state if it
  * may have been written before and may still be read later, by a transition or after the match. Runs keep live
  * registers only, so that runs which differ in nothing that can matter are the same.
  *
  * | comparison  | registers                                                                |
  * |:------------|:-------------------------------------------------------------------------|
  * | Pair, Span  | one for each side: its value, or the values that decide (see `Comparer`) |
  * | Same        | the value                                                                |
  * | Consecutive | the value of the last event                                              |
  * | Expression  | the events of each variable                                              |
  */
final class Registers private (
    comparisons: Seq[Comparison],
    states: Int,
    transitions: Seq[Cea.Transition],
    wantedAtEnd: Map[Int, Set[ComparisonUse]]
) {
  import Registers._

  /** The first register of each comparison. */
  val first: Array[Int] = comparisons.map(width).scanLeft(0)(_ + _).toArray
  val count: Int = first.last

  /** The comparison of each register. */
  val comparisonOf: Array[Int] = comparisons.indices.flatMap(i => Seq.fill(width(comparisons(i)))(i)).toArray

  /** The registers that a use reads. */
  def reads(use: ComparisonUse): Seq[Int] = {
    val at = first(use.comparison)
    def others(i: Int) = (use.roles & ~(1 << i)) != 0
    comparisons(use.comparison) match {
      case _: Comparison.Pair | _: Comparison.Span        => Seq(0, 1).filter(others).map(at + _)
      case _: Comparison.Same | _: Comparison.Consecutive => Seq(at)
      case e: Comparison.Expression => e.variables.indices.filter(i => others(i) || e.previous && i == 0).map(at + _)
    }
  }

  /** The registers that a use writes, if the comparison holds. */
  private[engine] def writes(use: ComparisonUse): Seq[Int] = {
    val at = first(use.comparison)
    comparisons(use.comparison) match {
      case _: Comparison.Same | _: Comparison.Consecutive => Seq(at)
      case _ => (0 until 32).filter(i => (use.roles >>> i & 1) != 0).map(at + _)
    }
  }

  /** The live registers of each state, in order. */
  val live: Array[Array[Int]] = {
    val written = fixpoint { (has, add) =>
      transitions.foreach { t =>
        (0 until count).foreach(r => if (has(t.from, r) && !fails(t, r)) add(t.to, r))
        t.uses.foreach(c => if (c.holds) writes(c).foreach(add(t.to, _)))
      }
    }
    val wanted = fixpoint { (has, add) =>
      for ((q, uses) <- wantedAtEnd; c <- uses; r <- reads(c)) add(q, r)
      transitions.foreach { t =>
        asked(t).foreach(c => reads(c).foreach(r => if (!t.resets(comparisonOf(r))) add(t.from, r)))
        (0 until count).foreach(r => if (has(t.to, r) && !fails(t, r)) add(t.from, r))
      }
    }
    Array.tabulate(states)(q => (0 until count).filter(r => written(q)(r) && wanted(q)(r)).toArray)
  }

  /** Repeats a round, which adds registers to states, until it adds nothing. */
  private def fixpoint(round: ((Int, Int) => Boolean, (Int, Int) => Unit) => Unit): Array[Array[Boolean]] = {
    val found = Array.ofDim[Boolean](states, count)
    var changed = true
    while (changed) {
      changed = false
      round((q, r) => found(q)(r), (q, r) => if (!found(q)(r)) { found(q)(r) = true; changed = true })
    }
    found
  }

  /** Does the comparison of the register fail with the transition, or is it reset? Then the content is never read. */
  private[automaton] def fails(t: Cea.Transition, register: Int): Boolean =
    t.resets(comparisonOf(register)) || t.uses.exists(c => c.comparison == comparisonOf(register) && !c.holds)
}

object Registers {
  def apply(cea: Cea): Registers = {
    val atEnd = cea.endingOf.map { case (q, e) => q -> cea.endings(e).absent.flatMap(_.uses) }
    new Registers(cea.comparisons, cea.states, cea.transitions, atEnd)
  }

  /** All comparisons that a transition asks. */
  private[automaton] def asked(t: Cea.Transition): Iterator[ComparisonUse] =
    t.uses.iterator ++ t.unless.iterator.flatMap(_.uses)

  private def width(comparison: Comparison): Int = comparison match {
    case _: Comparison.Pair | _: Comparison.Span        => 2
    case _: Comparison.Same | _: Comparison.Consecutive => 1
    case e: Comparison.Expression                       => e.variables.length
  }

  /** The same automaton with its resets in a normal form, so that [[Quotient]] finds equivalent states: a transition
    * resets a comparison that it uses or that is live after it, if it did so before or if the comparison has no live
    * register in the state that it leaves.
    */
  private[automaton] def withPlainResets(cea: Cea): Cea = {
    val registers = Registers(cea)
    val kept = registers.live.map(_.map(registers.comparisonOf).toSet)
    val transitions = cea.transitions.map { t =>
      val used = asked(t).map(_.comparison).toSet ++ kept(t.to)
      t.copy(resets = used.filter(l => t.resets(l) || !kept(t.from)(l)))
    }
    new Cea(
      cea.states,
      cea.conditions,
      cea.labels,
      transitions.distinct,
      cea.finals,
      cea.comparisons,
      cea.endings,
      cea.endingOf,
      cea.absentBefore
    )
  }
}
