package sparkcer.engine.ceql

import java.util.Locale

/** Reads what stands between SELECT and FROM. */
abstract private[ceql] class SelectReader(text: String) extends FormulaReader(text) {
  import Parser.isName
  import SelectReader.Infix

  /** Where the parts of the query are that only its output depends on. */
  protected var places = RecognizedQuery.Places()

  protected def select(): Select = {
    var distinct = false
    var strategy: Option[Strategy] = None
    var flat = false
    var going = true
    while (going) {
      if (!distinct && token.isWord("DISTINCT") && !endsItem(ahead(1))) { distinct = true; index += 1 }
      else if (strategy.isEmpty && isStrategy(token) && !isFunction && !endsItem(ahead(1))) {
        strategy = Some(Strategy.byWord(token.text.toUpperCase(Locale.ROOT)))
        index += 1
      } else if (!flat && token.isWord("FLAT") && !endsItem(ahead(1))) {
        flat = true
        places = places.copy(flat = Some(RecognizedQuery.Edit(token.start, ahead(1).start, "")))
        index += 1
      } else going = false
    }
    if (token.kind == Token.Word && ahead(1).isSymbol("*") && (ahead(2).isWord("FROM") || ahead(2).isSymbol(",")))
      expected(
        if (strategy.isEmpty) "a strategy (ALL, ANY, NEXT, LAST, MAX, STRICT) before '*'" else "'*' after the strategy",
        if (strategy.isEmpty) Strategy.byWord.keys.toVector.sorted :+ "DISTINCT" else Nil
      )
    Select(strategy.getOrElse(Strategy.All), distinct, selectList(flat))
  }

  protected def isStrategy(t: Token) = t.isOneOf(Strategy.byWord.contains)

  /** `MAX(…)` and `LAST(…)` are functions. */
  protected def isFunction = (token.isWord("MAX") || token.isWord("LAST")) && ahead(1).isSymbol("(")

  /** Is the word before `t` an item of the list (so a variable, whatever it is called)? */
  protected def endsItem(t: Token) =
    t.isSymbol(",") || t.isSymbol(">") || t.isSymbol(".") || t.isWord("FROM") || t.isWord("AS") ||
      t.kind == Token.Bracket

  protected def isCount = token.isWord("COUNT") && ahead(1).isSymbol("(") && ahead(2).isSymbol("*")

  protected def selectList(flat: Boolean): SelectList =
    if (!flat && token.isWord("NONE") && ahead(1).isWord("FROM")) {
      places = places.copy(items = Vector(RecognizedQuery.ItemPlace(token.start, token.end, token.end)))
      index += 1
      SelectList.NoVariables
    } else if (!flat && isCount) {
      val at = token.start
      index += 3
      symbol(")")
      if (token.isSymbol(",")) throw new CeqlException(text, at, "CER_SYNTAX.COUNT_BESIDE")
      SelectList.Count
    } else {
      val items = listOf(
        if (flat) "a variable or '*' after FLAT"
        else "*, NONE, COUNT(*), a strategy (ALL, ANY, NEXT, LAST, MAX, STRICT) or a variable"
      )(shown)
      val plain = items.collect { case i: SelectList.Item if i.name.isEmpty => i }
      if (flat || plain.length < items.length && items != Vector(SelectList.Star)) SelectList.Columns(items, flat)
      else if (plain.isEmpty) SelectList.All
      else SelectList.Variables(plain)
    }

  protected def shown(what: String): SelectList.Shown = {
    val start = token.start
    val (item, variableEnd) =
      if (token.isSymbol("*")) {
        index += 1
        (SelectList.Star, tokens(index - 1).end)
      } else if (isVariable) {
        val variable = variableName(what)
        val attributes = if (token.kind == Token.Bracket) Some(bracketNames()) else None
        val end = tokens(index - 1).end
        (SelectList.Item(variable, attributes, alias()), end)
      } else (measure(what), start)
    places = places.copy(items = places.items :+ RecognizedQuery.ItemPlace(start, variableEnd, tokens(index - 1).end))
    item
  }

  protected def alias(): Option[Name] =
    if (token.isWord("AS")) { index += 1; Some(name("a name after AS")) }
    else None

  /** Is the next item a variable, and not an expression that begins with a name? */
  protected def isVariable: Boolean = isName(token) && !token.isWord("CASE") && {
    val named = if (ahead(1).isSymbol(">") && isName(ahead(2))) 3 else 1
    val next = ahead(if (ahead(named).kind == Token.Bracket) named + 1 else named)
    next.isSymbol(",") || next.kind == Token.End || next.kind == Token.Word && !next.isOneOf(Infix)
  }

  /** `sql AS name`, or `x.price`, whose name is that of the column. */
  protected def measure(what: String): SelectList.Measure = {
    val first = token
    val begins =
      if (first.kind == Token.Word) isName(first) || first.isWord("NOT")
      else if (first.kind == Token.Symbol) Set("(", "-", "~", "!", ":")(first.text)
      else first.kind == Token.Number || first.kind == Token.Text || first.kind == Token.Quoted
    if (!begins) expected(what, Nil)
    if (isCount) throw new CeqlException(text, first.start, "CER_SYNTAX.COUNT_BESIDE")
    val from = index
    toEnd { t =>
      t.isSymbol(",") || t.isWord("AS") || t.isWord("WHERE") || t.isWord("FROM") && !tokens(index - 1).isWord(
        "DISTINCT"
      )
    }
    val written = tokens.slice(from, index)
    if (written.last.isSymbol(".")) expected("a column after '.'", Nil)
    val sql = text.substring(first.start, written.last.end)
    val as = alias().orElse(columnOf(written)).getOrElse {
      throw new CeqlException(text, first.start, "CER_SYNTAX.MEASURE_NAME", "sql" -> sql)
    }
    SelectList.Measure(MatchSql.of(sql, text, first.start), as)(first.start)
  }

  /** The last name of `x.a` or `S>R.a.b`. */
  protected def columnOf(written: Vector[Token]): Option[Name] = {
    val path = if (written.length > 2 && written(1).isSymbol(">")) written.drop(2) else written
    val alternates = path.zipWithIndex.forall { case (t, i) => if (i % 2 == 0) t.isName else t.isSymbol(".") }
    if (alternates && path.length % 2 == 1 && path.length > 1) Some(Name(path.last.text)(path.last.start)) else None
  }

  /** Goes on to the first token outside of parentheses and braces that ends an expression. */
  protected def toEnd(ends: Token => Boolean): Unit = {
    var open = Vector.empty[Token]
    // After a dot, a word is the name of a column.
    def inPath = tokens(index - 1).isSymbol(".") && tokens(index - 1).end == token.start
    while (token.kind != Token.End && (open.nonEmpty || inPath || !ends(token) && !token.isSymbol(")"))) {
      if (token.isSymbol("(") || token.isSymbol("{")) open :+= token
      if ((token.isSymbol(")") || token.isSymbol("}")) && open.nonEmpty) open = open.init
      index += 1
    }
    open.lastOption.foreach(t => throw new CeqlException(text, t.start, "CER_SYNTAX.UNCLOSED_SIGN", "sign" -> t.text))
  }
}

private object SelectReader {

  /** Words that go on with an expression after a name. */
  private val Infix =
    Set("IS", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "AND", "OR", "NOT", "DIV", "COLLATE")
}
