package sparkcer.views.translate

import org.apache.spark.sql.types.{DataType, DecimalType, LongType}

import Translate.select

/** The form for sums, counts and averages of exact types. The helper view has the sums since the group appeared, and
  * the view subtracts the sums of one pane from those of another, like View6 of the ViewDF paper. The cost of an update
  * does not depend on the window.
  *
  * A group without rows for a whole window is dropped from the sums, and starts from zero when it comes back. A window
  * must not subtract sums from before the group was dropped. So the helper view counts the panes since the group
  * appeared (`age`): the pane before the window belongs to the same sums if the group is old enough.
  */
final private[views] class PrefixSums(query: ViewQuery, protected val panes: Panes) extends WindowForm {
  private val names = new FreshNames(query.groups.map(_.name) ++ Seq("Cur", "Old"))
  private val aggregates = new Aggregates(query, names, needsValues = true)
  private val output = new OutputClauses(query, aggregates)
  aggregates.rows: Unit
  private val age = names.fresh("age")
  private val idle = names.fresh("idle")
  private val lives = panes.groups.nonEmpty

  /** The type of a sum over all panes. It is wide enough: a BIGINT holds the sum of four billion of the largest INT. */
  private def cumulated(k: HelperColumn): DataType =
    if (k.kind != HelperColumn.Sum) LongType
    else
      SqlExpression.dataType(k.argument.get.span.text, query.source.schema, k.argument.get.span) match {
        case d: DecimalType => DecimalType(37, d.scale)
        case LongType       => DecimalType(38, 0)
        case _              => LongType
      }

  private def stored(k: HelperColumn, value: String): String = cumulated(k) match {
    case LongType => value
    case other    => s"CAST($value AS ${other.sql})"
  }

  private def onePane(part: String): Seq[String] =
    select(panes.groups ++ aggregates.columns.map { k =>
      val value = if (k.kind == HelperColumn.Sum) s"coalesce(${panes.aggregate(k)}, 0)" else panes.aggregate(k)
      s"${stored(k, value)} AS ${k.text}"
    } ++ ages("0", "0")) ++ panes.from(part) ++ panes.groupBy

  /** The rows of a pane, without an aggregation of their own: they are added to the sums directly. This is faster only
    * if all sums are BIGINT.
    */
  private def rows(part: String): Seq[String] =
    select(panes.groups ++ aggregates.columns.map { k =>
      val value = k.kind match {
        case HelperColumn.Rows => "1L"
        case HelperColumn.Sum  => s"CAST(coalesce(${k.argument.get.span.text}, 0) AS BIGINT)"
        case _                 => s"CASE WHEN ${k.argument.get.span.text} IS NULL THEN 0L ELSE 1L END"
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
