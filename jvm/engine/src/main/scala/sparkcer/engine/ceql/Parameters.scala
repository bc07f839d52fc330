package sparkcer.engine.ceql

/** Parameters of a query, `:name`, whose values come with the call. In conditions, measures and HAVING a parameter is
  * part of the SQL, and is bound where the SQL is parsed. Elsewhere it is a number, or in `WITHIN :w` a number of
  * microseconds, and is bound here.
  */
object Parameters {
  private[ceql] def isLimit(n: BigDecimal): Boolean = n.isWhole && n >= 1

  private def windows(q: Query): Vector[Window] =
    q.where.subformulas.collect {
      case Formula.Within(_, w)             => w
      case Formula.NoneAfter(_, _, Some(w)) => w
      case Formula.NoneBefore(_, w, _)      => w
    }.toVector ++ q.within

  /** The parameters of `WITHIN :w`, which are lengths of time. */
  def lengths(q: Query): Vector[Name] = windows(q).collect { case Window.Length(p) => p }

  private def of(n: Quantity): Vector[Name] = n match {
    case Quantity.Parameter(p) => Vector(p)
    case Quantity.Number(_)    => Vector.empty
  }

  /** The parameters of WITHIN that are numbers, because something follows them. */
  def ofWindows(q: Query): Vector[Name] = windows(q).flatMap {
    case Window.Events(n)                      => of(n)
    case Window.Attribute(n, _)                => of(n)
    case Window.OpenDuration(_, parts)         => parts.map(_._1)
    case _: Window.Duration | _: Window.Length => Vector.empty
  }

  /** The parameters that are numbers: of the pattern, of WITHIN and of LIMIT. */
  def quantities(q: Query): Vector[Name] = ofPattern(q) ++ ofWindows(q) ++ q.limit.toVector.flatMap(of)

  /** The parameters in braces and beside `count(x)`. */
  def ofPattern(q: Query): Vector[Name] = {
    def ofCondition(c: Condition): Vector[Name] = c match {
      case Condition.Count(_, _, n) => of(n)
      case Condition.And(parts)     => parts.flatMap(ofCondition)
      case Condition.Or(parts)      => parts.flatMap(ofCondition)
      case _                        => Vector.empty
    }
    q.where.subformulas.flatMap {
      case r: Formula.Repeat    => of(r.least) ++ r.most.toVector.flatMap(of)
      case Formula.Filter(_, c) => ofCondition(c)
      case _                    => Vector.empty
    }.toVector
  }

  /** The SQL of all conditions, also of those that the compiler finds to be always or never true. */
  def conditions(q: Query): Vector[SqlCondition] = {
    def of(c: Condition): Vector[SqlCondition] = c match {
      case Condition.Holds(_, p)    => Vector(p)
      case Condition.Exists(_, p)   => Vector(p)
      case Condition.OfEnd(_, _, p) => Vector(p)
      case e: Condition.Extreme     => Vector(SqlCondition(e.bound.sql(_.path))(e.offset))
      case Condition.And(parts)     => parts.flatMap(of)
      case Condition.Or(parts)      => parts.flatMap(of)
      // Parameters stand in brackets, or beside an aggregate.
      case _: Condition.Compare | _: Condition.Compared | _: Condition.Count | _: Condition.Counted => Vector.empty
    }
    q.where.subformulas.collect { case Formula.Filter(_, c) => of(c) }.flatten.toVector
  }

  /** The SQL over whole matches, with its places: that of measures and HAVING. */
  def ofMatches(q: Query): Vector[(String, Int)] =
    q.select.measures.map(m => (m.sql, m.offset)) ++ q.having.map(h => (h.sql, h.offset))

  /** The query with these values for the parameters that are numbers; a parameter without one stays. */
  def bind(q: Query, values: Map[String, BigDecimal]): Query = {
    def value(p: Name)(refused: BigDecimal => Option[String]): Option[BigDecimal] = values.get(p.value).map { n =>
      refused(n).foreach(fail(q, p, _, "name" -> p.value, "value" -> n.bigDecimal.toPlainString))
      n
    }
    def number(n: Quantity)(refused: BigDecimal => Option[String]): Quantity = n match {
      case Quantity.Parameter(p) => value(p)(refused).fold(n)(Quantity.Number(_))
      case _                     => n
    }
    def window(n: BigDecimal, fits: Boolean, otherwise: String): Option[String] =
      if (n < 0) Some("CER_PARAMETER.NEGATIVE") else if (fits) None else Some(otherwise)
    def bound(w: Window): Window = w match {
      case Window.Events(n)       => Window.Events(number(n)(v => window(v, v.isWhole, "CER_PARAMETER.EVENTS")))
      case Window.Attribute(n, a) =>
        Window.Attribute(number(n)(v => if (v < 0) Some("CER_PARAMETER.NEGATIVE") else None), a)
      case w: Window.OpenDuration =>
        val (open, known) = w.parts.partitionMap { case part @ (p, size) =>
          value(p)(v => window(v, (v * size).isWhole, "CER_PARAMETER.MICROSECONDS")).toRight(part).map(_ * size)
        }
        val total = known.sum + w.micros
        if (!total.isValidLong) fail(q, w.parts.head._1, "CER_PARAMETER.TOO_LONG")
        if (open.isEmpty) Window.Duration(total.toLong) else Window.OpenDuration(total.toLong, open)
      case w @ Window.Length(p) =>
        values.get(p.value).fold[Window](w) { n =>
          if (n < 0)
            fail(q, p, "CER_PARAMETER.NEGATIVE", "name" -> p.value, "value" -> s"-${Printer.duration(-n.toLong)}")
          Window.Duration(n.toLong)
        }
      case w: Window.Duration => w
    }
    def rounds(v: BigDecimal) = if (v.isWhole && v >= 0) None else Some("CER_PARAMETER.ROUNDS")
    def condition(c: Condition): Condition = c match {
      case c @ Condition.Count(x, op, n) => Condition.Count(x, op, number(n)(rounds))(c.offset)
      case Condition.And(parts)          => Condition.And(parts.map(condition))
      case Condition.Or(parts)           => Condition.Or(parts.map(condition))
      case other                         => other
    }
    def formula(f: Formula): Formula = f.mapChildren(formula) match {
      case r: Formula.Repeat =>
        val known = r.copy(least = number(r.least)(rounds), most = r.most.map(number(_)(rounds)))(r.offset)
        Bounds.check(known, q.text)
        known
      case w @ Formula.Within(body, window) => Formula.Within(body, bound(window))(w.offset)
      case n: Formula.NoneAfter             => n.copy(length = n.length.map(bound))
      case n: Formula.NoneBefore            => n.copy(length = bound(n.length))
      case Formula.Filter(body, c)          => Formula.Filter(body, condition(c))
      case other                            => other
    }
    q.copy(
      where = formula(q.where),
      within = q.within.map(bound),
      limit = q.limit.map(number(_)(v => if (isLimit(v)) None else Some("CER_PARAMETER.LIMIT")))
    )(
      q.text
    )
  }

  private def fail(q: Query, p: Name, key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(q.text, p.offset, key, parameters: _*)
}
