package sparkcer.views.translate

import java.util.Locale

import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.internal.SQLConf

import sparkcer.engine.ceql.{CeqlException, Token}
import sparkcer.views.statement.{SqlSpan, SqlToken}

/** A view that is defined by a query:
  * {{{
  * CREATE VIEW name AS SELECT items FROM source [PATTERN […] | [WINDOW …]] WHERE … GROUP BY … HAVING …
  * }}}
  * split into its clauses. [[PatternQuery]] and [[WindowQuery]] translate it.
  */
final private[views] case class ViewQuery(
    name: String,
    items: Vector[ViewQuery.SelectItem],
    sourceName: SqlSpan,
    source: SourceTable,
    pattern: Option[SqlSpan],
    window: Option[SqlSpan],
    where: Option[SqlSpan],
    groups: Vector[ViewQuery.GroupColumn],
    having: Option[SqlExpression]
) {
  def sourceText: String = sourceName.text

  /** The expressions that can have aggregates. */
  def expressions: Vector[SqlExpression] = items.map(_.expression) ++ having

  /** Does the path begin with a column of the source? */
  def isColumn(path: Seq[String]): Boolean = source.schema.fieldNames.exists(ViewQuery.same(_, path.head))

  def checkColumn(a: SqlExpression.ColumnReference): Unit =
    if (!isColumn(a.path)) ViewQuery.unknownColumn(a.span, a.path.head, sourceText, source)

  def group(path: Seq[String]): Option[ViewQuery.GroupColumn] =
    groups.find(g => path.length == 1 && ViewQuery.same(g.name, path.head))
}

