package sparkcer.engine.ceql

/** Reads the formula of a query. */
abstract private[ceql] class FormulaReader(text: String) extends AbsenceReader(text) {
  import Parser.{MaxAtoms, Operators}

  private var atoms = 0

  /** @param parenthesized
    *   whether it stands in parentheses, where WITHIN belongs to it and not to the query
    */
  protected def formula(parenthesized: Boolean = false): Formula = nested {
    var f = chain("OR", () => disjunct(), Formula.Or)
    var filters = 0
    var going = true
    while (going)
      if (token.isWord("FILTER")) {
        filters += 1
        deeper(filters)
        index += 1
        f = Formula.Filter(f, condition(nameable(f)))
      } else if (token.isWord("PART-BY")) {
        filters += 1
        deeper(filters)
        val at = token.start
        index += 1
        f = Formula.PartBy(f, partKeys(f.variables))(at)
      } else if (token.isWord("WITHOUT")) {
        filters += 1
        deeper(filters)
        index += 1
        f = Formula.Without(f, absent(Some(f)))
      } else if (parenthesized && token.isWord("WITHIN")) {
        filters += 1
        deeper(filters)
        val at = token.start
        index += 1
        f = Formula.Within(f, subWindow(at))(at)
      } else going = false
    f
  }

  protected def subWindow(at: Int): Window = window() match {
    case _: Window.Events => throw new CeqlException(text, at, "CER_UNSUPPORTED.SUB_WINDOW_EVENTS")
    case other            => other
  }

  /** The list of PART-BY: `X.a` where X is a variable of the formula, or the name of a column. */
  protected def partKeys(bound: Set[String]): Vector[PartKey] =
    bracket("columns in brackets after PART-BY, such as [x.id, y.id] or [id]").map { n =>
      val dot = Lexer.skipName(n.value)
      val first = Lexer.unquoted(n.value.substring(0, dot))
      if (dot < n.value.length && bound(first))
        PartKey(Some(Name(first)(n.offset)), n.value.substring(dot + 1))
      else PartKey(None, n.value)
    }

  protected def disjunct(): Formula = chain("ALL", () => contiguous(), Formula.All)

  protected def suffixed(): Formula = {
    var f = primary()
    var suffixes = 0
    var going = true
    while (going) {
      if (token.isWord("AS")) {
        index += 1
        f = Formula.As(f, variableToBind())
      } else if (token.isSymbol("+")) { index += 1; f = Formula.Iterate(f, contiguous = false) }
      else if (token.isSymbol(":+")) { index += 1; f = Formula.Iterate(f, contiguous = true) }
      else if (Seq("*", ":*", "?", "{", ":{").exists(token.isSymbol)) f = repeated(f)
      else going = false
      suffixes += 1
      deeper(suffixes)
    }
    f
  }

  /** `first(x)` is an event of x, and never a variable by itself. */
  protected def variableToBind(): Name = {
    val x = name("a variable name after AS")
    if (Ends.of(x.value).isDefined)
      throw new CeqlException(text, x.offset, "CER_SYNTAX.VARIABLE_LIKE_END", "name" -> x.value)
    x
  }

  protected def repeated(f: Formula): Formula = {
    val sign = token
    index += 1
    val contiguous = sign.text.startsWith(":")
    def number(n: Int) = Quantity.Number(BigDecimal(n))
    if (sign.isSymbol("?")) Formula.Repeat(f, number(0), Some(number(1)), contiguous)(sign.start)
    else if (sign.text.endsWith("*")) Formula.Repeat(f, number(0), None, contiguous)(sign.start)
    else {
      val least = if (token.isSymbol(",")) None else Some(bound())
      val most = if (token.isSymbol(",")) {
        index += 1
        if (token.isSymbol("}") && least.isDefined) None else Some(bound())
      } else least
      if (!token.isSymbol("}")) expected(if (most == least) "',' or '}'" else "'}'", Nil)
      index += 1
      val repeat = Formula.Repeat(f, least.getOrElse(number(0)), most, contiguous)(sign.start)
      Bounds.check(repeat, text)
      repeat
    }
  }

  protected def bound(): Quantity = {
    val at = token
    val n = quantity("a number of rounds, such as {2}, {2,} or {2,5},")
    n match {
      case Quantity.Number(v) if !v.isWhole =>
        throw new CeqlException(text, at.start, "CER_SYNTAX.ROUNDS", "found" -> at.text)
      case _ => n
    }
  }

  protected def primary(): Formula = {
    val start = token
    if (start.isSymbol("(")) {
      index += 1
      val f = formula(parenthesized = true)
      close(start, Operators, Vector("OR", "ALL", "AS", "FILTER", "PART-BY", "WITHIN", "WITHOUT"))
      f
    } else if (start.isWord("NOT")) {
      index += 1
      val open = token
      symbol("(")
      val f = formula()
      close(open, "OR, FILTER", Vector("OR", "FILTER"))
      Formula.Not(f)(start.start)
    } else {
      atoms += 1
      if (atoms > MaxAtoms)
        throw new CeqlException(text, start.start, "CER_QUERY_TOO_LARGE.EVENT_TYPES", "most" -> MaxAtoms.toString)
      val first = name("an event type, NOT(…) or '('")
      if (token.isSymbol(">")) {
        index += 1
        Formula.Atom(Some(first.value), name("an event type after '>'").value)(start.start)
      } else Formula.Atom(None, first.value)(start.start)
    }
  }
}
