package sparkcer.views.translate

import Translate.select

/** The form for `max` and `min` alone. A pane whose maximum is not larger than that of a later pane can never be the
  * maximum of a window again. So the helper view has, for each group, only the panes whose value no later pane has
  * reached, with their age in panes. From pane to pane, the maxima of a group that are kept decrease. An update reads
  * only the rows that are kept: at most one for each pane of the window, and for values in random order about as many
  * as the logarithm of the window.
  *
  * Several aggregates are kept independently: a value that was reached is NULL, and a row without values is dropped.
  */
final private[views] class Extremes(query: ViewQuery, protected val panes: Panes) extends WindowForm {
  private val names = new FreshNames(query.groups.map(_.name) ++ Seq("New", "Prev"))
  private val aggregates = new Aggregates(query, names, needsValues = false)
  private val output = new OutputClauses(query, aggregates)
  private val age = names.fresh("age")

  private def newest(part: String) =
    select(panes.groups ++ panes.values(aggregates.columns) :+ s"0 AS $age") ++ panes.from(part) ++ panes.groupBy

  protected def initializeHelper(part: String): Seq[String] = newest(part)

  /** Has the newest pane not reached this value? */
  private def stands(k: HelperColumn) = {
    val below = if (k.kind == HelperColumn.Max) "<" else ">"
    s"coalesce(New.${k.text} $below Prev.${k.text}, Prev.${k.text} IS NOT NULL)"
  }

  protected def updateHelper(part: String): Seq[String] = {
    val same =
      if (panes.groups.isEmpty) "true" else panes.groups.map(g => s"Prev.$g <=> New.$g").mkString(" AND ")
    val values = aggregates.columns match {
      case Vector(only) => Seq(s"Prev.${only.text}")
      case several      => several.map(k => s"CASE WHEN ${stands(k)} THEN Prev.${k.text} END AS ${k.text}")
    }
    // A group without rows in the newest pane keeps all its rows, because a row may be needed only to show that the group
    // is in the window.
    val kept = s"New.$age IS NULL" +: aggregates.columns.map(stands)
    Seq("WITH New AS (") ++ newest(part).map("  " + _) ++ Seq(")") ++
      select(panes.groups ++ aggregates.columns.map(_.text) :+ age) ++ Seq("FROM New", "UNION ALL") ++
      select(panes.groups.map(g => s"Prev.$g") ++ values :+ s"Prev.$age + 1") ++
      Seq(
        s"FROM ${panes.helper}[$part-1] AS Prev",
        s"LEFT OUTER JOIN New ON $same",
        s"WHERE Prev.$age + 1 < ${panes.wide} AND (${kept.mkString(" OR ")})"
      )
  }

  /** Reads all panes of the window, so that the view starts only when a whole window exists. */
  protected def initializeView(part: String): Seq[String] =
    panes.merging(output, Seq(s"FROM ${panes.whole(part)}", s"WHERE $age = 0"))

  protected def updateView(part: String): Seq[String] =
    panes.merging(output, Seq(s"FROM ${panes.helper}[${panes.ending(part, 0)}]"))
}
