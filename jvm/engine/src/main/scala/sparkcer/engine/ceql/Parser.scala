package sparkcer.engine.ceql

import scala.collection.mutable

/** The grammar of CEQL by recursive descent. Written by hand rather than with a parser library so that an error can say
  * what was expected and what was probably meant, and the engine stays without dependencies.
  *
  * {{{
  * query     := SELECT select FROM names WHERE formula clause* [';']
  * formula   := or (FILTER condition | PART-BY '[' keys ']' | WITHIN window)*           WITHIN in parentheses only
  * or        := all (OR all)*
  * all       := adjacent (ALL adjacent)*
  * adjacent  := sequence (':' sequence)*
  * sequence  := suffixed (';' suffixed)*
  * suffixed  := primary (AS name | '+' | ':+' | '*' | ':*' | '?' | ('{' | ':{') bounds '}')*
  * bounds    := n | n ',' | [n] ',' n
  * primary   := '(' formula ')' | NOT '(' formula ')' | [name '>'] name
  * condition := tests (OR tests)*    tests := test (AND test)*
  * test      := '(' condition ')' | [SOME] variable '[' condition ']' | (first | last) '(' variable ')' '[' condition ']'
  *            | operand sign operand | aggregate sign constant                    see [[Operands]] and [[Aggregates]]
  * clause    := PARTITION BY '[' names ']' … | WITHIN window | CONSUME BY word | LIMIT n | HAVING sql
  * window    := n EVENTS | n '[' name ']' | [INTERVAL] (n unit)+ | ':' name
  * select    := [DISTINCT] [strategy] (COUNT(*) | NONE | [FLAT] item (',' item)*)
  * item      := '*' | variable ['[' names ']'] [AS name] | sql AS name | variable '.' path
  * }}}
  */
object Parser {

  /** Larger queries are refused. No real query is that large, and the code after the parser may then use recursion. */
  val MaxLength = 100000
  val MaxDepth = 256
  val MaxAtoms = 4096

  def parse(text: String): Query = withPlaces(text)._1

  private[ceql] def withPlaces(text: String): (Query, RecognizedQuery.Places) = {
    if (text.length > MaxLength)
      throw new CeqlException(
        text,
        MaxLength,
        "CER_QUERY_TOO_LARGE.CHARACTERS",
        "characters" -> text.length.toString,
        "most" -> MaxLength.toString
      )
    val parser = new Parser(text)
    (parser.query(), parser.places)
  }

  /** The microseconds of a length of time as WITHIN takes it: `5 minutes`. */
  def micros(text: String): Option[Long] =
    try new Parser(text).length()
    catch { case _: CeqlException => None }

  /** Words that are names only in backticks. */
  private[ceql] val Reserved =
    Set(
      "SELECT",
      "FROM",
      "WHERE",
      "FILTER",
      "AND",
      "OR",
      "ALL",
      "NOT",
      "AS",
      "PART-BY",
      "PARTITION",
      "WITHIN",
      "CONSUME",
      "LIMIT",
      "HAVING"
    )

  private[ceql] def isName(t: Token): Boolean =
    t.kind == Token.Quoted || t.kind == Token.Word && !Reserved(t.text.toUpperCase)

  /** The units of time in microseconds, from the longest. */
  private val Units: Vector[(String, Long)] = Vector(
    "WEEK" -> 604800000000L,
    "DAY" -> 86400000000L,
    "HOUR" -> 3600000000L,
    "MINUTE" -> 60000000L,
    "SECOND" -> 1000000L,
    "MILLISECOND" -> 1000L,
    "MICROSECOND" -> 1L
  )

  private val Sizes = Units.toMap

  /** Short words for them. (`m` could be a month as well.) */
  private val ShortUnits: Map[String, String] = Map(
    "D" -> "DAY",
    "H" -> "HOUR",
    "HR" -> "HOUR",
    "HRS" -> "HOUR",
    "MIN" -> "MINUTE",
    "MINS" -> "MINUTE",
    "S" -> "SECOND",
    "SEC" -> "SECOND",
    "SECS" -> "SECOND",
    "MS" -> "MILLISECOND"
  )

  private[ceql] def unitOf(micros: Long): String = Units.collectFirst { case (word, `micros`) => word.toLowerCase }.get

