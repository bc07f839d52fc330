package sparkcer.views.statement

import sparkcer.engine.ceql.Token

/** A token of SQL and its place in the statement. */
final private[views] case class SqlToken(token: Token, span: SqlSpan) {
  def text: String = span.text
  def is(word: String): Boolean = token.isWord(word)
  def opens: Boolean = token.opens
  def closes: Boolean = token.closes
  def isName: Boolean = token.isName

  /** Without its backticks. */
  def name: String = token.text
}

private[views] object SqlToken {
  def of(span: SqlSpan): Vector[SqlToken] = StatementLexer(span.text).map(t => SqlToken(t, span.part(t.start, t.end)))

  /** The tokens outside of all parentheses, brackets and CASE … END. */
  def outer(tokens: Vector[SqlToken]): Vector[SqlToken] = {
    var depth = 0
    tokens.filter { t =>
      if (t.opens || t.is("CASE")) { depth += 1; false }
      else if (t.closes || t.is("END") && depth > 0) { depth -= 1; false }
      else depth == 0
    }
  }

  /** Splits a span at those of its outer tokens that `separates` accepts. */
  def split(span: SqlSpan)(separates: SqlToken => Boolean): Vector[SqlSpan] = {
    val cuts = outer(of(span)).filter(separates)
    val starts = span.start +: cuts.map(_.span.end)
    val ends = cuts.map(_.span.start) :+ span.end
    starts.zip(ends).map { case (from, until) => trimmed(SqlSpan(span.statement, from, until)) }
  }

  /** Without white space and comments around it. */
  def trimmed(span: SqlSpan): SqlSpan = {
    val tokens = of(span)
    if (tokens.isEmpty) SqlSpan(span.statement, span.start, span.start)
    else SqlSpan(span.statement, tokens.head.span.start, tokens.last.span.end)
  }
}
