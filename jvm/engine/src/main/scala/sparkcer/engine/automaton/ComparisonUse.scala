package sparkcer.engine.automaton

import sparkcer.engine.ceql.Comparison

/** A comparison that a transition evaluates for its event.
  *
  * @param comparison
  *   its number
  * @param roles
  *   the variables of the comparison that the event is bound to, as bits in the order of [[ComparisonUse.roles]]
  * @param holds
  *   whether the comparison must still hold with this event, or must fail with it
  */
final case class ComparisonUse(comparison: Int, roles: Int, holds: Boolean)

object ComparisonUse {

  /** The variables of a comparison, one for each role: the left and the right one, or one for each term of PART-BY. */
  def roles(comparison: Comparison): Vector[String] = comparison match {
    case Comparison.Same(terms) => terms.map(_.variable)
    case other                  => other.variables
  }
}
