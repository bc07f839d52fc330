package sparkcer.views.translate

import Translate.select

/** `max` and `min`: the helper has, for each group, the extremes of those panes that no later pane has reached, with
  * their age in panes. A pane whose maximum is not above a later one's can never be the window's maximum again. So what
  * is kept of a group falls from pane to pane, an update looks at each group once, and only what is kept of it: for
  * values in random order about the logarithm of the window, at most one row a pane.
  *
  * Of several aggregates each is kept on its own; a value that was reached is NULL, and a row without values goes.
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
  private def stands(k: Kept) = {
    val below = if (k.kind == Kept.Max) "<" else ">"
    s"coalesce(New.${k.text} $below Prev.${k.text}, Prev.${k.text} IS NOT NULL)"
  }

  protected def updateHelper(part: String): Seq[String] = {
    val same =
      if (panes.groups.isEmpty) "true" else panes.groups.map(g => s"Prev.$g <=> New.$g").mkString(" AND ")
    val values = aggregates.columns match {
      case Vector(only) => Seq(s"Prev.${only.text}")
      case several      => several.map(k => s"CASE WHEN ${stands(k)} THEN Prev.${k.text} END AS ${k.text}")
    }
    // A group that the newest pane does not have keeps all its rows: they may be all that tells of it.
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

  /** From the panes themselves, because a window is complete when all of them are there. */
  protected def initializeView(part: String): Seq[String] =
    panes.merging(output, Seq(s"FROM ${panes.whole(part)}", s"WHERE $age = 0"))

  protected def updateView(part: String): Seq[String] =
    panes.merging(output, Seq(s"FROM ${panes.helper}[${panes.ending(part, 0)}]"))
}