private[views] object ViewQuery {

  /** An expression of SELECT, and the name after AS. */
  final case class SelectItem(expression: SqlExpression, alias: Option[SqlToken])

  /** A column of GROUP BY. */
  final case class GroupColumn(name: String) {
    def text: String = quoteIfNeeded(name)
  }

  def same(a: String, b: String): Boolean = SQLConf.get.resolver(a, b)

  private val Clauses = Vector("WHERE", "GROUP", "HAVING")
  private val Unwanted = Vector("ORDER", "SORT", "LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "QUALIFY")

  private def unknownColumn(span: SqlSpan, column: String, sourceText: String, source: SourceTable): Nothing = {
    val columns = source.schema.fieldNames
    span.fail(
      "CER_UNKNOWN_COLUMN.VIEW_COLUMN",
      "source" -> sourceText,
      "column" -> column,
      "columns" -> columns.mkString(", "),
      "suggestion" -> CeqlException.suggestion(column, columns)
    )
  }

  def apply(written: String, sources: String => Option[SourceTable]): ViewQuery = {
    val statement = WindowAlias.removed(written)
    val whole = SqlSpan(statement, 0, statement.length)
    val all = SqlToken.of(whole)
    val tokens = if (all.lastOption.exists(_.text == ";")) all.init else all
    val end = tokens.lastOption.fold(0)(_.span.end)
    def at(i: Int): SqlToken =
      tokens.lift(i).getOrElse(SqlToken(Token(Token.End, "", end, end), SqlSpan(statement, end, end)))
    def expect(i: Int, word: String): Unit =
      if (!at(i).is(word)) at(i).span.fail("CER_SYNTAX.VIEW_EXPECTED", "expected" -> word, "found" -> shown(at(i)))
    expect(0, "CREATE")
    expect(1, "VIEW")
    if (!at(2).isName) at(2).span.fail("CER_SYNTAX.VIEW_NAME", "found" -> shown(at(2)))
    expect(3, "AS")
    expect(4, "SELECT")
    val outer = SqlToken.outer(tokens.drop(5))
    val from =
      outer.find(_.is("FROM")).map(tokens.indexOf).getOrElse(at(tokens.length).span.fail("CER_SYNTAX.VIEW_FROM"))
    if (!at(from + 1).isName) at(from + 1).span.fail("CER_SYNTAX.VIEW_SOURCE", "found" -> shown(at(from + 1)))
    val sourceName = at(from + 1)
    val isPattern = at(from + 2).is("PATTERN")
    val open = if (isPattern) from + 3 else from + 2
    if (at(open).text != "[" || !isPattern && !at(open + 1).is("WINDOW"))
      at(from + 2).span.fail("CER_SYNTAX.VIEW_PATTERN_OR_WINDOW", "source" -> sourceName.text)
    val close = tokens.indexWhere(_.text == "]", open)
    if (close < 0) at(open).span.fail("CER_SYNTAX.UNCLOSED_BRACKET")
    val brackets = SqlSpan(statement, at(open).span.end, at(close).span.start)
    val source = sources(sourceName.name).getOrElse(
      sourceName.span.fail("CER_UNKNOWN_STREAM.VIEW_SOURCE", "name" -> sourceName.text)
    )
    val clauses = clausesOf(statement, tokens.drop(close + 1), end)
    ViewQuery(
      at(2).name,
      SqlToken.split(SqlSpan(statement, at(4).span.end, at(from).span.start))(_.text == ",").map(item),
      sourceName.span,
      source,
      if (isPattern) Some(brackets) else None,
      if (isPattern) None else Some(brackets),
      clauses.get("WHERE"),
      clauses.get("GROUP").fold(Vector.empty[GroupColumn])(groupsOf(_, sourceName.text, source)),
      clauses.get("HAVING").map(new SqlExpression(_))
    )
  }

  /** The clauses after the source, by their first words. */
  private def clausesOf(statement: String, tokens: Vector[SqlToken], end: Int): Map[String, SqlSpan] = {
    val outer = SqlToken.outer(tokens)
    outer.find(t => Unwanted.exists(t.is)).foreach { t =>
      t.span.fail("CER_UNSUPPORTED.VIEW_CLAUSE", "clause" -> t.text.toUpperCase(Locale.ROOT))
    }
    val heads = outer.filter(t => Clauses.exists(t.is))
    tokens.headOption.filterNot(heads.headOption.contains).foreach { t =>
      t.span.fail("CER_SYNTAX.VIEW_CLAUSE", "found" -> shown(t))
    }
    val order = heads.map(h => Clauses.indexWhere(h.is))
    order.zip(order.drop(1)).zip(heads.drop(1)).foreach { case ((a, b), head) =>
      if (b <= a) head.span.fail("CER_SYNTAX.VIEW_CLAUSES")
    }
    heads
      .zip(heads.drop(1).map(_.span.start) :+ end)
      .map { case (head, until) =>
        head.text.toUpperCase(Locale.ROOT) -> SqlToken.trimmed(SqlSpan(statement, head.span.end, until))
      }
      .toMap
  }

  private def groupsOf(span: SqlSpan, source: String, from: SourceTable): Vector[GroupColumn] = {
    val by = SqlToken.of(span).headOption.filter(_.is("BY")).getOrElse(span.fail("CER_SYNTAX.VIEW_GROUP_BY"))
    SqlToken.split(SqlSpan(span.statement, by.span.end, span.end))(_.text == ",").map { column =>
      SqlToken.of(column) match {
        case Vector(name) if name.isName =>
          from.schema.fieldNames
            .find(same(_, name.name))
            .map(GroupColumn(_))
            .getOrElse(unknownColumn(column, name.name, source, from))
        case _ => column.fail("CER_UNSUPPORTED.VIEW_GROUP_BY")
      }
    }
  }

  /** An item can end with `AS name`, or with a name alone. */
  private def item(span: SqlSpan): SelectItem = {
    val tokens = SqlToken.of(span)
    if (tokens.isEmpty) span.fail("CER_SYNTAX.VIEW_EXPRESSION")
    if (tokens.last.text == "*") span.fail("CER_UNSUPPORTED.VIEW_STAR")
    if (!SqlExpression.isNamed(span)) SelectItem(new SqlExpression(span), None)
    else {
      val as = tokens(tokens.length - 2).is("AS")
      val until = tokens(tokens.length - (if (as) 3 else 2)).span.end
      SelectItem(new SqlExpression(SqlSpan(span.statement, span.start, until)), Some(tokens.last))
    }
  }

  private def shown(t: SqlToken): String = if (t.text.isEmpty) "the end of the statement" else s"'${t.text}'"
}
