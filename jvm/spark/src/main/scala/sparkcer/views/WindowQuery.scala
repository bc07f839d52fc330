package sparkcer.views

import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.types.{DataType, DecimalType, LongType}

import sparkcer.spark.Durations

/** Aggregates over a sliding or hopping window (Section 5.2), over *panes*: the longest stretches of which both window
  * and slide are made.
  *
  * All but one form of aggregate are *distributive*: the helper has them for each pane, and the view merges those of
  * its window. Sums, counts and averages of exact types are *subtractable*: the helper has them since a group appeared,
  * and the view takes the difference between two panes, whatever lies between.
  *
  * A group that is not seen for a whole window leaves the prefix sums, and begins anew when it returns. So that a later
  * window subtracts nothing of its former life, the helper counts the panes of this one (`age`): what lies a window
  * back belongs to it if it is that old.
  */
final private[views] class WindowQuery(query: ViewQuery) {
  import Translate.select

  private val length = query.source.length
  private val (window, slide) = WindowQuery.sizes(query.window.get, length, query.sourceText)
  private val pane = BigInt(window).gcd(BigInt(slide)).toLong

  /** Both in panes. */
  private val (wide, step) = (window / pane, slide / pane)

  private val where = query.where.map { w =>
    val e = new SqlExpression(w)
    if (e.aggregates.nonEmpty) w.fail("WHERE is about single rows; conditions on aggregates stand in HAVING.")
    e.attributes.foreach(query.checkColumn)
    s"WHERE ${w.text}"
  }

  private val subtracts = wide > 1 && new Aggregates(query, new FreshNames(Nil), false).calls.forall(_.subtractable)
  private val names = new FreshNames(query.groups.map(_.name) ++ Seq("Cur", "Old"))
  private val aggregates = new Aggregates(query, names, needsValues = subtracts)
  private val output = new Output(query, aggregates)
  if (aggregates.calls.isEmpty)
    query.window.get.fail("a window needs an aggregate: count, sum, avg, min or max in SELECT.")

  private val view = quoteIfNeeded(query.name)
  private val helper = quoteIfNeeded(s"${query.name}_helper")
  private val groups = query.groups.map(_.text)
  private val groupBy = if (groups.isEmpty) None else Some(s"GROUP BY ${groups.mkString(", ")}")

  /** The source's parts of one pane. */
  private def source(part: String): String = {
    val n = pane / length
    s"${query.sourceText}[${if (n == 1) part else s"$part*$n..$part*$n+${n - 1}"}]"
  }

  /** A helper's subscript, by its distance from the last pane of the window. */
  private def ending(part: String, back: Long): String = {
    val shift = step - 1 - back
    (if (step == 1) part else s"$part*$step") + (if (shift == 0) "" else f"$shift%+d")
  }

  private def aggregate(k: Kept): String = k.kind match {
    case Kept.Rows          => "count(*)"
    case Kept.Values        => s"count(${k.argument.get.span.text})"
    case Kept.Sum if k.wide => s"sum(CAST(${k.argument.get.span.text} AS DECIMAL(20,0)))"
    case Kept.Sum           => s"sum(${k.argument.get.span.text})"
    case Kept.Min           => s"min(${k.argument.get.span.text})"
    case Kept.Max           => s"max(${k.argument.get.span.text})"
  }

  private object Distributive {
    def helperQuery(part: String): Seq[String] =
      select(groups ++ aggregates.columns.map(k => s"${aggregate(k)} AS ${k.text}")) ++
        Seq(s"FROM ${source(part)}") ++ where ++ groupBy

    private def merged(k: Kept): String = k.kind match {
      case Kept.Min => s"min(${k.text})"
      case Kept.Max => s"max(${k.text})"
      case _        => s"sum(${k.text})"
    }

    def viewQuery(part: String): Seq[String] = {
      val last = ending(part, 0)
      val range = if (wide == 1) last else s"${ending(part, wide - 1)}..$last"
      select(output.items(merged)) ++ Seq(s"FROM $helper[$range]") ++ groupBy ++ output
        .having(merged)
        .map(h => s"HAVING $h")
    }
  }

  private object Subtractable {
    aggregates.rows: Unit
    private val age = names.fresh("age")
    private val idle = names.fresh("idle")
    private val lives = groups.nonEmpty

    /** The type of a cumulated sum. It holds what no group lives to see: of INT, four billion rows of the largest. */
    private def cumulated(k: Kept): Option[DataType] = Some(k).filter(_.kind == Kept.Sum).map { _ =>
      SqlExpression.dataType(k.argument.get.span.text, query.source.schema, k.argument.get.span) match {
        case d: DecimalType => DecimalType(37, d.scale)
        case LongType       => DecimalType(38, 0)
        case _              => LongType
      }
    }

    private def stored(k: Kept, value: String): String =
      cumulated(k).filter(_ != LongType).fold(value)(t => s"CAST($value AS ${t.sql})")

    private def fresh(part: String): Seq[String] =
      select(groups ++ aggregates.columns.map { k =>
        val value = if (k.kind == Kept.Sum) s"coalesce(${aggregate(k)}, 0)" else aggregate(k)
        s"${stored(k, value)} AS ${k.text}"
      } ++ (if (lives) Seq(s"0 AS $age", s"0 AS $idle") else Nil)) ++
        Seq(s"FROM ${source(part)}") ++ where ++ groupBy

    def initialize(part: String): Seq[String] = fresh(part)

    def update(part: String): Seq[String] = {
      val before = select(
        groups ++ aggregates.columns.map(_.text) ++
          (if (lives) Seq(s"$age + 1 AS $age", s"$idle + 1 AS $idle") else Nil)
      ) ++
        Seq(s"FROM $helper[$part-1]") ++
        (if (lives) Seq(s"WHERE $idle + 1 < $wide") else Nil)
      select(
        groups ++ aggregates.columns.map(k => s"${stored(k, s"sum(${k.text})")} AS ${k.text}") ++
          (if (lives) Seq(s"max($age) AS $age", s"min($idle) AS $idle") else Nil)
      ) ++
        Seq("FROM (") ++ (fresh(part) ++ Seq("UNION ALL") ++ before).map("  " + _) ++ Seq(")") ++ groupBy
    }

    def viewQuery(part: String): Seq[String] = {
      val difference = query.groups.map(g => s"Cur.${g.text} AS ${g.text}") ++
        aggregates.columns.map(k => s"Cur.${k.text} - coalesce(Old.${k.text}, 0) AS ${k.text}")
      val same =
        if (lives) query.groups.map(g => s"Cur.${g.text} <=> Old.${g.text}") :+ s"Cur.$age >= $wide" else Vector("true")
      val inner = select(difference) ++ Seq(
        s"FROM $helper[${ending(part, 0)}] AS Cur",
        s"LEFT OUTER JOIN $helper[${ending(part, wide)}] AS Old ON ${same.mkString(" AND ")}"
      )
      val conditions =
        (if (lives) Seq(s"${aggregates.rows.text} > 0") else Nil) ++ output.having(_.text).map(h => s"($h)")
      select(output.items(_.text)) ++ Seq("FROM (") ++ inner.map("  " + _) ++ Seq(")") ++
        (if (conditions.isEmpty) Nil else Seq(s"WHERE ${conditions.mkString(" AND ")}"))
    }
  }

  def statements: Seq[String] =
    if (subtracts)
      Seq(
        Translate.viewDF(helper, pane, Subtractable.initialize, Subtractable.update),
        Translate.viewDF(view, slide, Subtractable.viewQuery, Subtractable.viewQuery)
      )
    else
      Seq(
        Translate.viewDF(helper, pane, Distributive.helperQuery, Distributive.helperQuery),
        Translate.viewDF(view, slide, Distributive.viewQuery, Distributive.viewQuery)
      )
}

