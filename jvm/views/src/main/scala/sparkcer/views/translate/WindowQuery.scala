package sparkcer.views.translate

/** Aggregates over a sliding or hopping window (Section 5.2), over *panes*: the longest stretches of which both window
  * and slide are made. A helper view has what is kept of each pane, in one of three forms:
  *
  *   - sums, counts and averages of exact types are *subtractable*, see [[PrefixSums]];
  *   - `max` and `min` alone need only those panes that can still be the largest or the smallest, see [[Extremes]];
  *   - anything else is *distributive*, see [[MergedPanes]].
  */
private[views] object WindowQuery {
  def apply(query: ViewQuery): Seq[String] = {
    val panes = new Panes(query)
    val calls = new Aggregates(query, new FreshNames(Nil), needsValues = false).calls
    val form =
      if (panes.wide == 1) new MergedPanes(query, panes)
      else if (calls.forall(_.subtractable)) new PrefixSums(query, panes)
      else if (calls.forall(_.extreme)) new Extremes(query, panes)
      else new MergedPanes(query, panes)
    if (calls.isEmpty)
      query.window.get.fail("a window needs an aggregate: count, sum, avg, min or max in SELECT.")
    form.statements
  }
}

/** How a window's aggregates are kept: the queries of the helper view and of the view itself. */
private[views] trait WindowForm {
  protected def panes: Panes

  protected def initializeHelper(part: String): Seq[String]
  protected def updateHelper(part: String): Seq[String]
  protected def initializeView(part: String): Seq[String]
  protected def updateView(part: String): Seq[String]

  def statements: Seq[String] = Seq(
    Translate.viewDF(panes.helper, panes.pane, initializeHelper, updateHelper),
    Translate.viewDF(panes.view, panes.slide, initializeView, updateView)
  )
}
