package sparkcer.views.statement

import sparkcer.engine.ceql.Token

/** The text of one statement, and its tokens. The text of a CREATE VIEW has spaces instead of OR REPLACE and of IF NOT
  * EXISTS, so that everything keeps its place.
  *
  * @param replaces
  *   whether it was CREATE OR REPLACE VIEW
  * @param ifNew
  *   whether it was CREATE VIEW IF NOT EXISTS
  */
private[views] final case class StatementText(
    text: String,
    tokens: Vector[Token],
    replaces: Boolean = false,
    ifNew: Boolean = false
) {
  def isView: Boolean = word(0, "CREATE") && word(1, "VIEW")

  def isDrop: Boolean = word(0, "DROP") && word(1, "VIEW")

  /** Does it have INITIALIZE and UPDATE, so that it needs no translation? */
  def isViewDf: Boolean = isView && (word(3, "INITIALIZE") || word(3, "AS") && word(4, "INITIALIZE"))

  /** Is it a statement that is not Spark SQL: with INITIALIZE, or with a pattern or a window after the source? */
  def isOurs: Boolean = isViewDf || isView && tokens.indices.exists { n =>
    def isWindow(at: Int) = symbol(at, "[") && word(at + 1, "WINDOW")
    word(n, "FROM") && (word(n + 2, "PATTERN") && symbol(n + 3, "[") || (n + 2 to n + 4).exists(isWindow))
  }

  /** The name of the view that is created. */
  def name: Option[String] = tokens.lift(2).filter(_.isName).map(_.text)

  /** As it is stored: without what only says how to create it. */
  def stored: String = if (replaces || ifNew) StatementText.Head.replaceFirstIn(text, "CREATE VIEW ") else text

  private def word(at: Int, text: String) = tokens.lift(at).exists(_.isWord(text))
  private def symbol(at: Int, text: String) = tokens.lift(at).exists(_.isSymbol(text))
}

private[views] object StatementText {
  private val Head = """(?is)^create\s+view\s+""".r

  /** The statements of a text. A statement ends with a semicolon, or where another CREATE VIEW begins. */
  def split(text: String): Vector[StatementText] = {
    val tokens = StatementLexer(text)
    def word(at: Int, text: String) = tokens.lift(at).exists(_.isWord(text))
    def begins(at: Int) =
      word(at, "CREATE") && (word(at + 1, "VIEW") || word(at + 1, "OR") && word(at + 2, "REPLACE") && word(
        at + 3,
        "VIEW"
      ))
    var depth = 0
    var from = 0
    val bounds = Vector.newBuilder[(Int, Int)]
    tokens.zipWithIndex.foreach { case (t, at) =>
      if (t.opens) depth += 1
      else if (t.closes) depth -= 1
      else if (depth == 0 && t.isSymbol(";")) {
        bounds += ((from, at))
        from = at + 1
      } else if (depth == 0 && at > from && begins(at)) {
        bounds += ((from, at))
        from = at
      }
    }
    bounds += ((from, tokens.length))
    bounds.result().filter { case (a, b) => a < b }.map { case (a, b) =>
      one(text.substring(tokens(a).start, tokens(b - 1).end))
    }
  }

  private def one(text: String): StatementText = {
    val tokens = StatementLexer(text)
    def are(at: Int, words: String*) = words.zipWithIndex.forall { case (w, n) =>
      tokens.lift(at + n).exists(_.isWord(w))
    }
    val replaces = are(0, "CREATE", "OR", "REPLACE", "VIEW")
    val ifNew = are(0, "CREATE", "VIEW", "IF", "NOT", "EXISTS")
    val gone = if (replaces) tokens.slice(1, 3) else if (ifNew) tokens.slice(2, 5) else Vector.empty
    val plain = new StringBuilder(text)
    for (t <- gone; n <- t.start until t.end) plain(n) = ' '
    StatementText(plain.toString, tokens.filterNot(gone.contains), replaces, ifNew)
  }
}
