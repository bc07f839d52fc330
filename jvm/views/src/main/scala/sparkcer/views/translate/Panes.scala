package sparkcer.views.translate

import org.apache.spark.sql.catalyst.util.quoteIfNeeded

import sparkcer.internal.bind.Durations
import sparkcer.views.statement.{SqlSpan, SqlToken}

/** The panes of a window, and the SQL that all forms of the helper view share. */
final private[views] class Panes(query: ViewQuery) {
  private val length = query.source.length
  private val (window, slideSeconds) = Panes.sizes(query.window.get, length, query.sourceText)

  /** The slide and the length of a pane, in seconds. */
  val slide: Long = slideSeconds
  val pane: Long = BigInt(window).gcd(BigInt(slide)).toLong

  /** The window and the slide, in panes. */
  val wide: Long = window / pane
  private val step = slide / pane

  val view: String = quoteIfNeeded(query.name)
  val helper: String = quoteIfNeeded(s"${query.name}_helper")
  val groups: Vector[String] = query.groups.map(_.text)
  val groupBy: Option[String] = if (groups.isEmpty) None else Some(s"GROUP BY ${groups.mkString(", ")}")

  private val where = query.where.map { w =>
    val e = new SqlExpression(w)
    if (e.aggregates.nonEmpty) w.fail("CER_SYNTAX.VIEW_AGGREGATE_IN_WHERE")
    e.attributes.foreach(query.checkColumn)
    s"WHERE ${w.text}"
  }

  /** The rows of the source in one pane. */
  def from(part: String): Seq[String] = {
    val n = pane / length
    s"FROM ${query.sourceText}[${if (n == 1) part else s"$part*$n..$part*$n+${n - 1}"}]" +: where.toSeq
  }

  /** The subscript of the pane that is so many panes before the last one of the window. */
  def ending(part: String, back: Long): String = {
    val shift = step - 1 - back
    (if (step == 1) part else s"$part*$step") + (if (shift == 0) "" else if (shift > 0) s"+$shift" else s"$shift")
  }

  /** The parts of the helper view that make up a window. */
  def whole(part: String): String = {
    val last = ending(part, 0)
    s"$helper[${if (wide == 1) last else s"${ending(part, wide - 1)}..$last"}]"
  }

  /** The SQL for a column of the helper view, over the rows of a pane. */
  def aggregate(k: HelperColumn): String = k.kind match {
    case HelperColumn.Rows          => "count(*)"
    case HelperColumn.Values        => s"count(${k.argument.get.span.text})"
    case HelperColumn.Sum if k.wide => s"sum(CAST(${k.argument.get.span.text} AS DECIMAL(20,0)))"
    case HelperColumn.Sum           => s"sum(${k.argument.get.span.text})"
    case HelperColumn.Min           => s"min(${k.argument.get.span.text})"
    case HelperColumn.Max           => s"max(${k.argument.get.span.text})"
  }

  /** The columns of the helper view, over the rows of a pane. */
  def values(columns: Seq[HelperColumn]): Seq[String] = columns.map(k => s"${aggregate(k)} AS ${k.text}")

  /** The SQL for the value of several panes together. */
  private def merged(k: HelperColumn): String = k.kind match {
    case HelperColumn.Min => s"min(${k.text})"
    case HelperColumn.Max => s"max(${k.text})"
    case _                => s"sum(${k.text})"
  }

  /** The query of the view, which merges rows of panes. */
  def merging(output: OutputClauses, from: Seq[String]): Seq[String] =
    Translate.select(output.items(merged)) ++ from ++ groupBy ++ output.having(merged).map(h => s"HAVING $h")
}

private[views] object Panes {

  /** The seconds of `WINDOW n units [SLIDE m units]`. */
  private def sizes(span: SqlSpan, length: Long, source: String): (Long, Long) = {
    val tokens = SqlToken.of(span)
    val slide = tokens.indexWhere(_.is("SLIDE"))
    def between(from: Int, until: Int) =
      if (from >= until)
        tokens(from - 1).span.fail("CER_SYNTAX.VIEW_DURATION_MISSING", "word" -> tokens(from - 1).text)
      else seconds(SqlSpan(span.statement, tokens(from).span.start, tokens(until - 1).span.end), length, source)
    if (slide < 0) (between(1, tokens.length), length)
    else (between(1, slide), between(slide + 1, tokens.length))
  }

  private def seconds(span: SqlSpan, length: Long, source: String): Long = {
    val interval =
      Durations.interval(span.text).getOrElse(span.fail("CER_SYNTAX.VIEW_DURATION", "text" -> span.text))
    val micros = Durations
      .fixed(interval)
      .filter(_ > 0)
      .getOrElse(span.fail("CER_SYNTAX.VIEW_DURATION_FIXED", "text" -> span.text))
    if (micros % (length * 1000000L) != 0)
      span.fail(
        "CER_UNSUPPORTED.VIEW_MULTIPLE",
        "text" -> span.text,
        "length" -> Durations.words(length),
        "source" -> source
      )
    micros / 1000000L
  }
}
