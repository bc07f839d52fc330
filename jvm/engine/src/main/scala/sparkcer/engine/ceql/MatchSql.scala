package sparkcer.engine.ceql

import java.util.Locale

/** The SQL of measures and HAVING, as far as the engine looks into it: which variables it names. The rest is Spark's.
  *
  * A variable is named by `x.a`, or as a whole in `count(x)`, `first(x)` and `last(x)`. A stream's event type is
  * written `S>R` here too, and becomes the name `` `S>R` `` of SQL.
  */
private[ceql] object MatchSql {

  /** The text without comments, and with CEQL's own forms in SQL. */
  def of(text: String, query: String, offset: Int): String =
    ConditionText.toSql(withoutComments(text), query, offset)

  private def withoutComments(text: String): String = {
    val out = new StringBuilder
    var at = 0
    while (at < text.length) {
      val end =
        if ("'\"`".indexOf(text(at).toInt) >= 0) Lexer.skipLiteral(text, at)
        else if (text.startsWith("--", at) || text.startsWith("/*", at)) Lexer.skipBlank(text, at)
        else at + 1
      out ++= (if (text(at) == '-' && end > at + 1 || text(at) == '/' && end > at + 1) " " else text.substring(at, end))
      at = end
    }
    out.toString
  }

  /** The text with SQL's names for variables such as `S>R`. */
  def quoted(sql: String, bound: Set[String]): String = {
    val out = new StringBuilder
    var from = 0
    found(sql, bound).filter(_.variable.contains('>')).foreach { r =>
      out ++= sql.substring(from, r.start) ++= "`" ++= r.variable.replace("`", "``") ++= "`"
      from = r.end
    }
    (out ++= sql.substring(from)).toString
  }

  /** The variables that it names. */
  def variables(sql: String, bound: Set[String]): Set[String] = found(sql, bound).map(_.variable).toSet

  final private case class Found(variable: String, start: Int, end: Int)

  private def found(sql: String, bound: Set[String]): Vector[Found] = {
    val all = pieces(sql)
    def text(i: Int): String = all.lift(i).filterNot(_.isName).fold("")(_.sign)
    def name(i: Int): Option[String] = all.lift(i).flatMap(_.name)
    def word(i: Int, words: Set[String]): Boolean = name(i).exists(n => words(n.toUpperCase(Locale.ROOT)))

    /** Is what begins at one piece and ends before another the whole argument of a function that takes events? */
    def isArgument(first: Int, after: Int): Boolean = {
      val open = if (word(first - 1, Set("DISTINCT"))) first - 2 else first - 1
      text(after) == ")" && text(open) == "(" && word(open - 1, OfEvents)
    }
    all.indices.toVector.flatMap { i =>
      def variable(x: String, next: Int) =
        if (bound(x) && (text(next) == "." || isArgument(i, next))) Some(Found(x, all(i).start, all(next - 1).end))
        else None
      if (text(i - 1) == "." || text(i - 1) == ">" && name(i - 2).exists(s => name(i).exists(n => bound(s"$s>$n"))))
        None
      else
        name(i).flatMap { n =>
          val atom = if (text(i + 1) == ">") name(i + 2).flatMap(r => variable(s"$n>$r", i + 3)) else None
          atom.orElse(variable(n, i + 1))
        }
    }
  }

  private val OfEvents = Set("COUNT", "FIRST", "LAST")

  /** A name, with or without backticks, or one character of anything else. */
  final private case class Piece(name: Option[String], sign: String, start: Int, end: Int) {
    def isName: Boolean = name.isDefined
  }

  private def pieces(sql: String): Vector[Piece] = {
    val out = Vector.newBuilder[Piece]
    var at = 0
    while (at < sql.length) {
      val c = sql(at)
      val end =
        if (c == '\'' || c == '"' || c == '`') Lexer.skipLiteral(sql, at)
        else if (Lexer.isNamePart(c)) Lexer.runEnd(sql, at, Lexer.isNamePart)
        else at + 1
      val text = sql.substring(at, end)
      if (c == '`') out += Piece(Some(Lexer.unquoted(text)), "", at, end)
      else if (Lexer.isNameStart(c)) out += Piece(Some(text), "", at, end)
      else if (!c.isWhitespace) out += Piece(None, if (c == '\'' || c == '"') "'" else text, at, end)
      at = end
    }
    out.result()
  }
}
