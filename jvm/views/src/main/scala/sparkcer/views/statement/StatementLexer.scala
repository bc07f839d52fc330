package sparkcer.views.statement

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.engine.ceql.{Lexer, Token}

/** Splits a statement as Spark SQL does, so that nothing inside a string, a name in backticks or a comment is taken for
  * a part reference. A number is a run of digits: `59..60` is a number, two dots and a number. Any other character is a
  * symbol.
  */
private[views] final class StatementLexer private (text: String) extends Lexer(text) {

  protected def skipBlank(from: Int): Int = {
    var at = from
    var going = true
    while (going)
      if (at < text.length && text(at).isWhitespace) at += 1
      else if (text.startsWith("--", at)) at = Lexer.lineEnd(text, at)
      else if (text.startsWith("/*", at)) at = commentEnd(at)
      else going = false
    at
  }

  /** Comments nest, as in Spark SQL. */
  private def commentEnd(from: Int): Int = {
    var depth = 1
    var at = from + 2
    while (depth > 0 && at < text.length)
      if (text.startsWith("/*", at)) { depth += 1; at += 2 }
      else if (text.startsWith("*/", at)) { depth -= 1; at += 2 }
      else at += 1
    at
  }

  protected def numberEnd(from: Int): Int = Lexer.runEnd(text, from, _.isDigit)

  /** `r'\d'` is a string without escapes. */
  protected def isRaw(from: Int): Boolean = from > 0 && "rR".indexOf(text(from - 1).toInt) >= 0

  protected def symbol(from: Int): (Token.Kind, Int) =
    (Token.Symbol, if (text.startsWith("..", from)) from + 2 else from + 1)

  /** Spark refuses it, with a better message. */
  protected def emptyName(from: Int): Unit = ()

  protected def unclosed(kind: Token.Kind, from: Int): Nothing = {
    val key =
      if (kind == Token.Quoted) "CER_VIEW_DEFINITION.UNCLOSED_BACKTICK" else "CER_VIEW_DEFINITION.UNCLOSED_STRING"
    throw new CerException(key, "place" -> StatementLexer.place(text, from))
  }
}

private[views] object StatementLexer {

  /** The tokens of a statement, without one for its end. */
  def apply(text: String): Vector[Token] = new StatementLexer(text).tokens().init

  /** The line and the column of a place, both from one. */
  def place(text: String, at: Int): String = {
    val before = text.substring(0, at.min(text.length))
    s"line ${before.count(_ == '\n') + 1}, column ${before.length - before.lastIndexOf('\n')}"
  }
}
