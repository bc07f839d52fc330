package sparkcer.views.translate

import Translate.select

/** The form for all other aggregates. The helper view has the aggregates of each pane, and the view merges the panes of
  * its window, like View5 of the ViewDF paper. An update reads one row for each group and pane of the window.
  */
final private[views] class MergedPanes(query: ViewQuery, protected val panes: Panes) extends WindowForm {
  private val aggregates = new Aggregates(query, new FreshNames(query.groups.map(_.name)), needsValues = false)
  private val output = new OutputClauses(query, aggregates)

  private def onePane(part: String) =
    select(panes.groups ++ panes.values(aggregates.columns)) ++ panes.from(part) ++ panes.groupBy

  private def window(part: String) = panes.merging(output, Seq(s"FROM ${panes.whole(part)}"))

  protected def initializeHelper(part: String): Seq[String] = onePane(part)
  protected def updateHelper(part: String): Seq[String] = onePane(part)
  protected def initializeView(part: String): Seq[String] = window(part)
  protected def updateView(part: String): Seq[String] = window(part)
}
