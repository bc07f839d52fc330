package sparkcer.views.maintain

/** A row of the report of `maintain()`: what was done with a part of a view.
  *
  * @param parts
  *   how many parts it stands for: this one, and the parts after it that are empty as well
  * @param error
  *   why the part could not be computed
  */
private[views] final case class MaintainedPart(
    view: String,
    index: Long,
    length: Long,
    action: String,
    because: String,
    rows: Long,
    rowsRead: Long,
    millis: Long,
    parts: Long = 1,
    error: Option[String] = None
)