private[views] object WindowQuery {
  def apply(query: ViewQuery): Seq[String] = new WindowQuery(query).statements

  /** The seconds of `WINDOW n units [SLIDE m units]`. */
  private def sizes(span: SqlSpan, length: Long, source: String): (Long, Long) = {
    val tokens = SqlToken.of(span)
    val slide = tokens.indexWhere(_.is("SLIDE"))
    def between(from: Int, until: Int) =
      if (from >= until)
        tokens(from - 1).span.fail(s"a time such as 60 minutes is missing after ${tokens(from - 1).text}.")
      else seconds(SqlSpan(span.statement, tokens(from).span.start, tokens(until - 1).span.end), length, source)
    if (slide < 0) (between(1, tokens.length), length)
    else (between(1, slide), between(slide + 1, tokens.length))
  }

  private def seconds(span: SqlSpan, length: Long, source: String): Long = {
    val interval =
      Durations.interval(span.text).getOrElse(span.fail(s"'${span.text}' is no time such as 60 minutes."))
    val micros = Durations
      .fixed(interval)
      .filter(_ > 0)
      .getOrElse(span.fail(s"'${span.text}' is no fixed time such as 60 minutes."))
    if (micros % (length * 1000000L) != 0)
      span.fail(s"${span.text} is no multiple of $length seconds, the length of a part of $source.", "CER_UNSUPPORTED")
    micros / 1000000L
  }
}
