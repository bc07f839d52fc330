package sparkcer.engine.ceql

import java.util.Locale

/** The grammar of comparisons between events:
  *
  * {{{
  * comparison := operand sign operand                     sign := = | == | != | <> | < | <= | > | >=
  * operand    := product (('+' | '-') product)*           product := unary (('*' | '/' | '%') unary)*
  * unary      := '-' unary | '(' operand ')' | number | string | name '(' operands ')' | ':' name | attribute
  * attribute  := variable '.' path | (first | last) '(' variable ')' '.' path | (first | last) '(' attribute ')'
  * aggregate  := count '(' variable ')' | (min | max) '(' operand ')'                   outside of brackets
  * }}}
  *
  * @param place
  *   where they stand; outside of brackets every attribute needs its variable, and every first name is one
  */
final private[ceql] class Operands(text: String, tokens: Vector[Token], place: Operands.Place) {
  import Operand._
  import Operands._

  private var index = 0
  private var depth = 0

  private val inBrackets = place.isInstanceOf[Inside]

  /** May a parameter stand here? Outside of brackets `:` is an operator of patterns, but not beside an aggregate. */
  private var withParameters = inBrackets

  private def token: Token = tokens(math.min(index, tokens.length - 1))
  private def ahead(n: Int): Token = tokens(math.min(index + n, tokens.length - 1))

  /** Does an operand begin here, and not a condition? */
  def startsAt(at: Int): Boolean = {
    index = at
    val t = token
    if (t.kind == Token.Number || t.kind == Token.Text || t.isSymbol("-")) true
    else if (t.isSymbol("(")) afterParenthesis(at).exists(i => tokens(i).kind == Token.Symbol && Follow(tokens(i).text))
    else Parser.isName(t) && (ahead(1).isSymbol(".") || ahead(1).isSymbol("(") || isStreamAttribute)
  }

  /** `S>R.a` */
  private def isStreamAttribute: Boolean =
    !inBrackets && Parser.isName(token) && ahead(1).isSymbol(">") && Parser.isName(ahead(2)) && ahead(3).isSymbol(".")

  private def afterParenthesis(from: Int): Option[Int] = {
    var open = 0
    var at = from
    do {
      if (tokens(at).isSymbol("(")) open += 1
      if (tokens(at).isSymbol(")")) open -= 1
      at += 1
    } while (open > 0 && at < tokens.length)
    if (open == 0 && at < tokens.length) Some(at) else None
  }

  /** The comparisons of a FILTER without brackets, and the token after them: one, or two for `aggregate BETWEEN a AND
    * b`.
    */
  def comparisons(at: Int): (Vector[(Operand, Operator, Operand)], Int) = {
    index = at
    val aggregate = operand()
    if (aggregate.isInstanceOf[Aggregate] && token.isWord("BETWEEN")) {
      index += 1
      withParameters = true
      val low = operand()
      if (token.isWord("AND")) index += 1 else expected("AND after BETWEEN")
      val high = operand()
      (Vector((aggregate, Operator.GreaterEqual, low), (aggregate, Operator.LessEqual, high)), index)
    } else {
      val (left, operator, right, next) = comparison(at)
      (Vector((left, operator, right)), next)
    }
  }

  /** A comparison, and the token after it. */
  def comparison(at: Int): (Operand, Operator, Operand, Int) = {
    index = at
    withParameters = inBrackets
    val left = operand()
    if (left.isInstanceOf[Aggregate]) withParameters = true
    val operator = Operator.bySign.get(token.text).filter(_ => token.kind == Token.Symbol) match {
      case Some(o) => index += 1; o
      case None    => expected("a comparison (= != < <= > >=)")
    }
    val right = operand()
    if (token.kind == Token.Symbol && Operator.bySign.contains(token.text))
      expected("AND, OR or the end of the comparison")
    (left, operator, right, index)
  }

  private def operand(): Operand = chain(Set("+", "-"), () => chain(Set("*", "/", "%"), () => unary()))

  private def chain(signs: Set[String], part: () => Operand): Operand = {
    var left = part()
    var length = 0
    while (token.kind == Token.Symbol && signs(token.text)) {
      length += 1
      deeper(length)
      val sign = token.text
      index += 1
      left = Binary(sign, left, part())
    }
    left
  }

  private def unary(): Operand = {
    depth += 1
    deeper(0)
    val t = token
    val result =
      if (t.isSymbol("-")) { index += 1; Negative(unary()) }
      else if (t.isSymbol("(")) {
        index += 1
        val inside = operand()
        symbol(")")
        inside
      } else if (t.kind == Token.Number || t.kind == Token.Text || t.isOneOf(Constants)) {
        index += 1
        Literal(t.text)
      } else if (isParameter) {
        index += 2
        Literal(s":${tokens(index - 1).text}")
      } else if (!inBrackets && Aggregates.isName(t) && ahead(1).isSymbol("(")) aggregate()
      else if (t.kind == Token.Word && !t.isOneOf(Words) && ahead(1).isSymbol("(")) call()
      else attribute()
    depth -= 1
    result
  }

  /** `:name` */
  private def isParameter: Boolean =
    withParameters && token.isSymbol(":") && ahead(1).kind == Token.Word && ahead(1).start == token.end

  private def call(): Operand = {
    val function = token.text
    index += 2
    val arguments = Vector.newBuilder[Operand]
    if (!token.isSymbol(")")) {
      arguments += operand()
      while (token.isSymbol(",")) { index += 1; arguments += operand() }
    }
    symbol(")")
    Call(function, arguments.result())
  }

  /** `count(x)`, `max(x.a)`, `first(x).a` or `first(x.a)`. Other aggregates are refused. */
  private def aggregate(): Operand = {
    val start = token
    val function = start.text.toLowerCase(Locale.ROOT)
    index += 2
    if (!Aggregates.inFilter(function))
      Aggregates.refuse(text, start.start, Aggregates.written(text, tokens, index - 2))
    val isVariable =
      Parser.isName(token) && (ahead(1).isSymbol(")") || ahead(1).isSymbol(">") && ahead(3).isSymbol(")"))
    val result =
      if (isVariable) {
        val x = variable()
        symbol(")")
        if (function == Aggregates.Count) Aggregate(function, x, None)(written(start), start.start)
        else
          End.byWord.get(function.toUpperCase(Locale.ROOT)) match {
            case Some(end) if token.isSymbol(".") => Attribute(Name(Ends.name(end, x.value))(x.offset), path(AColumn))
            case Some(_) => expected(s"'.' and a column after '${written(start)}', such as ${written(start)}.price")
            case None    => Aggregates.withoutColumn(text, start.start, function, x.value)
          }
      } else {
        if (function == Aggregates.Count)
          Aggregates.refuse(text, start.start, Aggregates.written(text, tokens, index - 2))
        val argument = operand()
        symbol(")")
        (argument, End.byWord.get(function.toUpperCase(Locale.ROOT))) match {
          case (Attribute(x, path), Some(end)) => Attribute(Name(Ends.name(end, x.value))(x.offset), path)
          case (_, Some(_))                    => Aggregates.refuse(text, start.start, written(start))
          case (_, None)                       =>
            argument.variables match {
              case Vector(x) => Aggregate(function, x, Some(argument))(written(start), start.start)
              case _         => Aggregates.refuse(text, start.start, written(start))
            }
        }
      }
    result
  }

  /** The text from a token up to here. */
  private def written(from: Token): String = text.substring(from.start, tokens(index - 1).end)

  private def variable(): Name = {
    val first = name("a variable")
    if (token.isSymbol(">")) {
      index += 1
      Name(s"${first.text}>${name("an event type after '>'").text}")(first.start)
    } else Name(first.text)(first.start)
  }

  private def attribute(): Operand = {
    val what = if (inBrackets) "a column" else "a column of a variable, such as x.price"
    val start = token
    if (isStreamAttribute) {
      val stream = name(what)
      index += 1
      Attribute(Name(s"${stream.text}>${name(what).text}")(start.start), path(what))
    } else {
      val first = name(what)
      place match {
        case Outside(body) =>
          if (Previous(first)) throw new CeqlException(text, start.start, "CER_SYNTAX.PREV_OUTSIDE")
          if (!token.isSymbol(".")) withoutColumn(first, what, body)
          Attribute(Name(first.text)(start.start), path(what))
        case Inside(own, isOther) =>
          // Backticks force the column.
          val isVariable =
            first.kind == Token.Word && token.isSymbol(".") && (Previous(first) || isOther(first.text))
          if (isVariable) Attribute(Name(if (Previous(first)) Comparison.Prev else first.text)(start.start), path(what))
          else Attribute(own, shown(first) + (if (token.isSymbol(".")) "." + path(what) else ""))
      }
    }
  }

  /** A name that no dot follows, where every attribute needs its variable. */
  private def withoutColumn(name: Token, what: String, body: Formula): Nothing =
    if (body.variables(name.text)) {
      val function = tokens.lift(index - 3).filter(t => t.kind == Token.Word && tokens(index - 2).isSymbol("("))
      if (function.isDefined && token.isSymbol(")")) Aggregates.unknown(text, function.get, name.text)
      expected(s"'.' and a column after '${name.text}', such as ${name.text}.price")
    } else if (name.isOneOf(Words)) { index -= 1; expected(what) }
    else Whose.refuse(text, name, body)

  /** `.a.b`, without the first dot. */
  private def path(what: String): String = {
    val names = Vector.newBuilder[String]
    while (token.isSymbol(".")) { index += 1; names += shown(columnName(what)) }
    names.result().mkString(".")
  }

  /** A column may have the name of a keyword. */
  private def columnName(what: String): Token =
    if (token.kind == Token.Word || token.kind == Token.Quoted) { index += 1; tokens(index - 1) }
    else expected(what)

  private def name(what: String): Token =
    if (Parser.isName(token) && !(inBrackets && token.isOneOf(Words))) {
      index += 1
      tokens(index - 1)
    } else expected(what)

  private def shown(t: Token): String =
    if (t.kind == Token.Word) t.text else "`" + t.text.replace("`", "``") + "`"

  private def symbol(s: String): Unit = if (token.isSymbol(s)) index += 1 else expected(s"'$s'")

  private def deeper(levels: Int): Unit =
    if (depth + levels > Parser.MaxDepth)
      throw new CeqlException(
        text,
        token.start,
        "CER_QUERY_TOO_LARGE.NESTED",
        "most" -> Parser.MaxDepth.toString
      )

  private def expected(what: String): Nothing = {
    val places = Seq("expected" -> what, "found" -> token.shown)
    if (token.kind == Token.Bracket || token.kind == Token.Word || token.isSymbol(":"))
      throw new CeqlException(text, token.start, "CER_SYNTAX.EXPECTED_IN_BRACKETS", places: _*)
    else throw new CeqlException(text, token.start, "CER_SYNTAX.EXPECTED", places :+ ("suggestion" -> ""): _*)
  }
}

private[ceql] object Operands {
  sealed trait Place

  /** Inside the brackets of a variable, whose columns need no prefix. */
  final case class Inside(variable: Name, isVariable: String => Boolean) extends Place

  /** Outside of brackets, after a formula with the variables that can be named. */
  final case class Outside(body: Formula) extends Place

  def Previous(t: Token): Boolean = t.isWord(Comparison.Prev)

  private val AColumn = "a column"

  private val Follow = Operator.bySign.keySet ++ Set("+", "-", "*", "/", "%")
  private val Constants = Set("NULL", "TRUE", "FALSE")

  /** Words that make an expression something else than a comparison of operands. */
  private val Words =
    "AND OR NOT IN IS LIKE ILIKE RLIKE REGEXP BETWEEN CASE WHEN THEN ELSE END DIV INTERVAL EXISTS ANY SOME ALL ESCAPE DISTINCT CAST"
      .split(' ')
      .toSet
}
