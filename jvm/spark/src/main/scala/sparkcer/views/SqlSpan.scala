package sparkcer.views

import org.antlr.v4.runtime.{CharStreams, Token}
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

import sparkcer.engine.ceql.CeqlException

/** A stretch of a statement's text, which knows its place, so that every refusal can show it. */
final private[views] case class SqlSpan(statement: String, start: Int, end: Int) {
  def text: String = statement.substring(start, end)
  def isEmpty: Boolean = start >= end

  /** The part from `from` to `until`, counted from this span's start. */
  def part(from: Int, until: Int): SqlSpan = SqlSpan(statement, start + from, start + until)

  def fail(problem: String, condition: String = "CER_SYNTAX"): Nothing =
    throw new CeqlException(condition, problem, statement, start)
}

/** A word, symbol or literal of SQL, cut by Spark's own lexer; comments and blanks are left out. */
final private[views] case class SqlToken(span: SqlSpan) {
  val text: String = span.text
  def is(word: String): Boolean = text.equalsIgnoreCase(word)
  def opens: Boolean = text == "(" || text == "["
  def closes: Boolean = text == ")" || text == "]"

  def isName: Boolean = text.startsWith("`") || text.headOption.exists(c => c.isLetter || c == '_')

  /** Without its backticks. */
  def name: String = if (text.startsWith("`")) text.substring(1, text.length - 1).replace("``", "`") else text
}

private[views] object SqlToken {
  def of(span: SqlSpan): Vector[SqlToken] = {
    val text = span.text
    // The lexer's keywords are in capitals; one character stays one character.
    val lexer = new SqlBaseLexer(CharStreams.fromString(text.map(_.toUpper)))
    lexer.removeErrorListeners()
    def offset(codePoints: Int) = text.offsetByCodePoints(0, codePoints)
    Iterator
      .continually(lexer.nextToken())
      .takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL)
      .map(t => SqlToken(span.part(offset(t.getStartIndex), offset(t.getStopIndex + 1))))
      .toVector
  }

  /** The tokens outside of all parentheses, brackets and CASE … END. */
  def outer(tokens: Vector[SqlToken]): Vector[SqlToken] = {
    var depth = 0
    tokens.filter { t =>
      if (t.opens || t.is("CASE")) { depth += 1; false }
      else if (t.closes || t.is("END") && depth > 0) { depth -= 1; false }
      else depth == 0
    }
  }

  /** The stretches of a span between its outer tokens that `separates` accepts. */
  def split(span: SqlSpan)(separates: SqlToken => Boolean): Vector[SqlSpan] = {
    val cuts = outer(of(span)).filter(separates)
    val starts = span.start +: cuts.map(_.span.end)
    val ends = cuts.map(_.span.start) :+ span.end
    starts.zip(ends).map { case (from, until) => trimmed(SqlSpan(span.statement, from, until)) }
  }

  def trimmed(span: SqlSpan): SqlSpan = {
    val tokens = of(span)
    if (tokens.isEmpty) SqlSpan(span.statement, span.start, span.start)
    else SqlSpan(span.statement, tokens.head.span.start, tokens.last.span.end)
  }
}
