package sparkcer.engine.automaton

import sparkcer.engine.ceql.{Conjuncts, SqlCondition}

/** The condition that an event must meet for a transition: its type, the conditions of FILTER, and, where a disjunction
  * was split, the conditions that must not hold. It is one bit of an event's mask.
  *
  * The conditions are only evaluated for events of the type, so an event that the query never reads cannot cause an
  * error in them.
  *
  * @param negated
  *   for `NOT(α)`: the event meets it when it does not meet the rest
  */
final case class EventCondition(
    stream: Option[String],
    eventType: String,
    holds: Set[SqlCondition] = Set.empty,
    fails: Set[SqlCondition] = Set.empty,
    negated: Boolean = false
) {
  def satisfiable: Boolean = !holds.exists(fails)

  def require(p: SqlCondition): EventCondition = copy(holds = holds + p)
  def refuse(p: SqlCondition): EventCondition = copy(fails = fails + p)

  /** Both conditions as one, if an event can meet both. Neither is negated. */
  def and(other: EventCondition): Option[EventCondition] =
    if (eventType != other.eventType || stream.exists(s => other.stream.exists(_ != s))) None
    else Some(EventCondition(stream.orElse(other.stream), eventType, holds ++ other.holds, fails ++ other.fails))

  /** As text, for EXPLAIN and diagrams. */
  def show: String = {
    val kind = stream.fold(eventType)(_ + ">" + eventType)
    val conditions =
      holds.toVector.map(_.sql).sorted.flatMap(Conjuncts(_)) ++ fails.toVector.map(p => s"not (${p.sql})").sorted
    val all = if (conditions.isEmpty) kind else s"$kind[${Conjuncts.join(conditions)}]"
    if (negated) s"NOT($all)" else all
  }
}
