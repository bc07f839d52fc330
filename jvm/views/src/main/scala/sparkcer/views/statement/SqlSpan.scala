package sparkcer.views.statement

import sparkcer.engine.ceql.CeqlException

/** A stretch of the text of a statement. It knows its place, so that an error can show it. */
final private[views] case class SqlSpan(statement: String, start: Int, end: Int) {
  def text: String = statement.substring(start, end)
  def isEmpty: Boolean = start >= end

  /** The stretch from `from` to `until`, counted from the start of this one. */
  def part(from: Int, until: Int): SqlSpan = SqlSpan(statement, start + from, start + until)

  /** @param key
    *   of the error in the catalogue
    */
  def fail(key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(statement, start, key, parameters: _*)
}
