package sparkcer.engine.ceql

/** `:name` in a query, a value that comes with the call. In LIMIT and WITHIN it is a number, and bound here; in
  * conditions it is part of their SQL, and bound where that is read.
  */
object Parameters {
  private[ceql] val Limit = "a whole number from 1"
  private[ceql] val TooLong = "the window is longer than 292,000 years"

  private[ceql] def isLimit(n: BigDecimal): Boolean = n.isWhole && n >= 1

  /** Those of LIMIT and WITHIN. */
  def quantities(q: Query): Vector[Name] = {
    def of(n: Quantity) = n match { case Quantity.Parameter(p) => Vector(p); case Quantity.Number(_) => Vector.empty }
    val window = q.within match {
      case Some(Window.Events(n))              => of(n)
      case Some(Window.Attribute(n, _))        => of(n)
      case Some(Window.OpenDuration(_, parts)) => parts.map(_._1)
      case Some(Window.Duration(_)) | None     => Vector.empty
    }
    window ++ q.limit.toVector.flatMap(of)
  }

  /** The conditions of all conditions, also of those that the compiler finds to be always or never true. */
  def conditions(q: Query): Vector[SqlCondition] = {
    def of(c: Condition): Vector[SqlCondition] = c match {
      case Condition.Holds(_, p) => Vector(p)
      case Condition.And(parts)  => parts.flatMap(of)
      case Condition.Or(parts)   => parts.flatMap(of)
      // Parameters stand in brackets.
      case _: Condition.Compare | _: Condition.Compared => Vector.empty
    }
    q.where.subformulas.collect { case Formula.Filter(_, c) => of(c) }.flatten.toVector
  }

  /** The query with these values in LIMIT and WITHIN; a parameter without one stays. */
  def bind(q: Query, values: Map[String, BigDecimal]): Query = {
    def value(p: Name, what: String, fits: BigDecimal => Boolean): Option[BigDecimal] = values.get(p.value).map { n =>
      if (!fits(n)) fail(q, p, s"$what, and :${p.value} is ${n.bigDecimal.toPlainString}.")
      n
    }
    def number(n: Quantity, what: String)(fits: BigDecimal => Boolean): Quantity = n match {
      case Quantity.Parameter(p) => value(p, what, fits).fold(n)(Quantity.Number(_))
      case _                     => n
    }
    val within = q.within.map {
      case Window.Events(n) =>
        Window.Events(number(n, "a window of events is a whole number of them")(v => v.isWhole && v >= 0))
      case Window.Attribute(n, a) => Window.Attribute(number(n, "a window is not negative")(_ >= 0), a)
      case w: Window.OpenDuration =>
        val (open, known) = w.parts.partitionMap { case part @ (p, size) =>
          value(p, "a window is a whole number of microseconds", v => (v * size).isWhole && v >= 0)
            .toRight(part)
            .map(_ * size)
        }
        val total = known.sum + w.micros
        if (!total.isValidLong) fail(q, w.parts.head._1, s"$TooLong.")
        if (open.isEmpty) Window.Duration(total.toLong) else Window.OpenDuration(total.toLong, open)
      case w: Window.Duration => w
    }
    q.copy(within = within, limit = q.limit.map(number(_, s"LIMIT takes $Limit")(isLimit)))(q.text)
  }

  private def fail(q: Query, p: Name, problem: String): Nothing =
    throw new CeqlException("CER_PARAMETER", problem, q.text, p.offset)
}
