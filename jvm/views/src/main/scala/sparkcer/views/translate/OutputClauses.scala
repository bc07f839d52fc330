package sparkcer.views.translate

import sparkcer.engine.ceql.CeqlException

/** The SELECT and HAVING clauses of the view, which reads the columns of its helper view. */
final private[views] class OutputClauses(query: ViewQuery, aggregates: Aggregates) {
  private val named: Vector[(ViewQuery.SelectItem, String)] = query.items.map { item =>
    item.expression.outside.foreach(a => if (query.group(a.path).isEmpty) notGrouped(a, Nil))
    item -> item.alias.map(_.text).getOrElse(implied(item))
  }
  named.zipWithIndex.foreach { case ((item, name), i) =>
    if (named.take(i).exists(n => ViewQuery.same(n._2, name)))
      item.expression.span.fail("CER_NAME_COLLISION.VIEW_COLUMNS", "name" -> name)
  }
  query.having.foreach(_.outside.foreach { a =>
    if (query.group(a.path).isEmpty && aliased(a).isEmpty) notGrouped(a, named.map(_._2))
  })

  private def implied(item: ViewQuery.SelectItem): String =
    if (item.expression.isAggregate) aggregates.calls.find(_.aggregate == item.expression.aggregates.head).get.implied
    else
      item.expression.attributes match {
        case Vector(one) if one.span == item.expression.span => one.span.text
        case _                                               => item.expression.span.fail("CER_SYNTAX.VIEW_COLUMN_NAME")
      }

  private def notGrouped(a: SqlExpression.ColumnReference, more: Seq[String]): Nothing = {
    val near = CeqlException.suggestion(a.span.text, query.groups.map(_.name) ++ more)
    a.span.fail("CER_UNKNOWN_COLUMN.VIEW_NOT_GROUPED", "column" -> a.span.text, "suggestion" -> near)
  }

  /** The item of SELECT that has this name. */
  private def aliased(a: SqlExpression.ColumnReference): Option[ViewQuery.SelectItem] =
    named.collectFirst { case (item, name) if a.path.length == 1 && ViewQuery.same(name, a.span.text) => item }

  /** @param of
    *   the SQL for the value of a helper column
    */
  def items(of: HelperColumn => String): Vector[String] = named.map { case (item, name) =>
    val text = item.expression.edited(aggregates.replaced(item.expression, of))
    if (text == name) text else s"$text AS $name"
  }

  def having(of: HelperColumn => String): Option[String] = query.having.map { h =>
    val aliases = h.outside.flatMap(a =>
      aliased(a).map(item => a.span -> s"(${item.expression.edited(aggregates.replaced(item.expression, of))})")
    )
    h.edited(aggregates.replaced(h, of) ++ aliases)
  }
}
