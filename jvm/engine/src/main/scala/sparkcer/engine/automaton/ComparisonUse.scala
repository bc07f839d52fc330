package sparkcer.engine.automaton

import sparkcer.engine.ceql.Comparison

/** What a transition asks of its event and a comparison.
  *
  * @param comparison
  *   by number
  * @param roles
  *   the parts that the event plays in it, as bits: see [[ComparisonUse.roles]]
  * @param holds
  *   whether the comparison must still hold with this event, or must fail with it
  */
final case class ComparisonUse(comparison: Int, roles: Int, holds: Boolean)

object ComparisonUse {

  /** The variables of the parts of a comparison: a comparison has a left and a right one, PART-BY one for each term. */
  def roles(comparison: Comparison): Vector[String] = comparison match {
    case Comparison.Same(terms) => terms.map(_.variable)
    case other            => other.variables
  }
}
