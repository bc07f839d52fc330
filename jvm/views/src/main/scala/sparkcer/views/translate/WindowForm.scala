package sparkcer.views.translate

/** A form of the helper view of a window: the queries of the helper view and of the view itself. */
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
