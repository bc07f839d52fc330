package sparkcer.views.statement

import sparkcer.engine.ceql.Token

/** Finds the part references of a query. They are where a relation can be: after FROM, JOIN or TABLE, and after a comma
  * in a FROM clause. Elsewhere, `a[1]` is an element of an array.
  */
private[views] object PartQueryParser {

  /** @param variable
    *   the name of the subscript of the part that is computed. Queries that only read views have none, and their
    *   subscripts are numbers.
    */
  def apply(written: String, tokens: Vector[Token], variable: Option[String], clause: String): PartQuery = {
    val text = SlashTimes(written, tokens)
    val found = starts(tokens).flatMap(at => reference(text, tokens, at, variable, clause))
    val start = tokens.head.start
    val sql = new StringBuilder(text.substring(0, start).map(c => if (c == '\n') c else ' '))
    var done = start
    found.foreach { case (r, from, to) =>
      sql ++= text.substring(done, from)
      // The identifier has two backticks and no `]`. It also takes the place of the space before it, so that everything
      // after it keeps its column.
      if (sql.nonEmpty && sql.last == ' ' && from > start) sql.setLength(sql.length - 1)
      sql ++= s"`${r.key.replace("`", "``")}`"
      done = to
    }
    sql ++= text.substring(done, tokens.last.end)
    val timestamps = tokens.exists(t => t.isName && t.text.equalsIgnoreCase(PartQuery.TimestampColumn))
    PartQuery(sql.toString, found.map(_._1), timestamps, variable.getOrElse(""), clause)
  }

  /** The numbers of the tokens where a relation can begin. Each pair of parentheses has its own FROM clause. The FROM
    * of `extract(… FROM …)` and of `IS DISTINCT FROM` begins no clause.
    */
  private def starts(tokens: Vector[Token]): Vector[Int] = {
    final class Level(var query: Boolean, var from: Boolean)
    var levels = List(new Level(false, false))
    var expected = false
    val starts = Vector.newBuilder[Int]
    tokens.zipWithIndex.foreach { case (t, at) =>
      val level = levels.head
      val first = at == 0 || tokens(at - 1).isSymbol("(")
      val was = expected
      expected = false
      if (t.isSymbol("(")) {
        levels = new Level(was, was) :: levels
        expected = was
      } else if (t.isSymbol(")")) { if (levels.tail.nonEmpty) levels = levels.tail }
      else if (t.isSymbol(",")) expected = level.from
      else if (t.isWord("SELECT")) { level.query = true; level.from = false }
      else if (t.isWord("FROM")) {
        val distinct =
          at > 1 && tokens(at - 1).isWord("DISTINCT") && (tokens(at - 2).isWord("IS") || tokens(at - 2).isWord("NOT"))
        if ((level.query || first) && !distinct) { level.from = true; level.query = true; expected = true }
      } else if (t.isWord("JOIN") || t.isWord("TABLE")) expected = true
      else if (was && t.isWord("LATERAL")) expected = true
      else if (Ends.exists(t.isWord)) level.from = false
      else if (was && t.isName) starts += at
    }
    starts.result()
  }

  private val Ends =
    Vector(
      "WHERE",
      "GROUP",
      "HAVING",
      "ORDER",
      "SORT",
      "CLUSTER",
      "DISTRIBUTE",
      "LIMIT",
      "OFFSET",
      "UNION",
      "EXCEPT",
      "MINUS",
      "INTERSECT",
      "WINDOW",
      "QUALIFY"
    )

  private def reference(
      text: String,
      tokens: Vector[Token],
      at: Int,
      variable: Option[String],
      clause: String
  ): Option[(PartReference, Int, Int)] =
    if (!tokens.lift(at + 1).exists(_.isSymbol("["))) None
    else {
      val name = tokens(at)
      def fail(at: Int, error: String, parameters: (String, String)*): Nothing =
        throw StatementParser.wrong(error, s"the $clause, ${StatementLexer.place(text, at)}", parameters: _*)
      val close = tokens.indexWhere(_.isSymbol("]"), at)
      if (close < 0)
        fail(name.start, "UNCLOSED_REFERENCE", "name" -> text.substring(name.start, name.end))
      val inside = tokens.slice(at + 2, close)
      val whole = text.substring(name.start, tokens(close).end)
      val dots = inside.indexWhere(_.isSymbol(".."))
      val (low, high) = if (dots < 0) (inside, inside) else (inside.take(dots), inside.drop(dots + 1))
      def subscript(part: Vector[Token]) = SubscriptParser(part, variable) match {
        case Right(s)    => s
        case Left(wrong) =>
          fail(wrong.at.getOrElse(name.start), wrong.error, ("reference" -> whole) +: wrong.parameters: _*)
      }
      val r = PartReference(
        name.text,
        subscript(low),
        subscript(high),
        whole,
        whole.stripSuffix("]"),
        StatementLexer.place(text, name.start)
      )
      Some((r, name.start, tokens(close).end))
    }
}
