package sparkcer.engine.automaton

import sparkcer.engine.ceql.Link

/** What a transition asks of its event and a link.
  *
  * @param link
  *   by number
  * @param roles
  *   the parts that the event plays in it, as bits: see [[Check.roles]]
  * @param holds
  *   whether the link must still hold with this event, or must fail with it
  */
final case class Check(link: Int, roles: Int, holds: Boolean)

object Check {

  /** The variables of the parts of a link: a comparison has a left and a right one, PART-BY one for each term. */
  def roles(link: Link): Vector[String] = link match {
    case Link.Same(terms) => terms.map(_.variable)
    case other            => other.variables
  }
}
