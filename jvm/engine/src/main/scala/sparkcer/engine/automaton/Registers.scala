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

  /** For each state the live registers, in order. */
  val live: Array[Array[Int]] = {
    val isLive = Array.ofDim[Boolean](states, count)
    var changed = true
    while (changed) {
      changed = false
      transitions.foreach { t =>
        def need(r: Int): Unit =
          if (!t.resets(linkOf(r)) && !isLive(t.from)(r)) { isLive(t.from)(r) = true; changed = true }
        t.checks.foreach(c => reads(c).foreach(need))
        (0 until count).foreach(r => if (isLive(t.to)(r) && !fails(t, linkOf(r))) need(r))
      }
    }
    Array.tabulate(states)(q => (0 until count).filter(isLive(q)(_)).toArray)
  }

  /** After a link has failed nothing asks for it. */
  private def fails(t: Cea.Transition, link: Int): Boolean = t.checks.exists(c => c.link == link && !c.holds)
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
  private[automaton] def withPlainResets(cea: Cea): Cea =
    if (cea.links.isEmpty) cea
    else {
      val registers = Registers(cea)
      val kept = registers.live.map(_.map(registers.linkOf).toSet)
      val transitions = cea.transitions.map { t =>
        val used = t.checks.map(_.link).toSet ++ kept(t.to)
        t.copy(resets = used.filter(l => t.resets(l) || !kept(t.from)(l)))
      }
      new Cea(cea.states, cea.guards, cea.labels, transitions.distinct, cea.finals, cea.links)
    }
}
