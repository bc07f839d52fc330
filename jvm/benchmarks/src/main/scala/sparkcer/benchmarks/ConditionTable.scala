package sparkcer.benchmarks

import scala.collection.mutable

import sparkcer.benchmarks.masks.{Conjunction, MaskTable, Membership}
import sparkcer.engine.automaton.EventCondition

/** The conditions of a query over a stream's columns: `column = constant` becomes a look-up, the rest a test. */
object ConditionTable {

  /** The table, and the tests to put into `Events.conditions`. */
  def apply(conditions: Seq[EventCondition], events: Events): (MaskTable, Array[ColumnConditions.Test]) = {
    val tests = mutable.LinkedHashMap.empty[ColumnConditions.Expression, Int]
    def number(e: ColumnConditions.Expression): Int = tests.getOrElseUpdate(e, tests.size)
    val conjunctions = conditions.map { g =>
      val typed = Membership(events.column("type"), Set[AnyRef](g.eventType))
      val (equal, rest) =
        g.holds.toVector
          .flatMap(p => ColumnConditions.conjuncts(ColumnConditions.parse(p.sql)))
          .partitionMap(membership(events))
      Conjunction(
        typed +: equal,
        rest.map(number),
        g.fails.toVector.map(p => number(ColumnConditions.parse(p.sql))),
        g.negated
      )
    }
    (new MaskTable(conjunctions), tests.keysIterator.map(ColumnConditions.compile(_, events)).toArray)
  }

  private def membership(
      events: Events
  )(e: ColumnConditions.Expression): Either[Membership, ColumnConditions.Expression] =
    e match {
      case ColumnConditions.Compare(name, "=", constant) if !events.isDouble(events.column(name)) =>
        val value: AnyRef = constant.fold(identity[AnyRef], n => java.lang.Long.valueOf(n.toLongExact))
        Left(Membership(events.column(name), Set(value)))
      case other => Right(other)
    }
}
