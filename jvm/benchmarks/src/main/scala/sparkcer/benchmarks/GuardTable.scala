package sparkcer.benchmarks

import scala.collection.mutable

import sparkcer.benchmarks.masks.{Conjunction, MaskTable, Membership}
import sparkcer.engine.automaton.Guard

/** The guards of a query over a stream's columns: `column = constant` becomes a look-up, the rest a test. */
object GuardTable {

  /** The table, and the tests to put into `Events.predicates`. */
  def apply(guards: Seq[Guard], events: Events): (MaskTable, Array[Predicates.Test]) = {
    val tests = mutable.LinkedHashMap.empty[Predicates.Expression, Int]
    def number(e: Predicates.Expression): Int = tests.getOrElseUpdate(e, tests.size)
    val conjunctions = guards.map { g =>
      val typed = Membership(events.column("type"), Set[AnyRef](g.eventType))
      val (equal, rest) =
        g.holds.toVector.flatMap(p => Predicates.conjuncts(Predicates.parse(p.sql))).partitionMap(membership(events))
      Conjunction(
        typed +: equal,
        rest.map(number),
        g.fails.toVector.map(p => number(Predicates.parse(p.sql))),
        g.negated
      )
    }
    (new MaskTable(conjunctions), tests.keysIterator.map(Predicates.compile(_, events)).toArray)
  }

  private def membership(events: Events)(e: Predicates.Expression): Either[Membership, Predicates.Expression] =
    e match {
      case Predicates.Compare(name, "=", constant) if !events.isDouble(events.column(name)) =>
        val value: AnyRef = constant.fold(identity[AnyRef], n => java.lang.Long.valueOf(n.toLongExact))
        Left(Membership(events.column(name), Set(value)))
      case other => Right(other)
    }
}
