package sparkcer.engine.automaton

import sparkcer.engine.ceql.{CeqlException, Comparison, Condition, Formula, Name, Printer, SqlCondition}
import sparkcer.engine.ceql.Condition._

/** The ways in which an event is an α of `NO α` or `WITHOUT α`: its type and what FILTER asks of it, one way for each
  * type and each side of an OR.
  *
  * @param resolve
  *   a condition of FILTER as the compiler reads it, see [[sparkcer.engine.ceql.Comparisons]]
  */
final private[automaton] class Absence(text: String, resolve: (Condition, Formula) => Condition) {
  import Absence._

  /** @param before the formula whose variables α may name, if it may name any but its own */
  def apply(absent: Formula.Absent, before: Option[Formula]): Vector[Way] = ways(absent.body, before).distinct

  private def ways(f: Formula, before: Option[Formula]): Vector[Way] = f match {
    case a: Formula.Atom     => Vector(Way(EventCondition(a.stream, a.eventType), Set(a.variable), Vector.empty))
    case Formula.As(body, x) => ways(body, before).map(w => w.copy(own = w.own + x.value))
    case Formula.Or(parts)   => parts.flatMap(ways(_, before))
    case Formula.Filter(body, condition) =>
      checkBound(condition, body.variables, before)
      val resolved = resolve(condition, before.fold(body)(b => Formula.Sequence(Vector(b, body))))
      for (way <- ways(body, before); requirement <- requirements(resolved, way, body.variables))
        yield requirement.of(way)
    case other => throw new IllegalStateException(s"$other is not one event")
  }

  /** Refuses a comparison with a variable that is not bound before α. */
  private def checkBound(c: Condition, own: Set[String], before: Option[Formula]): Unit = {
    val bound = before.fold(Set.empty[String])(_.variables)
    names(c).find(x => !own(x.value) && !bound(x.value)).foreach { x =>
      if (before.isEmpty) throw new CeqlException(text, x.offset, "CER_ABSENCE.BEFORE_COMPARED", "name" -> x.value)
      val known = bound.toVector.sorted
      throw new CeqlException(
        text,
        x.offset,
        "CER_ABSENCE.NOT_BOUND",
        "name" -> x.value,
        "variables" -> CeqlException.list(known),
        "suggestion" -> CeqlException.suggestion(x.value, known)
      )
    }
  }

  /** The variables that it names as they are written. α has no aggregates. */
  private def names(c: Condition): Vector[Name] = c match {
    case Holds(x, _) => Vector(x)
    case c: Compare  => (c.left.variables ++ c.right.variables).toVector
    case And(parts)  => parts.flatMap(names)
    case Or(parts)   => parts.flatMap(names)
    case _           => Vector.empty
  }

  /** What is asked of an event that is bound to `way.own`, as alternatives. A condition on another variable of α, which
    * is not bound then, holds.
    */
  private def requirements(c: Condition, way: Way, own: Set[String]): Vector[Requirement] = c match {
    case Holds(x, p) =>
      if (!own(x.value)) notAbout(c, p.offset)
      Vector(if (way.own(x.value)) Requirement(Vector(p), Vector.empty) else Nothing)
    case Compared(comparison) =>
      val (its, others) = comparison.variables.partition(own)
      if (its.isEmpty) notAbout(c, comparison.offset)
      if (!its.forall(way.own)) Vector(Nothing)
      else if (others.isEmpty) Vector(Requirement(Vector(Disjunction.onOneEvent(c)), Vector.empty))
      // An event alone has none before it.
      else if (comparison.previous) Vector(Nothing)
      else Vector(Requirement(Vector.empty, Vector(comparison)))
    case And(parts) =>
      parts.map(requirements(_, way, own)).foldLeft(Vector(Nothing)) { (all, part) =>
        if (all.length.toLong * part.length > MaxWays)
          throw new CeqlException(text, 0, "CER_QUERY_TOO_LARGE.ALTERNATIVES")
        for (a <- all; b <- part) yield a.and(b)
      }
    case Or(parts) => parts.flatMap(requirements(_, way, own))
    case c @ (_: Compare | _: OfEnd | _: Count | _: Extreme | _: Exists | _: Counted) =>
      throw new IllegalStateException(s"$c in an α")
  }

  private def notAbout(c: Condition, offset: Int): Nothing =
    throw new CeqlException(text, offset, "CER_ABSENCE.NOT_ABOUT", "condition" -> Printer.print(c))
}

private[automaton] object Absence {

  /** @param own
    *   the variables of α that the event is bound to. They hide those of the same name around α
    * @param comparisons
    *   with events that came before
    */
  final case class Way(condition: EventCondition, own: Set[String], comparisons: Vector[Comparison]) {

    /** The roles of the event in a comparison, as bits. */
    def roles(comparison: Comparison): Int =
      ComparisonUse.roles(comparison).zipWithIndex.foldLeft(0) { case (bits, (variable, i)) =>
        if (own(variable)) bits | 1 << i else bits
      }

    /** The variables that the event is compared with. */
    def others: Vector[Name] =
      comparisons.flatMap(c => c.variables.filterNot(own).map(Name(_)(c.offset))).distinct
  }

  /** What FILTER asks of one event. */
  final private case class Requirement(conditions: Vector[SqlCondition], comparisons: Vector[Comparison]) {
    def and(other: Requirement): Requirement =
      Requirement(conditions ++ other.conditions, comparisons ++ other.comparisons)

    def of(way: Way): Way = way.copy(
      condition = conditions.foldLeft(way.condition)(_.require(_)),
      comparisons = way.comparisons ++ comparisons
    )
  }

  private val Nothing = Requirement(Vector.empty, Vector.empty)

  private val MaxWays = 1000
}
