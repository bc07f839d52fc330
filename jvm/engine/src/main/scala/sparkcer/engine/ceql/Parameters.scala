package sparkcer.engine.ceql

/** Parameters of a query, `:name`, whose values come with the call. In LIMIT and WITHIN a parameter is a number and is
  * bound here. In conditions it is part of the SQL, and is bound where the SQL is parsed.
  */
object Parameters {
  private[ceql] def isLimit(n: BigDecimal): Boolean = n.isWhole && n >= 1

  /** The parameters of LIMIT and WITHIN. */
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

  /** The SQL of all conditions, also of those that the compiler finds to be always or never true. */
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
    val within = q.within.map {
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
      case w: Window.Duration => w
    }
    q.copy(within = within, limit = q.limit.map(number(_)(v => if (isLimit(v)) None else Some("CER_PARAMETER.LIMIT"))))(
      q.text
    )
  }

  private def fail(q: Query, p: Name, key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(q.text, p.offset, key, parameters: _*)
}
