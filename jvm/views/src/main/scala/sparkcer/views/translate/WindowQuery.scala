package sparkcer.views.translate

/** Translates aggregates over a sliding or hopping window (Section 5.2 of ViewDF). The helper view is over *panes*: a
  * pane is the longest stretch of time of which both the window and the slide are multiples. The helper view has one of
  * three forms:
  *
  *   - [[PrefixSums]], if all aggregates can be subtracted: sums, counts and averages of exact types
  *   - [[Extremes]], if all aggregates are `max` or `min`
  *   - [[MergedPanes]], for anything else
  */
private[views] object WindowQuery {
  def apply(query: ViewQuery): Seq[String] = form(query).statements

  def form(query: ViewQuery): WindowForm = {
    val panes = new Panes(query)
    val calls = new Aggregates(query, new FreshNames(Nil), needsValues = false).calls
    val form =
      if (panes.wide == 1) new MergedPanes(query, panes)
      else if (calls.forall(_.subtractable)) new PrefixSums(query, panes)
      else if (calls.forall(_.extreme)) new Extremes(query, panes)
      else new MergedPanes(query, panes)
    // Other errors come first: an aggregate that is not supported here would be taken for none.
    if (calls.isEmpty) query.window.get.fail("CER_SYNTAX.VIEW_NO_AGGREGATE")
    form
  }
}
