package sparkcer.engine.ceql

import sparkcer.engine.ceql.Formula.NoneAfter

/** `φ ; NO α FOR d` at the end of a query: where it may stand, and how `d` fits into WITHIN. A match of it ends at its
  * deadline, which is `d` after the last event of φ, and WITHIN is about the time from its first event to its deadline.
  */
object AbsenceAfter {

  /** What must not come after a match, if the formula says so. */
  def of(f: Formula): Option[NoneAfter] = f match {
    case n: NoneAfter    => Some(n)
    case _ if !passes(f) => None
    case _               => f.children.headOption.flatMap(of)
  }

  /** May the last part of this formula's one body be the end of the whole? An α comes after the body, and has no NO. */
  private def passes(f: Formula): Boolean = f match {
    case _: Formula.As | _: Formula.Filter | _: Formula.PartBy | _: Formula.Without | _: Formula.Project => true
    case _                                                                                               => false
  }

  /** The query with FOR and WITHIN written out: without FOR it is as long as WITHIN, and where φ is one event, WITHIN
    * is as long as FOR. A query without NO at its end stays as it is.
    */
  def spelledOut(query: Query): Query = {
    val after = of(query.where)
    query.where.subformulas.collectFirst { case n: NoneAfter if !after.exists(_ eq n) => n }.foreach { n =>
      throw new CeqlException(query.text, n.absent.offset, "CER_UNSUPPORTED.NO_AT_END_OF_SIDE")
    }
    after.fold(query)(spelledOut(query, _))
  }

  private def spelledOut(query: Query, after: NoneAfter): Query = {
    def refuse(key: String, parameters: (String, String)*) =
      throw new CeqlException(query.text, after.absent.offset, key, parameters: _*)
    if (query.within.exists(_.isInstanceOf[Window.Events])) refuse("CER_ABSENCE.AFTER_EVENTS")
    val single = isOneEvent(after.body)
    val length = after.length match {
      case Some(given)                             => given
      case None if single && query.within.nonEmpty => query.within.get
      case None => refuse("CER_ABSENCE.AFTER_NEEDS_FOR", "absent" -> Printer.print(after.absent))
    }
    val within = if (query.within.isEmpty && single) Some(length) else query.within
    within.foreach { w =>
      for (a <- column(length); b <- column(w) if a != b)
        refuse("CER_ABSENCE.AFTER_COLUMNS", "first" -> a, "second" -> b)
      if (micros(length).exists(d => micros(w).exists(_ < d)))
        refuse(
          "CER_ABSENCE.AFTER_TOO_LONG",
          "length" -> Printer.print(length),
          "within" -> Printer.print(w)
        )
    }
    def lengthened(f: Formula): Formula = f match {
      case n: NoneAfter   => n.copy(length = Some(length))
      case _ if passes(f) => f.mapChildren(lengthened)
      case _              => f
    }
    query.copy(where = lengthened(query.where), within = within)(query.text)
  }

  private def column(w: Window): Option[String] = w match {
    case Window.Attribute(_, a) => Some(a.value)
    case _                      => None
  }

  /** The length, if it is known by now. A number of a column is a number of seconds wherever a duration may stand
    * beside it.
    */
  private def micros(w: Window): Option[BigDecimal] = w match {
    case Window.Duration(n)                      => Some(BigDecimal(n))
    case Window.Attribute(Quantity.Number(n), _) => Some(n * 1000000)
    case _                                       => None
  }

  /** Does every match of the formula take exactly one event? */
  private def isOneEvent(f: Formula): Boolean = f match {
    case _: Formula.Atom | _: Formula.Not => true
    case Formula.Or(parts)                => parts.forall(isOneEvent)
    case Formula.Within(body, _)          => isOneEvent(body)
    case _                                => passes(f) && isOneEvent(f.children.head)
  }
}
