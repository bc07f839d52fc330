package sparkcer.internal.bind

import sparkcer.engine.ceql.{Lexer, Name}

/** A name in brackets, as the query writes it: a column, or a column and fields in it.
  *
  * @param whole
  *   the column, if there is one of exactly this name: it may have dots in its name
  * @param parts
  *   the names between the dots
  */
final private[sparkcer] case class ColumnPath(whole: String, parts: Vector[String])

private[sparkcer] object ColumnPath {
  def apply(name: Name): ColumnPath = {
    val parts = Lexer.path(name.value)
    ColumnPath(if (parts.length == 1) parts.head else name.value, parts)
  }
}
