package sparkcer.views.statement

import sparkcer.views.ViewsException

/** A word, number, string, quoted name or sign of a statement, and where it stands. */
private[views] final case class Token(kind: Token.Kind, text: String, start: Int, end: Int) {
  def is(word: String): Boolean = kind == Token.Word && text.equalsIgnoreCase(word)
  def isSign(sign: String): Boolean = kind == Token.Sign && text == sign
  def opens: Boolean = isSign("(") || isSign("[")
  def closes: Boolean = isSign(")") || isSign("]")

  /** The name that a word or a quoted name stands for. */
  def name: Option[String] = kind match {
    case Token.Word   => Some(text)
    case Token.Quoted => Some(text.substring(1, text.length - 1).replace("``", "`"))
    case _            => None
  }
}

private[views] object Token {
  sealed trait Kind
  case object Word extends Kind
  case object Number extends Kind
  case object Text extends Kind
  case object Quoted extends Kind
  case object Sign extends Kind
}

/** Splits a statement as Spark SQL does, so that nothing inside a string, a quoted name or a comment is taken for a
  * part reference. A number is a run of digits: `59..60` is a number, two dots and a number.
  */
private[views] object Lexer {
  def apply(text: String): Vector[Token] = {
    val tokens = Vector.newBuilder[Token]
    var at = 0
    while (at < text.length) {
      val c = text.charAt(at)
      val next = if (at + 1 < text.length) text.charAt(at + 1) else ' '
      if (c.isWhitespace) at += 1
      else if (c == '-' && next == '-') at = lineEnd(text, at)
      else if (c == '/' && next == '*') at = commentEnd(text, at)
      else {
        val (kind, end) =
          if (c == '\'' || c == '"') (Token.Text, stringEnd(text, at))
          else if (c == '`') (Token.Quoted, quotedEnd(text, at))
          else if (c.isDigit) (Token.Number, runEnd(text, at, _.isDigit))
          else if (c.isLetter || c == '_') (Token.Word, runEnd(text, at, ch => ch.isLetterOrDigit || ch == '_'))
          else if (c == '.' && next == '.') (Token.Sign, at + 2)
          else (Token.Sign, at + 1)
        tokens += Token(kind, text.substring(at, end), at, end)
        at = end
      }
    }
    tokens.result()
  }

  /** The line and the column of a place, both from one. */
  def place(text: String, at: Int): String = {
    val before = text.substring(0, at.min(text.length))
    s"line ${before.count(_ == '\n') + 1}, column ${before.length - before.lastIndexOf('\n')}"
  }

  private def runEnd(text: String, from: Int, in: Char => Boolean): Int = {
    val end = text.indexWhere(!in(_), from)
    if (end < 0) text.length else end
  }

  private def lineEnd(text: String, from: Int): Int = {
    val end = text.indexOf('\n', from)
    if (end < 0) text.length else end
  }

  /** Comments nest, as in Spark SQL. */
  private def commentEnd(text: String, from: Int): Int = {
    var depth = 1
    var at = from + 2
    while (depth > 0 && at < text.length)
      if (text.startsWith("/*", at)) { depth += 1; at += 2 }
      else if (text.startsWith("*/", at)) { depth -= 1; at += 2 }
      else at += 1
    at
  }

  private def stringEnd(text: String, from: Int): Int = {
    val quote = text.charAt(from)
    val raw = from > 0 && "rR".indexOf(text.charAt(from - 1).toInt) >= 0
    var at = from + 1
    while (at < text.length && text.charAt(at) != quote) at += (if (text.charAt(at) == '\\' && !raw) 2 else 1)
    closed(text, from, at)
  }

  private def quotedEnd(text: String, from: Int): Int = {
    var at = from + 1
    while (at < text.length && (text.charAt(at) != '`' || text.startsWith("``", at)))
      at += (if (text.charAt(at) == '`') 2 else 1)
    closed(text, from, at)
  }

  private def closed(text: String, from: Int, at: Int): Int =
    if (at < text.length) at + 1
    else throw ViewsException.definition(s"The quote at ${place(text, from)} is not closed.")
}
