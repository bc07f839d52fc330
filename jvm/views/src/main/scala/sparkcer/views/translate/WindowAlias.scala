package sparkcer.views.translate

import sparkcer.views.statement.{SqlSpan, SqlToken}

/** `FROM M AS m [WINDOW …]`: the statement without the alias of the source, and without the source or its alias before
  * a column. They are replaced by spaces, so that everything keeps its place.
  */
private[views] object WindowAlias {
  def removed(statement: String): String = {
    val tokens = SqlToken.of(SqlSpan(statement, 0, statement.length))
    def is(i: Int, text: String) = tokens.lift(i).exists(t => t.text == text || t.is(text))
    def isWindow(i: Int) = is(i, "[") && is(i + 1, "WINDOW")
    val from = SqlToken.outer(tokens).filter(_.is("FROM")).map(tokens.indexOf).find { f =>
      isWindow(f + 2) || isWindow(f + 3) && !is(f + 2, "PATTERN") || is(f + 2, "AS") && isWindow(f + 4)
    }
    from.fold(statement) { f =>
      val alias = if (isWindow(f + 2)) None else Some(if (is(f + 2, "AS")) f + 3 else f + 2)
      val name = tokens(alias.getOrElse(f + 1)).name
      val qualifiers = tokens.indices.filter { i =>
        tokens(i).isName && tokens(i).name.equalsIgnoreCase(name) && is(i + 1, ".") && !is(i - 1, ".")
      }
      val gone = alias.toVector.flatMap(a => (f + 2) to a) ++ qualifiers.flatMap(i => Seq(i, i + 1))
      val plain = new StringBuilder(statement)
      for (i <- gone; n <- tokens(i).span.start until tokens(i).span.end) plain(n) = ' '
      plain.toString
    }
  }
}
