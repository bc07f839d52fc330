package sparkcer.engine.automaton

import sparkcer.engine.ceql.Link

/** What runs remember for the links of an automaton: each link has some registers, and a register is *live* in a state
  * when a check that a run may still come to reads it. Only live registers are kept, so runs that differ in nothing
  * that can matter are one.
  *
  * | link        | registers                                                                        |
  * |:------------|:---------------------------------------------------------------------------------|
  * | Compare     | one for each side: its value, or the values that decide (see [[Link]], `Values`) |
  * | Same        | the value                                                                        |
  * | Consecutive | the value of the last event                                                      |
  * | Expression  | the events of each variable                                                      |
  */
final class Registers private (links: Seq[Link], states: Int, transitions: Seq[Cea.Transition]) {
  import Registers._

  /** The first register of each link. */
  val first: Array[Int] = links.map(width).scanLeft(0)(_ + _).toArray
  val count: Int = first.last

  /** The link of each register. */
  val linkOf: Array[Int] = links.indices.flatMap(i => Seq.fill(width(links(i)))(i)).toArray

  /** The registers that a check reads. */
  def reads(check: Check): Seq[Int] = {
    val at = first(check.link)
    def others(i: Int) = (check.roles & ~(1 << i)) != 0
    links(check.link) match {
      case _: Link.Compare                    => Seq(0, 1).filter(others).map(at + _)
      case _: Link.Same | _: Link.Consecutive => Seq(at)
      case e: Link.Expression => e.variables.indices.filter(i => others(i) || e.previous && i == 0).map(at + _)
    }
  }

  /** The registers that a check writes, if it holds. */
  private def writes(check: Check): Seq[Int] = {
    val at = first(check.link)
    links(check.link) match {
      case _: Link.Same | _: Link.Consecutive => Seq(at)
      case _                                  => (0 until 32).filter(i => (check.roles >>> i & 1) != 0).map(at + _)
    }
  }

  /** For each state the live registers, in order: something may have been written there, and something may read it. */
  val live: Array[Array[Int]] = {
    val written = fixpoint { (has, add) =>
      transitions.foreach { t =>
        (0 until count).foreach(r => if (has(t.from, r) && !fails(t, r)) add(t.to, r))
        t.checks.foreach(c => if (c.holds) writes(c).foreach(add(t.to, _)))
      }
    }
    val wanted = fixpoint { (has, add) =>
      transitions.foreach { t =>
        t.checks.foreach(c => reads(c).foreach(r => if (!t.resets(linkOf(r))) add(t.from, r)))
        (0 until count).foreach(r => if (has(t.to, r) && !fails(t, r)) add(t.from, r))
      }
    }
    Array.tabulate(states)(q => (0 until count).filter(r => written(q)(r) && wanted(q)(r)).toArray)
  }

  /** Adds registers to states until nothing is new. */
  private def fixpoint(round: ((Int, Int) => Boolean, (Int, Int) => Unit) => Unit): Array[Array[Boolean]] = {
    val found = Array.ofDim[Boolean](states, count)
    var changed = true
    while (changed) {
      changed = false
      round((q, r) => found(q)(r), (q, r) => if (!found(q)(r)) { found(q)(r) = true; changed = true })
    }
    found
  }

  /** Does the register's link fail with the transition, or begin anew? Then nothing asks for it any more. */
  private[automaton] def fails(t: Cea.Transition, register: Int): Boolean =
    t.resets(linkOf(register)) || t.checks.exists(c => c.link == linkOf(register) && !c.holds)
}

object Registers {
  def apply(cea: Cea): Registers = new Registers(cea.links, cea.states, cea.transitions)

  private def width(link: Link): Int = link match {
    case _: Link.Compare                    => 2
    case _: Link.Same | _: Link.Consecutive => 1
    case e: Link.Expression                 => e.variables.length
  }

  /** The same automaton with its resets in one form, so that twins can be found: a transition resets the links that it
    * checks or goes on with, unless something of them is kept where it comes from.
    */
  private[automaton] def withPlainResets(cea: Cea): Cea = {
    val registers = Registers(cea)
    val kept = registers.live.map(_.map(registers.linkOf).toSet)
    val transitions = cea.transitions.map { t =>
      val used = t.checks.map(_.link).toSet ++ kept(t.to)
      t.copy(resets = used.filter(l => t.resets(l) || !kept(t.from)(l)))
    }
    new Cea(cea.states, cea.guards, cea.labels, transitions.distinct, cea.finals, cea.links)
  }
}
