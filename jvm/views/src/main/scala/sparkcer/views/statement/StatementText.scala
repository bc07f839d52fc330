package sparkcer.views.statement

import sparkcer.engine.ceql.Token

/** The text of one statement, and its tokens. */
private[views] final case class StatementText(text: String, tokens: Vector[Token]) {
  def isView: Boolean = word(0, "CREATE") && word(1, "VIEW")

  /** Does it have INITIALIZE and UPDATE, so that it needs no translation? */
  def isViewDf: Boolean = isView && (word(3, "INITIALIZE") || word(3, "AS") && word(4, "INITIALIZE"))

  /** Is it a statement that is not Spark SQL: with INITIALIZE, or with a pattern or a window after the source? */
  def isOurs: Boolean = isViewDf || isView && tokens.indices.exists { n =>
    word(n, "FROM") && (word(n + 2, "PATTERN") && symbol(n + 3, "[") || symbol(n + 2, "[") && word(n + 3, "WINDOW"))
  }

  private def word(at: Int, text: String) = tokens.lift(at).exists(_.isWord(text))
  private def symbol(at: Int, text: String) = tokens.lift(at).exists(_.isSymbol(text))
}

private[views] object StatementText {

  /** The statements of a text. A statement ends with a semicolon, or where another CREATE VIEW begins. */
  def split(text: String): Vector[StatementText] = {
    val tokens = StatementLexer(text)
    var depth = 0
    var from = 0
    val bounds = Vector.newBuilder[(Int, Int)]
    tokens.zipWithIndex.foreach { case (t, at) =>
      if (t.opens) depth += 1
      else if (t.closes) depth -= 1
      else if (depth == 0 && t.isSymbol(";")) {
        bounds += ((from, at))
        from = at + 1
      } else if (depth == 0 && at > from && t.isWord("CREATE") && tokens.lift(at + 1).exists(_.isWord("VIEW"))) {
        bounds += ((from, at))
        from = at
      }
    }
    bounds += ((from, tokens.length))
    bounds.result().filter { case (a, b) => a < b }.map { case (a, b) =>
      val body = text.substring(tokens(a).start, tokens(b - 1).end)
      StatementText(body, StatementLexer(body))
    }
  }
}
