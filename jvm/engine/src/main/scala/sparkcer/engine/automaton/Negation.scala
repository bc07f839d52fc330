package sparkcer.engine.automaton

import sparkcer.engine.ceql.{CeqlException, Condition, Ends, Formula, SqlCondition}
import sparkcer.engine.ceql.Condition._

/** The conditions of `NOT(α)`, all of which an event must meet: α takes one event in one of several ways, and the event
  * is taken in none of them.
  *
  * @param resolve
  *   a condition of FILTER as the compiler reads it, see [[sparkcer.engine.ceql.Comparisons]]
  */
final private[automaton] class Negation(text: String, resolve: (Condition, Formula) => Condition) {
  import Negation._

  def apply(not: Formula.Not): Vector[EventCondition] =
    ways(not.body, not.offset).map { w =>
      val negated = EventCondition(w.atom.stream, w.atom.eventType, negated = true)
      w.filters.foldLeft(negated)(_.require(_))
    }.distinct

  private def ways(f: Formula, offset: Int): Vector[Way] = f match {
    case a: Formula.Atom                 => Vector(Way(a, Set(a.variable), Vector.empty))
    case Formula.As(body, x)             => ways(body, offset).map(w => w.copy(variables = w.variables + x.value))
    case Formula.Or(parts)               => parts.flatMap(ways(_, offset))
    case Formula.Filter(body, condition) =>
      val resolved = resolve(condition, body)
      ways(body, offset).map(w =>
        w.copy(filters = w.filters ++ about(w.variables, resolved).map(Disjunction.onOneEvent))
      )
    case _ => throw new CeqlException(text, offset, "CER_UNSUPPORTED.NOT")
  }
}

private object Negation {

  /** One way to take an event: its type, the variables that it is bound to, and what FILTER asks of it. */
  final private case class Way(atom: Formula.Atom, variables: Set[String], filters: Vector[SqlCondition])

  /** What a condition asks of an event that is bound to these variables and to no other; None if nothing. */
  private def about(bound: Set[String], c: Condition): Option[Condition] = {
    def isBound(variable: String) = bound(Ends.variable(variable))
    c match {
      case Holds(x, _)          => Some(c).filter(_ => isBound(x.value))
      case Compared(comparison) => Some(c).filter(_ => comparison.variables.forall(isBound))
      case Exists(x, _)         => Some(if (isBound(x.value)) c else Never)
      case Counted(x, least, _) => if (isBound(x.value)) Some(c) else if (least == 0) None else Some(Never)
      case And(parts)           => joined(parts.flatMap(about(bound, _)), And)
      case Or(parts)            =>
        val all = parts.map(about(bound, _))
        if (all.contains(None)) None else joined(all.flatten, Or).orElse(Some(Never))
      case c @ (_: Compare | _: OfEnd | _: Count | _: Extreme) => throw new IllegalStateException(s"$c is not resolved")
    }
  }

  private val Never = Or(Vector.empty)

  private def joined(parts: Vector[Condition], make: Vector[Condition] => Condition): Option[Condition] =
    if (parts.length > 1) Some(make(parts)) else parts.headOption
}
