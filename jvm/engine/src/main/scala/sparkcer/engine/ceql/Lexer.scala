package sparkcer.engine.ceql

import java.util.Locale

/** A token and where it starts and ends.
  *
  * @param text
  *   the token as written, but a name in backticks without them
  */
final private[sparkcer] case class Token(kind: Token.Kind, text: String, start: Int, end: Int) {
  def isSymbol(s: String): Boolean = kind == Token.Symbol && text == s

  /** Keywords are words without quotes, in any case. */
  def isWord(w: String): Boolean = kind == Token.Word && text.equalsIgnoreCase(w)

  /** Is it one of these words, which are in capital letters? In the root locale, as Spark's parser has it. */
  def isOneOf(words: String => Boolean): Boolean = kind == Token.Word && words(text.toUpperCase(Locale.ROOT))

  /** Can it be the name of something: a word, or a name in backticks? */
  def isName: Boolean = kind == Token.Word || kind == Token.Quoted

  def opens: Boolean = isSymbol("(") || isSymbol("[")
  def closes: Boolean = isSymbol(")") || isSymbol("]")

  def shown: String = kind match {
    case Token.End  => "the end of the query"
    case Token.Text => text
    case _          => s"'$text'"
  }
}

private[sparkcer] object Token {
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

/** Splits a text into tokens, the last of which is `End`. Words, names in backticks and strings are the same in queries
  * and in the statements of views. A subclass decides about the rest: comments, numbers, brackets, symbols and errors.
  */
abstract private[sparkcer] class Lexer(text: String) {
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

  private def next(): Token = {
    at = skipBlank(at)
    if (at >= text.length) Token(Token.End, "", text.length, text.length)
    else {
      val c = text(at)
      if (Lexer.isNameStart(c)) token(Token.Word, wordEnd(at))
      else if (c.isDigit) token(Token.Number, numberEnd(at))
      else if (c == '`') quoted()
      else if (c == '\'' || c == '"') token(Token.Text, literalEnd(c))
      else {
        val (kind, end) = symbol(at)
        token(kind, end)
      }
    }
  }

  private def token(kind: Token.Kind, end: Int): Token = {
    val t = Token(kind, text.substring(at, end), at, end)
    at = end
    t
  }

  private def quoted(): Token = {
    val start = at
    val t = token(Token.Quoted, literalEnd('`'))
    val name = Lexer.unquoted(t.text)
    if (name.isEmpty) emptyName(start)
    t.copy(text = name)
  }

  /** Past a string or a name in backticks, in which the quote may be doubled. */
  private def literalEnd(quote: Char): Int = {
    def end(from: Int): Int = {
      val raw = quote == '`' || isRaw(from)
      Lexer
        .literalEnd(text, from, raw)
        .getOrElse(if (quote == '`') unclosed(Token.Quoted, at) else unclosed(Token.Text, from))
    }
    Iterator.iterate(end(at))(end).find(e => e >= text.length || text(e) != quote).get
  }

  /** From a place past white space and comments. */
  protected def skipBlank(from: Int): Int

  protected def wordEnd(from: Int): Int = Lexer.runEnd(text, from, Lexer.isNamePart)

  protected def numberEnd(from: Int): Int

  /** Does a backslash mean itself in the string that begins here? */
  protected def isRaw(from: Int): Boolean

  /** What begins here and is nothing else, and where it ends. */
  protected def symbol(from: Int): (Token.Kind, Int)

  /** There is nothing between two backticks. */
  protected def emptyName(from: Int): Unit

  /** The token of this kind that begins here has no end. */
  protected def unclosed(kind: Token.Kind, from: Int): Nothing
}

private[sparkcer] object Lexer {
  def isNameStart(c: Char): Boolean = c.isLetter || c == '_'
  def isNamePart(c: Char): Boolean = c.isLetterOrDigit || c == '_'

  def runEnd(text: String, from: Int, in: Char => Boolean): Int = indexOrEnd(text, text.indexWhere(!in(_), from))

  def lineEnd(text: String, from: Int): Int = indexOrEnd(text, text.indexOf('\n', from))

  /** From `at` past white space and comments of a query or a condition. */
  def skipBlank(text: String, from: Int): Int = {
    var at = from
    var going = true
    while (going) {
      if (at < text.length && text(at).isWhitespace) at += 1
      else if (text.startsWith("--", at)) at = lineEnd(text, at)
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

  def skipLiteral(text: String, from: Int): Int =
    literalEnd(text, from, raw = text(from) == '`')
      .getOrElse(throw new CeqlException(text, from, "CER_SYNTAX.UNCLOSED_STRING"))

  /** Past the next quote like the one at `from`; none if there is no other. */
  def literalEnd(text: String, from: Int, raw: Boolean): Option[Int] = {
    val quote = text(from)
    var at = from + 1
    while (at < text.length && text(at) != quote) at += (if (text(at) == '\\' && !raw) 2 else 1)
    if (at < text.length) Some(at + 1) else None
  }

  /** The names of a path such as `address.city`, without backticks. */
  def path(text: String): Vector[String] = {
    val end = skipName(text)
    unquoted(text.take(end)) +: (if (end < text.length) path(text.drop(end + 1)) else Vector.empty)
  }

  /** The length of the first name of a path, in backticks or not. A backtick in a name is doubled. */
  def skipName(path: String): Int =
    if (path.startsWith("`"))
      Iterator.iterate(skipLiteral(path, 0))(skipLiteral(path, _)).find(e => !path.startsWith("`", e)).get
    else indexOrEnd(path, path.indexOf('.'))

  def unquoted(name: String): String =
    if (name.startsWith("`")) name.substring(1, name.length - 1).replace("``", "`") else name

  private def indexOrEnd(text: String, index: Int): Int = if (index < 0) text.length else index
}
