package sparkcer.engine.ceql

import sparkcer.engine.ceql.Formula.{Absent, Contiguous, NoneAfter, NoneBefore, NoneBetween, Sequence}

/** Reads what is joined by `;` and `:`, with the events that must not come: `A ; NO B ; C`, `A ; NO B FOR 10 minutes`.
  */
abstract private[ceql] class AbsenceReader(text: String) extends ConditionReader(text) {
  import Parser.isName

  protected def suffixed(): Formula
  protected def primary(): Formula

  /** The formula whose variables α may name, while an α is read. */
  private var bound: Option[Formula] = None

  /** The formula whose variables a FILTER after `body` may name. The event itself comes first, because messages suggest
    * the first variable with a name.
    */
  protected def nameable(body: Formula): Formula = bound.fold(body) { before =>
    Sequence(Vector(Formula.As(body, Name(body.variables.min)(0)), before))
  }

  /** NO is a type, unless α follows. */
  private def startsNo: Boolean =
    token.isWord("NO") && (ahead(1).isSymbol("(") || isName(ahead(1)) && !ahead(1).isWord("WITHOUT"))

  /** Parts joined by `:`. NO at their beginning or end is about all of them. */
  protected def contiguous(): Formula = {
    val before = if (startsNo) Some(noneBefore()) else None
    var (first, after) = sequence(Vector.empty)
    var parts = Vector(first)
    while (token.isSymbol(":")) {
      index += 1
      if (after.isDefined || startsNo) refuse(token, "CER_ABSENCE.CONTIGUOUS")
      val (part, last) = sequence(parts)
      parts :+= part
      after = last
    }
    val body = if (parts.length == 1) first else Contiguous(parts)
    val whole = after.fold(body) { case (absent, length) => NoneAfter(body, absent, length) }
    before.fold(whole) { case (absent, length) => NoneBefore(absent, length, whole) }
  }

  /** `NO α FOR d ;` */
  private def noneBefore(): (Absent, Window) = {
    val no = token
    index += 1
    val what = absent(None)
    if (token.isSymbol(":")) refuse(no, "CER_ABSENCE.CONTIGUOUS")
    val length = forLength()
    if (length.isEmpty) refuse(no, "CER_ABSENCE.BEFORE_NEEDS_FOR", "absent" -> Printer.print(what))
    if (!token.isSymbol(";")) expected("';' and a pattern after NO … FOR", Nil)
    index += 1
    if (startsNo) refuse(token, "CER_ABSENCE.TWICE")
    (what, length.get)
  }

  /** Parts joined by `;`, and what must not come after them.
    *
    * @param before
    *   the parts before them, joined by `:`
    */
  private def sequence(before: Vector[Formula]): (Formula, Option[(Absent, Option[Window])]) = {
    var gap: Option[(Formula, Absent)] = None
    var gaps = 0
    var parts = Vector(suffixed())
    def read: Formula = {
      val rest = if (parts.length == 1) parts.head else Sequence(parts)
      gap.fold(rest) { case (earlier, absent) => NoneBetween(earlier, absent, rest) }
    }
    while (token.isSymbol(";")) {
      index += 1
      if (!startsNo) parts :+= suffixed()
      else {
        val no = token
        index += 1
        val earlier = read
        val what = absent(Some(if (before.isEmpty) earlier else Contiguous(before :+ earlier)))
        val length = forLength()
        if (token.isSymbol(":")) refuse(no, "CER_ABSENCE.CONTIGUOUS")
        if (!token.isSymbol(";")) return (earlier, Some((what, length)))
        if (length.isDefined) refuse(no, "CER_ABSENCE.FOR_BETWEEN")
        index += 1
        if (startsNo) refuse(token, "CER_ABSENCE.TWICE")
        gaps += 1
        deeper(gaps)
        neighbour(no, parts.last)
        parts = Vector(suffixed())
        neighbour(no, parts.head)
        gap = Some((earlier, what))
      }
    }
    (read, None)
  }

  /** Without an event beside it, it would not be clear where the gap begins or ends. */
  private def neighbour(no: Token, part: Formula): Unit =
    if (part.nullable) refuse(no, "CER_ABSENCE.NEIGHBOUR", "part" -> Printer.print(part))

  private def forLength(): Option[Window] =
    if (!token.isWord("FOR")) None
    else {
      val at = token
      index += 1
      window("FOR") match {
        case _: Window.Events => refuse(at, "CER_ABSENCE.FOR_EVENTS")
        case length           => Some(length)
      }
    }

  /** α: a type, or in parentheses types with FILTER, joined by OR.
    *
    * @param before
    *   the formula whose variables it may name
    */
  protected def absent(before: Option[Formula]): Absent = {
    val start = token
    val outside = bound
    bound = before
    val body = primary()
    bound = outside
    if (token.isWord("AS") || Seq("+", ":+", "*", ":*", "?", "{", ":{").exists(token.isSymbol))
      refuse(token, "CER_ABSENCE.FORM")
    check(body, start)
    Absent(body)(start.start)
  }

  /** Is it one event? */
  private def check(f: Formula, start: Token): Unit = f match {
    case _: Formula.Atom      => ()
    case Formula.As(body, _)  => check(body, start)
    case Formula.Or(parts)    => parts.foreach(check(_, start))
    case Formula.Filter(b, c) =>
      if (hasAggregate(c)) refuse(start, "CER_ABSENCE.AGGREGATE")
      check(b, start)
    case _ => refuse(start, "CER_ABSENCE.FORM")
  }

  private def hasAggregate(c: Condition): Boolean = c match {
    case Condition.And(parts) => parts.exists(hasAggregate)
    case Condition.Or(parts)  => parts.exists(hasAggregate)
    case c: Condition.Compare => (c.left.variables ++ c.right.variables).exists(x => Ends.of(x.value).isDefined)
    case _: Condition.Holds   => false
    case _                    => true
  }

  /** NO at the beginning or at the end of a part, where it is not at the beginning or the end of the whole. */
  protected def checkPlaces(f: Formula, atStart: Boolean = true, atEnd: Boolean = true): Unit = {
    def below(parts: Vector[Formula], atStart: Boolean = false, atEnd: Boolean = false): Unit =
      parts.foreach(checkPlaces(_, atStart, atEnd))
    f match {
      case _: Formula.Or | _: Formula.As | _: Formula.Filter | _: Formula.PartBy | _: Formula.Without =>
        below(f.children, atStart, atEnd)
      case n: NoneAfter =>
        if (!atEnd) throw new CeqlException(text, n.absent.offset, "CER_ABSENCE.AFTER_INSIDE")
        below(Vector(n.body), atStart = atStart)
      case n: NoneBefore =>
        if (!atStart) throw new CeqlException(text, n.absent.offset, "CER_ABSENCE.BEFORE_INSIDE")
        below(Vector(n.body), atEnd = atEnd)
      case other => below(other.children)
    }
  }

  private def refuse(at: Token, key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(text, at.start, key, parameters: _*)
}
