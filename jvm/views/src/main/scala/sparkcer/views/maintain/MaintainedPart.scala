package sparkcer.views.maintain

/** A row of the report of `maintain()`: what was done with a part of a view. */
private[views] final case class MaintainedPart(
    view: String,
    index: Long,
    length: Long,
    action: String,
    because: String,
    rows: Long,
    rowsRead: Long,
    millis: Long
)
