package sparkcer.engine.automaton

import sparkcer.engine.ceql.Comparison

/** A transition of a fragment. Without a `condition` it takes any event; `also` are conditions of NOT on the same
  * event. `ends` are variables that no event is bound to in a match: see [[EndEvents]]. `notAfter` are the numbers of
  * [[AbsentBefore]]: a run begins with this step only if none of these events came.
  */
final private[automaton] case class Step(
    from: Int,
    condition: Option[EventCondition],
    variables: Set[String],
    to: Int,
    also: Set[EventCondition] = Set.empty,
    uses: Vector[ComparisonUse] = Vector.empty,
    ends: Set[String] = Set.empty,
    unless: Set[Unless[EventCondition]] = Set.empty,
    notAfter: Set[Int] = Set.empty
) {
  def binds(variable: String): Boolean = variables(variable) || ends(variable)

  /** The roles of the event in a comparison, as bits. */
  def roles(comparison: Comparison): Int =
    ComparisonUse.roles(comparison).zipWithIndex.foldLeft(0) { case (bits, (variable, i)) =>
      val plays = if (variable == Comparison.Marked) variables.nonEmpty else binds(variable)
      if (plays) bits | 1 << i else bits
    }
}

/** A step without an event. The comparisons of `resets` forget earlier events. `ending` is the number of an [[Ending]]:
  * a match that goes this way has it.
  */
final private[automaton] case class Empty(
    from: Int,
    to: Int,
    resets: Set[Int] = Set.empty,
    ending: Option[Int] = None
)

/** A part of the automaton under construction: its entry and exit, and where its transitions begin. It is always the
  * part that was built last, so its transitions are all from there on.
  *
  * Every way from the entry to the exit takes an event, and begins and ends with one of the formula's own: waiting is
  * for between.
  */
final private[automaton] case class Fragment(entry: Int, exit: Int, firstStep: Int, firstEmpty: Int)
