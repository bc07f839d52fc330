package sparkcer.engine.ceql

/** Splits a query into tokens. What is between brackets is one token `Bracket`, kept as written: it is Spark SQL or a
  * list of names, which only the parser can know.
  */
final private[ceql] class QueryLexer(text: String) extends Lexer(text) {

  /** The tokens of a whole query. One `;` at its very end ends it, and is not the operator with a side missing. */
  def query(): Vector[Token] = tokens() match {
    case rest :+ last :+ end if last.isSymbol(";") && !rest.lastOption.exists(_.isSymbol(";")) =>
      rest :+ end.copy(start = last.start)
    case all => all
  }

  protected def skipBlank(from: Int): Int = Lexer.skipBlank(text, from)

  /** PART-BY is one word. */
  override protected def wordEnd(from: Int): Int = {
    val end = super.wordEnd(from)
    if (text.substring(from, end).equalsIgnoreCase("PART") && text.regionMatches(true, end, "-BY", 0, 3)) end + 3
    else end
  }

  protected def numberEnd(from: Int): Int = {
    val end = Lexer.runEnd(text, from, _.isDigit)
    val isDecimal = end + 1 < text.length && text(end) == '.' && text(end + 1).isDigit
    if (isDecimal) Lexer.runEnd(text, end + 1, _.isDigit) else end
  }

  protected def isRaw(from: Int): Boolean = false

  /** Patterns do not have all of these signs, but the SQL of measures and HAVING does. */
  protected def symbol(from: Int): (Token.Kind, Int) = {
    val two = text.substring(from, math.min(from + 2, text.length))
    if (text(from) == '[') (Token.Bracket, bracketEnd(from))
    else if (QueryLexer.Double(two)) (Token.Symbol, from + 2)
    else if ("();:,+*?{}>.=<-/%|&^~!".indexOf(text(from).toInt) >= 0) (Token.Symbol, from + 1)
    else fail(from, "CER_SYNTAX.UNKNOWN_CHARACTER", "character" -> text(from).toString)
  }

  private def bracketEnd(from: Int): Int = {
    var depth = 0
    var end = from
    do {
      end = Lexer.skipOpaque(text, end)
      if (end >= text.length) unclosed(Token.Bracket, from)
      if (text(end) == '[') depth += 1
      if (text(end) == ']') depth -= 1
      end += 1
    } while (depth > 0)
    end
  }

  protected def emptyName(from: Int): Unit = fail(from, "CER_SYNTAX.EMPTY_NAME")

  protected def unclosed(kind: Token.Kind, from: Int): Nothing = kind match {
    case Token.Quoted  => fail(from, "CER_SYNTAX.UNCLOSED_BACKTICK")
    case Token.Bracket => fail(from, "CER_SYNTAX.UNCLOSED_BRACKET")
    case _             => fail(from, "CER_SYNTAX.UNCLOSED_STRING")
  }

  private def fail(from: Int, key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(text, from, key, parameters: _*)
}

private object QueryLexer {
  private val Double = Set(":+", ":*", ":{", "==", "!=", "<>", "<=", ">=")
}
