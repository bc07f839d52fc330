package sparkcer.engine.ceql

/** A token and where it starts and ends. */
final private[ceql] case class Token(kind: Token.Kind, text: String, start: Int, end: Int) {
  def isSymbol(s: String): Boolean = kind == Token.Symbol && text == s

  /** Keywords are words without quotes, in any case. */
  def isWord(w: String): Boolean = kind == Token.Word && text.equalsIgnoreCase(w)

  def shown: String = kind match {
    case Token.End  => "the end of the query"
    case Token.Text => text
    case _          => s"'$text'"
  }
}

private[ceql] object Token {
  sealed trait Kind
  case object Word extends Kind
  case object Quoted extends Kind
  case object Number extends Kind
  case object Text extends Kind
  case object Symbol extends Kind
  case object Parameter extends Kind
  case object Bracket extends Kind
  case object End extends Kind
}

/** Cuts a query into tokens. What stands between brackets is one token `Bracket`, kept as written: it is Spark SQL or
  * a list of names, which only the parser can know.
  */
final private[ceql] class Lexer(text: String) {
  private var at = 0

  def tokens(): Vector[Token] = {
    val out = Vector.newBuilder[Token]
    var last: Token = next()
    while (last.kind != Token.End) {
      out += last
      last = next()
    }
    out += last
    out.result()
  }

  /** The tokens of a whole query. One `;` at its very end ends it, and is not the operator with a side missing. */
  def query(): Vector[Token] = tokens() match {
    case rest :+ last :+ end if last.isSymbol(";") && !rest.lastOption.exists(_.isSymbol(";")) =>
      rest :+ end.copy(start = last.start)
    case all => all
  }

  private def next(): Token = {
    at = Lexer.skipBlank(text, at)
    if (at >= text.length) Token(Token.End, "", text.length, text.length)
    else {
      val c = text(at)
      if (Lexer.isNameStart(c)) word()
      else if (c.isDigit) number()
      else if (c == '`') quoted()
      else if (c == '[') bracket()
      else if (c == '\'' || c == '"') literal(c)
      else symbol()
    }
  }

  private def token(kind: Token.Kind, end: Int, shown: String): Token = {
    val t = Token(kind, shown, at, end)
    at = end
    t
  }

  private def word(): Token = {
    var end = at
    while (end < text.length && Lexer.isNamePart(text(end))) end += 1
    // PART-BY is one word.
    if (text.substring(at, end).equalsIgnoreCase("PART") && text.regionMatches(true, end, "-BY", 0, 3)) end += 3
    token(Token.Word, end, text.substring(at, end))
  }

  private def number(): Token = {
    var end = at
    while (end < text.length && text(end).isDigit) end += 1
    if (end + 1 < text.length && text(end) == '.' && text(end + 1).isDigit) {
      end += 1
      while (end < text.length && text(end).isDigit) end += 1
    }
    token(Token.Number, end, text.substring(at, end))
  }

  private def quoted(): Token = {
    val name = new StringBuilder
    var end = at + 1
    var open = true
    while (open) {
      if (end >= text.length) fail("CER_SYNTAX.UNCLOSED_BACKTICK")
      else if (text(end) != '`') { name += text(end); end += 1 }
      else if (end + 1 < text.length && text(end + 1) == '`') { name += '`'; end += 2 }
      else { end += 1; open = false }
    }
    if (name.isEmpty) fail("CER_SYNTAX.EMPTY_NAME")
    token(Token.Quoted, end, name.toString)
  }

  /** A string, in which a quote may be doubled. */
  private def literal(quote: Char): Token = {
    var end = Lexer.skipLiteral(text, at)
    while (end < text.length && text(end) == quote) end = Lexer.skipLiteral(text, end)
    token(Token.Text, end, text.substring(at, end))
  }

  private def bracket(): Token = {
    var depth = 0
    var end = at
    do {
      end = Lexer.skipOpaque(text, end)
      if (end >= text.length) fail("CER_SYNTAX.UNCLOSED_BRACKET")
      if (text(end) == '[') depth += 1
      if (text(end) == ']') depth -= 1
      end += 1
    } while (depth > 0)
    token(Token.Bracket, end, text.substring(at, end))
  }

  private def symbol(): Token = {
    val two = text.substring(at, math.min(at + 2, text.length))
    if (Lexer.Double(two)) token(Token.Symbol, at + 2, two)
    else if ("();:,+*>.=<-/%".indexOf(text(at).toInt) >= 0) token(Token.Symbol, at + 1, text.substring(at, at + 1))
    else fail("CER_SYNTAX.UNKNOWN_CHARACTER", "character" -> text(at).toString)
  }

  private def fail(key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(text, at, key, parameters: _*)
}

private[ceql] object Lexer {
  private val Double = Set(":+", "==", "!=", "<>", "<=", ">=")

  def isNameStart(c: Char): Boolean = c.isLetter || c == '_'
  def isNamePart(c: Char): Boolean = c.isLetterOrDigit || c == '_'

  /** From `at` past white space and comments. */
  def skipBlank(text: String, from: Int): Int = {
    var at = from
    var going = true
    while (going) {
      if (at < text.length && text(at).isWhitespace) at += 1
      else if (text.startsWith("--", at)) at = indexOrEnd(text, text.indexOf('\n', at))
      else if (text.startsWith("/*", at)) {
        val end = text.indexOf("*/", at + 2)
        if (end < 0) throw new CeqlException(text, at, "CER_SYNTAX.UNCLOSED_COMMENT")
        at = end + 2
      } else going = false
    }
    at
  }

  /** From `at` past comments and string or backtick literals, to the first character that can be structure. */
  def skipOpaque(text: String, from: Int): Int = {
    var at = from
    var going = true
    while (going && at < text.length) {
      val c = text(at)
      if (c == '\'' || c == '"' || c == '`') at = skipLiteral(text, at)
      else {
        val past = if (c == '-' || c == '/') skipBlank(text, at) else at
        if (past == at) going = false else at = past
      }
    }
    at
  }

  def skipLiteral(text: String, from: Int): Int = {
    val quote = text(from)
    var at = from + 1
    while (at < text.length && text(at) != quote) at += (if (text(at) == '\\' && quote != '`') 2 else 1)
    if (at >= text.length) throw new CeqlException(text, from, "CER_SYNTAX.UNCLOSED_STRING")
    at + 1
  }

  /** The length of the first name of a path, in backticks or not. */
  def skipName(path: String): Int =
    if (path.startsWith("`")) skipLiteral(path, 0) else indexOrEnd(path, path.indexOf('.'))

  def unquoted(name: String): String =
    if (name.startsWith("`")) name.substring(1, name.length - 1).replace("``", "`") else name

  private def indexOrEnd(text: String, index: Int): Int = if (index < 0) text.length else index
}
