package sparkcer.engine.automaton

import sparkcer.engine.ceql.{CeqlException, Condition, Ends, Formula, Name}
import sparkcer.engine.ceql.Condition._

/** Moves what a run must keep track of for a FILTER (disjunctions, numbers of events, SOME) down to the smallest
  * subformula that binds all their variables, so that the product with the automaton ([[Disjunction]]) is small. They
  * are never moved into an iteration, where they would apply to each round. Conjuncts `X[P]` are not moved: they go to
  * the transitions directly.
  */
private[automaton] object Pushdown {

  /** The conjuncts that stay at this formula, and the formula with the others inside it. */
  def apply(body: Formula, condition: Condition): (Vector[Condition], Formula) =
    conjuncts(condition).foldLeft((Vector.empty[Condition], body)) { case ((here, f), c) =>
      c match {
        case _: Or | _: Counted | _: Exists =>
          push(f, c, Condition.variables(c).map(Ends.variable).toSet).fold((here :+ c, f))(moved => (here, moved))
        case _ => (here :+ c, f)
      }
    }

  /** Refuses a filter on a variable that the formula cannot bind: it would always hold, which nobody can want. */
  def checkBound(c: Condition, bound: Set[String], text: String): Unit = c match {
    case Holds(x, _)      => checkBound(x, bound, "FILTER", text)
    case Exists(x, _)     => checkBound(x, bound, "FILTER", text)
    case OfEnd(_, x, _)   => checkBound(x, bound, "FILTER", text)
    case Count(x, _, _)   => checkBound(x, bound, "FILTER", text)
    case e: Extreme       => checkBound(e.variable, bound, "FILTER", text)
    case c: Compare       => (c.left.variables ++ c.right.variables).foreach(checkBound(_, bound, "FILTER", text))
    case Compared(_)      => ()
    case Counted(_, _, _) => ()
    case And(parts)       => parts.foreach(checkBound(_, bound, text))
    case Or(parts)        => parts.foreach(checkBound(_, bound, text))
  }

  def checkBound(name: Name, bound: Set[String], where: String, text: String): Unit = {
    val x = Name(Ends.variable(name.value))(name.offset)
    if (!bound(x.value)) {
      val names = bound.toVector.sorted
      throw new CeqlException(
        text,
        x.offset,
        "CER_UNKNOWN_VARIABLE.BEFORE",
        "clause" -> where,
        "name" -> x.value,
        "variables" -> CeqlException.list(names),
        "suggestion" -> CeqlException.suggestion(x.value, names)
      )
    }
  }

  def conjuncts(c: Condition): Vector[Condition] = c match {
    case And(parts) => parts.flatMap(conjuncts)
    case other      => Vector(other)
  }

  /** `f` with the condition inside, if it can go inside. */
  private def push(f: Formula, c: Condition, names: Set[String]): Option[Formula] = f match {
    case Formula.Sequence(parts)                    => pushToOne(parts, c, names).map(Formula.Sequence)
    case Formula.Contiguous(parts)                  => pushToOne(parts, c, names).map(Formula.Contiguous)
    case Formula.NoneBetween(first, absent, second) =>
      pushToOne(Vector(first, second), c, names).map(p => Formula.NoneBetween(p(0), absent, p(1)))
    case Formula.NoneAfter(body, absent, length)  => push(body, c, names).map(Formula.NoneAfter(_, absent, length))
    case Formula.NoneBefore(absent, length, body) => push(body, c, names).map(Formula.NoneBefore(absent, length, _))
    case Formula.As(body, x) if !names(x.value)   => Some(Formula.As(within(body, c, names), x))
    // Past another filter only if it moves further down: otherwise two filters would change places forever.
    case Formula.Filter(body, other) => push(body, c, names).map(Formula.Filter(_, other))
    case _                           => None
  }

  private def within(f: Formula, c: Condition, names: Set[String]): Formula =
    push(f, c, names).getOrElse(Formula.Filter(f, c))

  private def pushToOne(parts: Vector[Formula], c: Condition, names: Set[String]): Option[Vector[Formula]] = {
    val binding = parts.indices.filter(i => parts(i).variables.exists(names))
    if (binding.length != 1 || !names.subsetOf(parts(binding.head).variables)) None
    else Some(parts.updated(binding.head, within(parts(binding.head), c, names)))
  }
}