  private val UnitNames = Units.map(_._1.toLowerCase + "s")
  private val UnitWords = s"a unit of time (${UnitNames.mkString(", ")})"

  private val Operators = "an operator (; : ALL OR + :+ * ? {n,m} AS FILTER PART-BY)"
  private val Clauses = Vector("PARTITION BY", "WITHIN", "CONSUME BY", "LIMIT", "HAVING")

  /** Words that go on with an expression after a name. */
  private val Infix =
    Set("IS", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "AND", "OR", "NOT", "DIV", "COLLATE")
}

final private class Parser(text: String) {
  import Parser._

  private var tokens = new QueryLexer(text).query()
  private var index = 0
  private var depth = 0
  private var atoms = 0

  /** Where the parts of the query are that only its output depends on. */
  private var places = RecognizedQuery.Places()

  private def token: Token = tokens(index)
  private def ahead(n: Int): Token = tokens(math.min(index + n, tokens.length - 1))

  def query(): Query = {
    word("SELECT")
    val chosen = select()
    word("FROM")
    val from = listOf("a name after FROM")(name)
    word("WHERE")
    val where = formula()
    var query = Query(chosen, from, where)(text)
    val seen = mutable.Set.empty[String]
    while (token.kind != Token.End) query = clause(query, seen)
    ofMatches(query)
  }

  /** The SQL over matches with the variables of the pattern. `start AS x` and `card AS x` are measures too. */
  private def ofMatches(q: Query): Query = {
    val bound = q.where.variables
    def lastName(path: String): String = {
      val end = Lexer.skipName(path)
      if (end < path.length) lastName(path.drop(end + 1)) else Lexer.unquoted(path)
    }
    val columns = (Vector("start", "end") ++ q.partitionBy.map(n => lastName(n.value))).map(_.toLowerCase).toSet
    def shown(s: SelectList.Shown): SelectList.Shown = s match {
      case SelectList.Item(x, None, Some(as)) if !bound(x.value) && columns(x.value.toLowerCase) =>
        SelectList.Measure(Printer.name(x.value), as)(x.offset)
      case m: SelectList.Measure => m.copy(sql = MatchSql.quoted(m.sql, bound))(m.offset)
      case other                 => other
    }
    val list = q.select.list match {
      case SelectList.Columns(items, flat) => SelectList.Columns(items.map(shown), flat)
      case other                           => other
    }
    val having = q.having.map(h => h.copy(sql = MatchSql.quoted(h.sql, bound))(h.offset))
    q.copy(select = q.select.copy(list = list), having = having)(text)
  }

  /** A text that is nothing but a length of time. */
  private def length(): Option[Long] = window() match {
    case Window.Duration(micros) if token.kind == Token.End => Some(micros)
    case _                                                  => None
  }

  // SELECT

