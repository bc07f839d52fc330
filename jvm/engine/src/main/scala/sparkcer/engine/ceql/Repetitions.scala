package sparkcer.engine.ceql

import sparkcer.engine.ceql.Condition._

/** Writes the conditions on what a repetition has gathered in terms of a few that the compiler knows: `X[P]`,
  * `SOME X[P]`, a number of events, and conditions on `first(x)` and `last(x)`, which are variables of one event.
  * Unlike `X[P]` they do not hold of a variable without events, except for a number of events that may be 0.
  */
private[ceql] object Repetitions {

  def counted(c: Count, text: String): Condition = {
    if (c.n match { case Quantity.Number(n) => n > Bounds.Most; case _ => false })
      throw new CeqlException(
        text,
        c.offset,
        "CER_QUERY_TOO_LARGE.COUNT",
        "variable" -> c.variable.value,
        "n" -> Printer.print(c.n),
        "most" -> Bounds.Most.toString
      )
    range(c.variable, c.operator, Quantity.whole(c.n))
  }

  private def range(x: Name, operator: Operator, n: Int): Condition = operator match {
    case Operator.Equal        => Counted(x, n, Some(n))
    case Operator.GreaterEqual => Counted(x, n, None)
    case Operator.Greater      => Counted(x, n + 1, None)
    case Operator.LessEqual    => Counted(x, 0, Some(n))
    // Fewer than none: it cannot hold, which an empty disjunction says.
    case Operator.Less     => if (n == 0) Or(Vector.empty) else Counted(x, 0, Some(n - 1))
    case Operator.NotEqual => Or(Vector(range(x, Operator.Less, n), range(x, Operator.Greater, n)))
  }

  def exists(x: Name, p: SqlCondition, bound: Set[String], text: String): Condition = Exists(x, own(x, p, bound, text))

  /** `first(x)[P]`, `last(x)[P]` */
  def ofEnd(end: End, x: Name, p: SqlCondition, isBound: Set[String], text: String): Condition = {
    val event = Name(Ends.name(end, x.value))(x.offset)
    bound(Vector(event), Holds(event, own(event, p, isBound, text)))
  }

  /** The condition, and that each variable of which an end is named has an event. */
  def bound(names: Vector[Name], condition: Condition): Condition =
    names.filter(x => Ends.of(x.value).isDefined).map(x => Name(Ends.variable(x.value))(x.offset)).distinct match {
      case Vector() => condition
      case some     => And(some.map(Counted(_, 1, None)) :+ condition)
    }

  /** SQL's `max` and `min` skip NULLs, and are NULL where nothing is left. */
  def extreme(e: Extreme): Condition = {
    val a = e.argument match {
      case _: Operand.Attribute => e.argument.sql(_.path)
      case other                => s"(${other.sql(_.path)})"
    }
    val c = e.bound match {
      case l: Operand.Literal => l.sql(_.path)
      case other              => s"(${other.sql(_.path)})"
    }
    def sql(s: String) = SqlCondition(s)(e.offset)
    def some(sign: String) = Exists(e.variable, sql(s"$a $sign $c"))
    def every(sign: String) = Holds(e.variable, sql(s"$a IS NULL OR $a $sign $c"))
    val any = Exists(e.variable, sql(s"$a IS NOT NULL"))
    // Of max: larger values are reached by some event, smaller ones by every event.
    val (beyond, within) = if (e.isMax) (Operator.Greater, Operator.Less) else (Operator.Less, Operator.Greater)
    e.operator match {
      case Operator.Equal    => And(Vector(some("="), every(orEqual(within))))
      case Operator.NotEqual => Or(Vector(some(beyond.sign), And(Vector(any, every(within.sign)))))
      case o if o == beyond || o.sign == orEqual(beyond) => some(o.sign)
      case o                                             => And(Vector(any, every(o.sign)))
    }
  }

  private def orEqual(o: Operator): String = s"${o.sign}="

  /** A condition that names the columns of one event only. */
  private def own(x: Name, p: SqlCondition, bound: Set[String], text: String): SqlCondition = {
    val named = References(p.sql, bound)
    val variable = Ends.variable(x.value)
    named.find(_.variable != variable).foreach { other =>
      throw new CeqlException(
        text,
        p.offset,
        "CER_UNSUPPORTED.OTHER_VARIABLE",
        "other" -> other.variable,
        "variable" -> x.value
      )
    }
    if (named.isEmpty) p else SqlCondition(References.without(p.sql, named))(p.offset)
  }
}
