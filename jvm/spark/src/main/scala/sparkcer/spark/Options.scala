package sparkcer.spark

/** What a call says beside the query.
  *
  * @param time
  *   the column that orders the events; without it the attribute of WITHIN n [a], or the watermark's column
  * @param eventType
  *   the column with an event's type; without it `type`, if there is such a column
  * @param order
  *   a column that decides between events of the same time
  */
final case class Options(time: Option[String] = None, eventType: Option[String] = None, order: Option[String] = None)
