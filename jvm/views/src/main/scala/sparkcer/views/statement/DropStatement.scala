package sparkcer.views.statement

/** `DROP VIEW [IF EXISTS] name`. */
private[views] final case class DropStatement(name: String, ifExists: Boolean)

private[views] object DropStatement {
  def apply(text: StatementText): DropStatement = {
    val ifExists = text.tokens.lift(2).exists(_.isWord("IF")) && text.tokens.lift(3).exists(_.isWord("EXISTS"))
    text.tokens.drop(if (ifExists) 4 else 2) match {
      case Vector(name) if name.isName => DropStatement(name.text, ifExists)
      case other                       =>
        val place = StatementLexer.place(text.text, other.lift(1).fold(text.text.length)(_.start))
        throw StatementParser.wrong("DROP", s"the statement, $place")
    }
  }
}
