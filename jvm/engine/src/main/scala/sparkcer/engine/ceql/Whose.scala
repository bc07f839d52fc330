package sparkcer.engine.ceql

/** `FILTER price > 3` does not say whose price it means. These messages show what to write instead, with a variable of
  * the query.
  */
private[ceql] object Whose {

  /** Does a column without its variable stand at a token, where a condition begins? */
  def startsAt(tokens: Vector[Token], at: Int): Boolean = {
    def ahead(n: Int) = tokens(math.min(at + n, tokens.length - 1))
    val atom = ahead(1).isSymbol(">") && ahead(3).kind == Token.Bracket // S>R[…]
    Parser.isName(ahead(0)) && !atom && (isSign(ahead(1)) || OfSql.exists(ahead(1).isWord))
  }

  /** @param body the formula whose variables the FILTER can name */
  def refuse(text: String, tokens: Vector[Token], at: Int, body: Formula): Nothing = {
    val column = tokens(at)
    val key = if (isSign(tokens(at + 1))) "CER_SYNTAX.WHOSE_COLUMN" else "CER_SYNTAX.WHOSE_COLUMN_IN_BRACKETS"
    val condition = text.substring(column.start, tokens(end(tokens, at) - 1).end)
    throw new CeqlException(text, column.start, key, places(text, column, body) :+ ("condition" -> condition): _*)
  }

  /** The same of a column that stands elsewhere in a comparison. */
  def refuse(text: String, column: Token, body: Formula): Nothing =
    throw new CeqlException(text, column.start, "CER_SYNTAX.WHOSE_COLUMN_COMPARED", places(text, column, body): _*)

  private def places(text: String, column: Token, body: Formula): Seq[(String, String)] = {
    val named = body.subformulas.collectFirst { case Formula.As(_, x) => x.value }
    val all = body.variables.toVector.sorted
    Seq(
      "column" -> text.substring(column.start, column.end),
      "variable" -> named.orElse(all.headOption).getOrElse("x"),
      "variables" -> CeqlException.list(all)
    )
  }

  /** The token after the condition. */
  private def end(tokens: Vector[Token], from: Int): Int = {
    var at = from
    var depth = 0
    var between = false
    def inside(t: Token) =
      if (t.isWord("AND")) between || depth > 0
      else if (t.isOneOf(Parser.Reserved)) t.isWord("NOT") || depth > 0
      else t.kind != Token.End && !t.isSymbol(";") && !(t.isSymbol(")") && depth == 0)
    while (inside(tokens(at))) {
      if (tokens(at).isSymbol("(")) depth += 1
      if (tokens(at).isSymbol(")")) depth -= 1
      if (tokens(at).isWord("AND") && depth == 0) between = false
      if (tokens(at).isWord("BETWEEN")) between = true
      at += 1
    }
    at
  }

  private def isSign(t: Token) =
    t.kind == Token.Symbol && (Operator.bySign.contains(t.text) || Set("+", "-", "*", "/", "%")(t.text))

  private val OfSql = Vector("IN", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "NOT")
}
