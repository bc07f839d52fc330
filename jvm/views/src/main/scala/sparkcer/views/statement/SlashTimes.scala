package sparkcer.views.statement

import sparkcer.engine.ceql.Token

/** `PART_TIMESTAMP = "2015/01/01 0:00"`, as the ViewDF paper writes it. Spark reads only `2015-01-01 0:00` as a time.
  */
private[views] object SlashTimes {

  /** The text with such times in Spark's form, where they are compared with PART_TIMESTAMP. It is as long as before. */
  def apply(text: String, tokens: Vector[Token]): String = {
    val plain = new StringBuilder(text)
    for {
      (t, at) <- tokens.zipWithIndex if t.isName && t.text.equalsIgnoreCase(PartQuery.TimestampColumn)
      s <- after(tokens, at + 1) ++ before(tokens, at - 1)
      if Form.matches(text.substring(s.start, s.end))
      n <- s.start until s.end if plain(n) == '/'
    } plain(n) = '-'
    plain.toString
  }

  /** A time alone. */
  def time(text: String): String = if (Form.matches(s"'$text'")) text.replace('/', '-') else text

  private def after(tokens: Vector[Token], from: Int): Vector[Token] = {
    val rest = tokens.drop(from)
    val positive = if (rest.headOption.exists(_.isWord("NOT"))) rest.tail else rest
    if (positive.headOption.exists(_.isWord("BETWEEN")))
      positive.slice(1, 2) ++ (if (positive.lift(2).exists(_.isWord("AND"))) positive.slice(3, 4) else Vector.empty)
    else if (positive.headOption.exists(_.isWord("IN"))) positive.drop(2).takeWhile(!_.isSymbol(")"))
    else if (rest.headOption.exists(isComparison)) rest.dropWhile(isComparison).take(1)
    else Vector.empty
  }

  private def before(tokens: Vector[Token], at: Int): Vector[Token] = {
    val name = if (tokens.lift(at).exists(_.isSymbol("."))) at - 2 else at
    if (tokens.lift(name).exists(isComparison)) tokens.take(name + 1).reverse.dropWhile(isComparison).take(1)
    else Vector.empty
  }

  private def isComparison(t: Token) = Vector("=", "<", ">", "!").exists(t.isSymbol)

  private val Form = """(['"])\d{4}/\d{1,2}/\d{1,2}( \d{1,2}:\d{1,2}(:\d{1,2}(\.\d+)?)?)?\1""".r
}
