package sparkcer.engine.compare

import scala.collection.mutable

import sparkcer.engine.automaton.Unless

/** How events find the partial matches that a comparison lets them extend: the worst case over all transitions that use
  * the comparison. For EXPLAIN; the decisions themselves are made in [[Shape]].
  */
final private[engine] class AccessPlan(machine: Machine) {
  import machine.{bares, cea, comparers, outgoing, registers, rules}

  def apply(comparison: Int): Access = {
    val uses = for {
      q <- 1 until cea.states
      arc <- outgoing(q) if arc.transition.uses.exists(_.comparison == comparison)
    } yield access(comparison, q, arc)
    val kills = for {
      t <- cea.transitions
      u <- t.unless if u.uses.exists(_.comparison == comparison)
    } yield fatal(comparison, u)
    val atEnd = for {
      ending <- cea.endings
      u <- ending.absent if u.uses.exists(_.comparison == comparison)
    } yield waiting(u)
    if (cea.comparisons(comparison).previous && !repeats(comparison)) Access.Always
    else (uses ++ kills ++ atEnd).maxByOption(_.cost).getOrElse(Access.Indexed)
  }

  /** How an event finds the partial matches that must not pass over it. */
  private def fatal(comparison: Int, unless: Unless[Int]): Access =
    if (rules.threatened) Access.PerRun
    else if (unless.uses.exists(c => comparers(c.comparison).equalities(c.roles).nonEmpty)) Access.Indexed
    else if (comparers(comparison).isInstanceOf[Expression]) Access.PerRun
    else Access.PerValue

  /** How an event finds the matches that wait and that it takes away, see `evaluate.PendingIndex`. */
  private def waiting(unless: Unless[Int]): Access =
    if (machine.equality(unless.uses).isDefined) Access.Indexed else Access.PerWaiting

  private def access(comparison: Int, state: Int, arc: Arc): Access = {
    val values = Array.fill(registers.live(state).length)(Content.Value)
    val kept = registers.live(arc.transition.to).exists(registers.comparisonOf(_) == comparison)
    val hidden = kept && arc.label == 0 && !(bares && onlyBare(state))
    if (hidden || rules.threatened) Access.PerRun
    // Where no run waits, only the last event has left entries.
    else if (!arc.reads(comparison) || !outgoing(state).exists(_.waits)) Access.Indexed
    else if (arc.range.isDefined && machine.together(0))
      if (asksEquality(arc, comparison)) Access.Indexed else Access.Ordered
    else if (arc.needs(values).forall(_.map(_._1).distinct.length == values.length)) Access.Indexed
    else if (comparers(comparison).isInstanceOf[Expression]) Access.PerRun
    else Access.PerValue
  }

  /** Can a run meet two events of the first variable of a comparison before the comparison begins anew? */
  private def repeats(comparison: Int): Boolean = {
    val seen = mutable.Set((0, 0))
    val work = mutable.Stack((0, 0))
    var twice = false
    while (work.nonEmpty && !twice) {
      val (q, before) = work.pop()
      cea.outgoing(q).foreach { t =>
        val met = t.uses.count(c => c.comparison == comparison && (c.roles & 1) != 0)
        val events = (if (t.resets(comparison)) 0 else before) + met
        if (events > 1) twice = true
        else if (seen.add((t.to, events))) work.push((t.to, events))
      }
    }
    twice
  }

  private def asksEquality(arc: Arc, comparison: Int): Boolean =
    arc.transition.uses
      .filter(_.comparison == comparison)
      .forall(c => comparers(comparison).equalities(c.roles).nonEmpty)

  /** Is nothing marked on any path to the state? */
  private def onlyBare(state: Int): Boolean = {
    val reached = mutable.Set.empty[Int]
    val work = mutable.Stack.from(cea.transitions.filter(_.label != 0).map(_.to))
    while (work.nonEmpty) { val q = work.pop(); if (reached.add(q)) work.pushAll(cea.outgoing(q).map(_.to)) }
    !reached(state)
  }
}
