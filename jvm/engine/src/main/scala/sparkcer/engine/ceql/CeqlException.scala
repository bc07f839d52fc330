package sparkcer.engine.ceql

import java.util.Locale

import sparkcer.engine.error.{Catalogued, Errors}

/** A query that cannot be run as written.
  *
  * @param key
  *   of the error in the catalogue, see [[sparkcer.engine.error.Errors]]
  * @param problem
  *   one sentence or two: what is wrong, what was expected, what to do
  * @param text
  *   the query, and `offset` the place in it, from 0
  */
final class CeqlException private (val key: String, val problem: String, val text: String, val offset: Int)
    extends RuntimeException(CeqlException.render(Errors.condition(key), problem, text, offset))
    with Catalogued {

  /** @param parameters of the error's message */
  def this(text: String, offset: Int, key: String, parameters: (String, String)*) =
    this(key, Errors.message(key, parameters: _*), text, offset)

  def condition: String = Errors.condition(key)
}

object CeqlException {

  /** What the user reads: the sentence with line and column, the line itself, and a caret under the place. */
  private def render(condition: String, problem: String, text: String, offset: Int): String = {
    val at = math.min(offset, text.length)
    val line = text.substring(0, at).count(_ == '\n') + 1
    val lineStart = text.lastIndexOf('\n', at - 1) + 1
    val lineEnd = text.indexOf('\n', at) match { case -1 => text.length; case i => i }
    val column = at - lineStart + 1
    // A long line is shown around the place only.
    val from = math.max(lineStart, at - Shown)
    val until = math.min(lineEnd, at + Shown)
    val head = if (from > lineStart) "…" else ""
    val tail = if (until < lineEnd) "…" else ""
    val shown = head + text.substring(from, until).replace('\t', ' ').replace('\r', ' ') + tail
    s"[$condition] Line $line, column $column: $problem\n$shown\n${" " * (head.length + at - from)}^"
  }

  private val Shown = 100

  /** The name nearest to `word` that a typist may have meant, if one is near. */
  def nearest(word: String, names: Iterable[String]): Option[String] = {
    val near =
      names.filter(_ != word).map(n => (distance(word.toLowerCase(Locale.ROOT), n.toLowerCase(Locale.ROOT)), n))
    // Of a single letter nothing but its case can be mistaken.
    def most(n: String) = { val short = math.min(word.length, n.length); if (short < 2) 0 else math.max(1, short / 3) }
    near.minOption.collect { case (d, n) if d <= most(n) => n }
  }

  /** `" Did you mean 'x'?"`, or nothing. */
  def suggestion(word: String, names: Iterable[String]): String =
    nearest(word, names).fold("")(n => s" Did you mean '$n'?")

  /** `x, y`, or `none`. */
  def list(names: Iterable[String]): String = if (names.isEmpty) "none" else names.mkString(", ")

  /** Edit distance in which a swap of neighbours counts once. */
  private def distance(a: String, b: String): Int = {
    val d = Array.tabulate(a.length + 1, b.length + 1)((i, j) => if (i == 0) j else if (j == 0) i else 0)
    for (i <- 1 to a.length; j <- 1 to b.length) {
      val change = if (a(i - 1) == b(j - 1)) 0 else 1
      d(i)(j) = math.min(math.min(d(i - 1)(j) + 1, d(i)(j - 1) + 1), d(i - 1)(j - 1) + change)
      if (i > 1 && j > 1 && a(i - 1) == b(j - 2) && a(i - 2) == b(j - 1))
        d(i)(j) = math.min(d(i)(j), d(i - 2)(j - 2) + 1)
    }
    d(a.length)(b.length)
  }
}
