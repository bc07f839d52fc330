package sparkcer.engine.ceql

import sparkcer.engine.ceql.Formula.{NoneAfter, NoneBefore}

/** `φ ; NO α FOR d` at the end of a query, or of a side of OR: how `d` fits into WITHIN. A match of it ends at its
  * deadline, which is `d` after the last event of φ, and WITHIN is about the time from its first event to its deadline.
  */
object AbsenceAfter {

  /** All that must not come after a match. */
  def of(f: Formula): Vector[NoneAfter] = f.subformulas.collect { case n: NoneAfter => n }.toVector

  /** The query with FOR and WITHIN written out: without FOR it is as long as WITHIN, and where φ is one event, WITHIN
    * is as long as FOR. A query without NO at its end stays as it is.
    */
  def spelledOut(query: Query): Query = {
    def withLengths(f: Formula): Formula = f match {
      case n: NoneAfter => n.copy(length = Some(lengthOf(n, query)))
      case other        => other.mapChildren(withLengths)
    }
    val where = withLengths(query.where)
    val lengths = of(where).flatMap(_.length)
    // Every WITHIN that is as long as all of them gives the same matches.
    val within = query.within.orElse(if (isOneEvent(where)) lengths.maxByOption(micros) else None)
    query.copy(where = where, within = within)(query.text)
  }

  private def lengthOf(after: NoneAfter, query: Query): Window = {
    def refuse(key: String, parameters: (String, String)*) =
      throw new CeqlException(query.text, after.absent.offset, key, parameters: _*)
    if (query.within.exists(_.isInstanceOf[Window.Events])) refuse("CER_ABSENCE.AFTER_EVENTS")
    val length = after.length match {
      case Some(given)                                             => given
      case None if query.within.nonEmpty && isOneEvent(after.body) => query.within.get
      case None => refuse("CER_ABSENCE.AFTER_NEEDS_FOR", "absent" -> Printer.print(after.absent))
    }
    query.within.foreach { w =>
      for (a <- column(length); b <- column(w) if a != b)
        refuse("CER_ABSENCE.AFTER_COLUMNS", "first" -> a, "second" -> b)
      if (micros(length).exists(d => micros(w).exists(_ < d)))
        refuse(
          "CER_ABSENCE.AFTER_TOO_LONG",
          "length" -> Printer.print(length),
          "within" -> Printer.print(w)
        )
    }
    length
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
  private[ceql] def isOneEvent(f: Formula): Boolean = f match {
    case _: Formula.Atom | _: Formula.Not => true
    case Formula.Or(parts)                => parts.forall(isOneEvent)
    case Formula.Within(body, _)          => isOneEvent(body)
    case n: NoneBefore                    => isOneEvent(n.body)
    case n: NoneAfter                     => isOneEvent(n.body)
    // An α comes after the body.
    case _: Formula.As | _: Formula.Filter | _: Formula.PartBy | _: Formula.Without | _: Formula.Project =>
      isOneEvent(f.children.head)
    case _ => false
  }
}