  private def select(): Select = {
    var distinct = false
    var strategy: Option[Strategy] = None
    var flat = false
    var going = true
    while (going) {
      if (!distinct && token.isWord("DISTINCT") && !endsItem(ahead(1))) { distinct = true; index += 1 }
      else if (strategy.isEmpty && isStrategy(token) && !isFunction && !endsItem(ahead(1))) {
        strategy = Some(Strategy.byWord(token.text.toUpperCase))
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

  private def isStrategy(t: Token) = t.kind == Token.Word && Strategy.byWord.contains(t.text.toUpperCase)

  /** `MAX(…)` and `LAST(…)` are functions. */
  private def isFunction = (token.isWord("MAX") || token.isWord("LAST")) && ahead(1).isSymbol("(")

  /** Is the word before `t` an item of the list (so a variable, whatever it is called)? */
  private def endsItem(t: Token) =
    t.isSymbol(",") || t.isSymbol(">") || t.isSymbol(".") || t.isWord("FROM") || t.isWord("AS") ||
      t.kind == Token.Bracket

  private def isCount = token.isWord("COUNT") && ahead(1).isSymbol("(") && ahead(2).isSymbol("*")

  private def selectList(flat: Boolean): SelectList =
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

  private def shown(what: String): SelectList.Shown = {
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

  private def alias(): Option[Name] =
    if (token.isWord("AS")) { index += 1; Some(name("a name after AS")) }
    else None

  /** Is the next item a variable, and not an expression that begins with a name? */
  private def isVariable: Boolean = isName(token) && !token.isWord("CASE") && {
    val named = if (ahead(1).isSymbol(">") && isName(ahead(2))) 3 else 1
    val next = ahead(if (ahead(named).kind == Token.Bracket) named + 1 else named)
    next.isSymbol(",") || next.kind == Token.End || next.kind == Token.Word && !Infix(next.text.toUpperCase)
  }

  /** `sql AS name`, or `x.price`, whose name is that of the column. */
  private def measure(what: String): SelectList.Measure = {
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
  private def columnOf(written: Vector[Token]): Option[Name] = {
    val path = if (written.length > 2 && written(1).isSymbol(">")) written.drop(2) else written
    val alternates = path.zipWithIndex.forall { case (t, i) => if (i % 2 == 0) t.isName else t.isSymbol(".") }
    if (alternates && path.length % 2 == 1 && path.length > 1) Some(Name(path.last.text)(path.last.start)) else None
  }

  /** Goes on to the first token outside of parentheses and braces that ends an expression. */
  private def toEnd(ends: Token => Boolean): Unit = {
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

  // Formulas

  /** @param parenthesized
    *   whether it stands in parentheses, where WITHIN belongs to it and not to the query
    */
  private def formula(parenthesized: Boolean = false): Formula = nested {
    var f = chain("OR", () => disjunct(), Formula.Or)
    var filters = 0
    var going = true
    while (going)
      if (token.isWord("FILTER")) {
        filters += 1
        deeper(filters)
        index += 1
        f = Formula.Filter(f, condition(f))
      } else if (token.isWord("PART-BY")) {
        filters += 1
        deeper(filters)
        val at = token.start
        index += 1
        f = Formula.PartBy(f, partKeys(f.variables))(at)
      } else if (parenthesized && token.isWord("WITHIN")) {
        filters += 1
        deeper(filters)
        val at = token.start
        index += 1
        f = Formula.Within(f, subWindow(at))(at)
      } else going = false
    f
  }

  private def subWindow(at: Int): Window = window() match {
    case _: Window.Events => throw new CeqlException(text, at, "CER_UNSUPPORTED.SUB_WINDOW_EVENTS")
    case other            => other
  }

  /** The list of PART-BY: `X.a` where X is a variable of the formula, or the name of a column. */
  private def partKeys(bound: Set[String]): Vector[PartKey] =
    bracket("columns in brackets after PART-BY, such as [x.id, y.id] or [id]").map { n =>
      val dot = Lexer.skipName(n.value)
      val first = Lexer.unquoted(n.value.substring(0, dot))
      if (dot < n.value.length && bound(first))
        PartKey(Some(Name(first)(n.offset)), n.value.substring(dot + 1))
      else PartKey(None, n.value)
    }

  private def disjunct(): Formula = chain(
    "ALL",
    () => separated(":", () => separated(";", () => suffixed(), Formula.Sequence), Formula.Contiguous),
    Formula.All
  )

  private def suffixed(): Formula = {
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
  private def variableToBind(): Name = {
    val x = name("a variable name after AS")
    if (Ends.of(x.value).isDefined)
      throw new CeqlException(text, x.offset, "CER_SYNTAX.VARIABLE_LIKE_END", "name" -> x.value)
    x
  }

  private def repeated(f: Formula): Formula = {
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

  private def bound(): Quantity = {
    val at = token
    val n = quantity("a number of rounds, such as {2}, {2,} or {2,5},")
    n match {
      case Quantity.Number(v) if !v.isWhole =>
        throw new CeqlException(text, at.start, "CER_SYNTAX.ROUNDS", "found" -> at.text)
      case _ => n
    }
  }

  private def primary(): Formula = {
    val start = token
    if (start.isSymbol("(")) {
      index += 1
      val f = formula(parenthesized = true)
      close(start, Operators, Vector("OR", "ALL", "AS", "FILTER", "PART-BY", "WITHIN"))
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

  // Conditions

  /** @param body the formula before FILTER */
  private def condition(body: Formula): Condition = nested(
    chain("OR", () => chain("AND", () => simpleCondition(body), Condition.And), Condition.Or)
  )

  private def simpleCondition(body: Formula): Condition = {
    val start = token
    val operands = new Operands(text, tokens, Operands.Outside(body))
    if (token.isWord("SOME") && isName(ahead(1))) {
      index += 1
      Condition.Exists(variableName("a variable after SOME"), conditionInBrackets("SOME x"))
    } else if (isEndInBrackets) ofEnd()
    else if (operands.startsAt(index)) comparison(operands)
    else if (start.isSymbol("(")) {
      index += 1
      val c = condition(body)
      close(start, "AND, OR", Vector("AND", "OR"))
      c
    } else {
      if (Whose.startsAt(tokens, index)) Whose.refuse(text, tokens, index, body)
      val what = "a variable with a condition in brackets, such as x[price > 20]"
      val variable = variableName(what)
      Condition.Holds(variable, conditionInBrackets(variable.value))
    }
  }

  private def conditionInBrackets(after: String): SqlCondition =
    if (token.kind == Token.Bracket) sqlCondition()
    else expected(s"a condition in brackets after '$after', such as $after[price > 20]", Nil)

  /** `first(x)[…]` or `last(x)[…]` */
  private def isEndInBrackets: Boolean =
    token.kind == Token.Word && End.byWord.contains(token.text.toUpperCase) && ahead(1).isSymbol("(") && {
      val close = if (ahead(3).isSymbol(">")) 5 else 3
      isName(ahead(2)) && ahead(close).isSymbol(")") && ahead(close + 1).kind == Token.Bracket
    }

  private def ofEnd(): Condition = {
    val end = End.byWord(token.text.toUpperCase)
    index += 2
    val x = variableName("a variable")
    symbol(")")
    Condition.OfEnd(end, x, sqlCondition())
  }

  private def comparison(operands: Operands): Condition = {
    val at = token.start
    val (compared, next) = operands.comparisons(index)
    index = next
    compared.map { case (left, operator, right) => Aggregates.condition(left, operator, right, at, text) } match {
      case Vector(one) => one
      case several     => Condition.And(several)
    }
  }

  private def sqlCondition(): SqlCondition = {
    val inside = token.text.substring(1, token.text.length - 1)
    val sql = ConditionText.toSql(inside, text, token.start + 1)
    if (sql.isEmpty) throw new CeqlException(text, token.start, "CER_SYNTAX.EMPTY_CONDITION")
    val offset = token.start + 1 + inside.takeWhile(_.isWhitespace).length
    index += 1
    SqlCondition(sql)(offset)
  }

  // Clauses

  private def clause(query: Query, seen: mutable.Set[String]): Query = {
    val start = token
    def once(clause: String): Unit = {
      index += clause.count(_ == ' ') + 1
      if (!seen.add(clause)) throw new CeqlException(text, start.start, "CER_SYNTAX.TWICE", "clause" -> clause)
    }
    if ((start.isWord("PARTITION") || start.isWord("CONSUME")) && !ahead(1).isWord("BY")) {
      index += 1
      expected(s"BY after ${start.text}", Nil)
    } else if (start.isWord("PARTITION")) {
      once("PARTITION BY")
      query.copy(partitionBy = listOf("a column in brackets, such as [card]")(what => bracket(what)).flatten)(text)
    } else if (start.isWord("WITHIN")) {
      once("WITHIN")
      query.copy(within = Some(window()))(text)
    } else if (start.isWord("CONSUME")) {
      once("CONSUME BY")
      query.copy(consumeBy = choice(Consume.byWord))(text)
    } else if (start.isWord("LIMIT")) {
      once("LIMIT")
      val at = token
      val n = quantity("a number after LIMIT")
      n match {
        case Quantity.Number(v) if !Parameters.isLimit(v) =>
          throw new CeqlException(text, at.start, "CER_SYNTAX.LIMIT")
        case _ => query.copy(limit = Some(n))(text)
      }
    } else if (start.isWord("HAVING")) {
      once("HAVING")
      query.copy(having = Some(having()))(text)
    } else {
      val open = Clauses.filterNot(seen)
      val operators = if (seen.isEmpty) s"$Operators, " else ""
      val words = if (seen.isEmpty) Vector("OR", "ALL", "AS", "FILTER", "PART-BY", "AND") else Vector.empty
      val places = if (open.isEmpty) "" else open.mkString("", ", ", " or ")
      expected(s"$operators${places}the end of the query", words ++ open.map(_.takeWhile(_ != ' ')))
    }
  }

  private def having(): SqlCondition = {
    val (word, first) = (tokens(index - 1), token)
    toEnd(t => Clauses.exists(c => t.isWord(c.takeWhile(_ != ' '))))
    if (token eq first) expected("a condition after HAVING", Nil)
    val end = tokens(index - 1).end
    val cut =
      if (token.kind == Token.End) RecognizedQuery.Edit(tokens(tokens.indexOf(word) - 1).end, end, "")
      else RecognizedQuery.Edit(word.start, token.start, "")
    places = places.copy(having = Some(cut))
    SqlCondition(MatchSql.of(text.substring(first.start, end), text, first.start))(first.start)
  }

  private def window(): Window =
    if (token.isWord("INTERVAL")) {
      index += 1
      unquote()
      duration(quantity("a number after INTERVAL"), UnitWords, UnitNames)
    } else {
      val start = token
      val n = quantity("a number after WITHIN")
      if (token.isWord("EVENTS") || token.isWord("EVENT")) {
        n match {
          case Quantity.Number(v) if !v.isWhole =>
            throw new CeqlException(text, start.start, "CER_SYNTAX.WINDOW_EVENTS")
          case _ => index += 1
        }
        Window.Events(n)
      } else if (token.kind == Token.Bracket) {
        val at = token
        bracketNames() match {
          case Vector(one) => Window.Attribute(n, one)
          case _           => throw new CeqlException(text, at.start, "CER_SYNTAX.WINDOW_COLUMN")
        }
      } else
        n match {
          case Quantity.Parameter(p) if endsWindow(token) => Window.Length(p)
          case _ => duration(n, s"$UnitWords, EVENTS, or a column in brackets, such as [ts]", UnitNames :+ "EVENTS")
        }
    }

  private def endsWindow(t: Token) =
    t.kind == Token.End || t.isSymbol(")") || t.kind == Token.Word && Reserved(t.text.toUpperCase)

  /** A duration whose first number is read already. */
  private def duration(n: Quantity, unitWords: String, keywords: Vector[String]): Window = {
    var total = BigDecimal(0)
    var open = Vector.empty[(Name, Long)]
    def add(n: Quantity): Unit = {
      val at = token.start
      val size = unit(unitWords, keywords)
      n match {
        case Quantity.Parameter(p)                    => open :+= p -> size
        case Quantity.Number(v) if (v * size).isWhole => total += v * size
        case _ => throw new CeqlException(text, at, "CER_SYNTAX.WINDOW_MICROSECONDS")
      }
    }
    add(n)
    while (token.kind == Token.Number || token.isSymbol(":")) add(quantity("a number"))
    if (!total.isValidLong) throw new CeqlException(text, token.start, "CER_SYNTAX.WINDOW_TOO_LONG")
    if (open.isEmpty) Window.Duration(total.toLong) else Window.OpenDuration(total.toLong, open)
  }

  /** Puts the words of a string, `'5 minutes'` or the 5 of `'5' MINUTE`, in its place. */
  private def unquote(): Unit = {
    val inside = token.text.drop(1).dropRight(1)
    if (token.kind == Token.Text && inside.forall(c => c.isLetterOrDigit || c == ' ' || c == '.')) {
      val words = new QueryLexer(inside).tokens().init
      val from = token.start + 1
      tokens = tokens.patch(index, words.map(t => t.copy(start = t.start + from, end = t.end + from)), 1)
    }
  }

  /** A word such as `hours`, in microseconds. */
  private def unit(what: String, keywords: Vector[String]): Long = {
    val word = token.text.toUpperCase
    Sizes.get(ShortUnits.getOrElse(word, word.stripSuffix("S"))).filter(_ => token.kind == Token.Word) match {
      case Some(size) => index += 1; size
      case None       => expected(what, keywords)
    }
  }

  private def quantity(what: String): Quantity = {
    val t = token
    if (t.kind == Token.Number) { index += 1; Quantity.Number(BigDecimal(t.text)) }
    else if (t.isSymbol(":")) { index += 1; Quantity.Parameter(name("a parameter name after ':'")) }
    else expected(what, Nil)
  }

  private def choice[A](words: Map[String, A]): A =
    words.get(token.text.toUpperCase).filter(_ => token.kind == Token.Word) match {
      case Some(value) => index += 1; value
      case None => expected(words.keys.toVector.sorted.mkString(", ").replaceFirst(", (?=[A-Z]*$)", " or "), words.keys)
    }

  // Names

  private def name(what: String): Name = {
    val t = token
    if (isName(t)) { index += 1; Name(t.text)(t.start) }
    else expected(what, Nil)
  }

  /** `x`, or `S>R` for the variable of an atom of one stream. */
  private def variableName(what: String): Name = {
    val first = name(what)
    if (token.isSymbol(">")) {
      index += 1
      Name(first.value + ">" + name("an event type after '>'").value)(first.offset)
    } else first
  }

  private def bracket(what: String): Vector[Name] =
    if (token.kind == Token.Bracket) bracketNames() else expected(what, Nil)

  /** The names in `[a, b.c, `d e`]`; a dotted name is one name, and a backtick keeps its dots apart from the path's. */
  private def bracketNames(): Vector[Name] = {
    val open = token
    index += 1
    val inside = open.text.substring(1, open.text.length - 1)
    var names = Vector.empty[Name]
    var start = 0
    var at = 0
    def take(end: Int): Unit = {
      val raw = inside.substring(start, end)
      val offset = open.start + 1 + start + raw.takeWhile(_.isWhitespace).length
      val trimmed = raw.trim
      if (
        !trimmed.matches("(?U)(`([^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_]*)(\\.(`([^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_]*))*")
      )
        expectedAt(offset, "a column name", if (trimmed.isEmpty) "nothing" else s"'$trimmed'", "")
      names :+= Name(trimmed)(offset)
    }
    while (at < inside.length) {
      at = Lexer.skipOpaque(inside, at)
      if (at < inside.length && inside(at) == ',') { take(at); start = at + 1 }
      at += 1
    }
    take(inside.length)
    names
  }

  // Small pieces

  private def listOf[A](what: String)(item: String => A): Vector[A] = {
    val items = Vector.newBuilder[A]
    items += item(what)
    while (token.isSymbol(",")) { index += 1; items += item(what) }
    items.result()
  }

  private def chain[A](keyword: String, part: () => A, join: Vector[A] => A): A =
    joined(() => token.isWord(keyword), part, join)

  private def separated(sign: String, part: () => Formula, join: Vector[Formula] => Formula): Formula =
    joined(() => token.isSymbol(sign), part, join)

  private def joined[A](more: () => Boolean, part: () => A, join: Vector[A] => A): A = {
    val first = part()
    if (!more()) first
    else {
      val parts = Vector.newBuilder[A] += first
      while (more()) { index += 1; parts += part() }
      join(parts.result())
    }
  }

  private def nested[A](body: => A): A = {
    depth += 1
    deeper(0)
    val result = body
    depth -= 1
    result
  }

  /** Suffixes nest too, without parentheses. */
  private def deeper(levels: Int): Unit =
    if (depth + levels > MaxDepth)
      throw new CeqlException(text, token.start, "CER_QUERY_TOO_LARGE.NESTED", "most" -> MaxDepth.toString)

  private def word(w: String): Unit = if (token.isWord(w)) index += 1 else expected(w, Seq(w))

  private def symbol(s: String): Unit = if (token.isSymbol(s)) index += 1 else expected(s"'$s'", Nil)

  private def close(open: Token, otherwise: String, words: Vector[String]): Unit =
    if (token.isSymbol(")")) index += 1
    else if (token.kind == Token.End)
      throw new CeqlException(text, open.start, "CER_SYNTAX.UNCLOSED_PARENTHESIS")
    else expected(s"$otherwise or ')'", words)

  private def expected(what: String, keywords: Iterable[String]): Nothing = {
    val t = token
    if (t.kind == Token.Word && Reserved(t.text.toUpperCase) && keywords.isEmpty)
      throw new CeqlException(
        text,
        t.start,
        "CER_SYNTAX.EXPECTED_NOT_KEYWORD",
        "expected" -> what,
        "found" -> t.shown
      )
    else
      expectedAt(
        t.start,
        what,
        t.shown,
        if (t.kind == Token.Word) CeqlException.suggestion(t.text, keywords) else ""
      )
  }

  private def expectedAt(offset: Int, what: String, found: String, suggestion: String): Nothing =
    throw new CeqlException(
      text,
      offset,
      "CER_SYNTAX.EXPECTED",
      "expected" -> what,
      "found" -> found,
      "suggestion" -> suggestion
    )
}
