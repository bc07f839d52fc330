package sparkcer.engine.automaton

import sparkcer.engine.ceql.{Conjuncts, SqlCondition}

/** What a transition asks of an event: its type, the conditions that FILTER put on it, and, where a disjunction was
  * taken apart, the conditions that must not hold. One bit of an event's mask says whether it passes.
  *
  * The conditions are only asked of events of the type, so that an error in one cannot come from an event the query
  * never reads.
  *
  * @param negated
  *   for `NOT(α)`: the event passes when it fails everything else said here
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

  /** An event that passes both, if there can be one. Neither is negated. */
  def and(other: EventCondition): Option[EventCondition] =
    if (eventType != other.eventType || stream.exists(s => other.stream.exists(_ != s))) None
    else Some(EventCondition(stream.orElse(other.stream), eventType, holds ++ other.holds, fails ++ other.fails))

  /** For people. */
  def show: String = {
    val kind = stream.fold(eventType)(_ + ">" + eventType)
    val tests =
      holds.toVector.map(_.sql).sorted.flatMap(Conjuncts(_)) ++ fails.toVector.map(p => s"not (${p.sql})").sorted
    val all = if (tests.isEmpty) kind else s"$kind[${Conjuncts.join(tests)}]"
    if (negated) s"NOT($all)" else all
  }
}
