package sparkcer.views.translate

import org.apache.spark.sql.types.{DataType, DecimalType, LongType}

import Translate.select

/** Sums, counts and averages of exact types: the helper has them since a group appeared, and the view takes the
  * difference between two panes, whatever lies between (View6 of the paper).
  *
  * A group that is not seen for a whole window leaves the prefix sums, and begins anew when it returns. So that a later
  * window subtracts nothing of its former life, the helper counts the panes of this one (`age`): what lies a window
  * back belongs to it if it is that old.
  */
final private[views] class PrefixSums(query: ViewQuery, protected val panes: Panes) extends WindowForm {
  private val names = new FreshNames(query.groups.map(_.name) ++ Seq("Cur", "Old"))
  private val aggregates = new Aggregates(query, names, needsValues = true)
  private val output = new OutputClauses(query, aggregates)
  aggregates.rows: Unit
  private val age = names.fresh("age")
  private val idle = names.fresh("idle")
  private val lives = panes.groups.nonEmpty

  /** The type of a cumulated sum. It holds what no group lives to see: of INT, four billion rows of the largest. */
  private def cumulated(k: Kept): DataType =
    if (k.kind != Kept.Sum) LongType
    else
      SqlExpression.dataType(k.argument.get.span.text, query.source.schema, k.argument.get.span) match {
        case d: DecimalType => DecimalType(37, d.scale)
        case LongType       => DecimalType(38, 0)
        case _              => LongType
      }

  private def stored(k: Kept, value: String): String = cumulated(k) match {
    case LongType => value
    case other    => s"CAST($value AS ${other.sql})"
  }

  private def onePane(part: String): Seq[String] =
    select(panes.groups ++ aggregates.columns.map { k =>
      val value = if (k.kind == Kept.Sum) s"coalesce(${panes.aggregate(k)}, 0)" else panes.aggregate(k)
      s"${stored(k, value)} AS ${k.text}"
    } ++ ages("0", "0")) ++ panes.from(part) ++ panes.groupBy

  /** A pane's rows as if each were one. They need no aggregation of their own, but their sums must be of a fast type.
    */
  private def rows(part: String): Seq[String] =
    select(panes.groups ++ aggregates.columns.map { k =>
      val value = k.kind match {
        case Kept.Rows => "1L"
        case Kept.Sum  => s"CAST(coalesce(${k.argument.get.span.text}, 0) AS BIGINT)"
        case _         => s"CASE WHEN ${k.argument.get.span.text} IS NULL THEN 0L ELSE 1L END"
      }
      s"$value AS ${k.text}"
    } ++ ages("0", "0")) ++ panes.from(part)

  private def ages(a: String, i: String) = if (lives) Seq(s"$a AS $age", s"$i AS $idle") else Nil

  protected def initializeHelper(part: String): Seq[String] = onePane(part)

  protected def updateHelper(part: String): Seq[String] = {
    val fresh = if (aggregates.columns.forall(cumulated(_) == LongType)) rows(part) else onePane(part)
    val before = select(panes.groups ++ aggregates.columns.map(_.text) ++ ages(s"$age + 1", s"$idle + 1")) ++
      Seq(s"FROM ${panes.helper}[$part-1]") ++
      (if (lives) Seq(s"WHERE $idle + 1 < ${panes.wide}") else Nil)
    select(
      panes.groups ++ aggregates.columns.map(k => s"${stored(k, s"sum(${k.text})")} AS ${k.text}") ++
        ages(s"max($age)", s"min($idle)")
    ) ++ Seq("FROM (") ++ (fresh ++ Seq("UNION ALL") ++ before).map("  " + _) ++ Seq(")") ++ panes.groupBy
  }

  private def window(part: String): Seq[String] = {
    val difference = panes.groups.map(g => s"Cur.$g AS $g") ++
      aggregates.columns.map(k => s"Cur.${k.text} - coalesce(Old.${k.text}, 0) AS ${k.text}")
    val same =
      if (lives) panes.groups.map(g => s"Cur.$g <=> Old.$g") :+ s"Cur.$age >= ${panes.wide}" else Vector("true")
    val inner = select(difference) ++ Seq(
      s"FROM ${panes.helper}[${panes.ending(part, 0)}] AS Cur",
      s"LEFT OUTER JOIN ${panes.helper}[${panes.ending(part, panes.wide)}] AS Old ON ${same.mkString(" AND ")}"
    )
    val conditions =
      (if (lives) Seq(s"${aggregates.rows.text} > 0") else Nil) ++ output.having(_.text).map(h => s"($h)")
    select(output.items(_.text)) ++ Seq("FROM (") ++ inner.map("  " + _) ++ Seq(")") ++
      (if (conditions.isEmpty) Nil else Seq(s"WHERE ${conditions.mkString(" AND ")}"))
  }

  protected def initializeView(part: String): Seq[String] = window(part)
  protected def updateView(part: String): Seq[String] = window(part)
}
