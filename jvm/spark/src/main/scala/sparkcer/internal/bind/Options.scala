package sparkcer.internal.bind

import sparkcer.TypeColumn

/** The arguments of a call, besides the query.
  *
  * @param time
  *   the column that orders the events; without it the attribute of WITHIN n [a], or the watermark's column
  * @param eventType
  *   the column with an event's type
  * @param order
  *   a column that decides between events of the same time
  * @param lateRows
  *   whether events that come too late are rows of the result, in a column `late`, or only counted
  * @param idle
  *   after how long without events the state of a key of a stream is dropped: an interval such as `7 days`, or a number
  *   where the time column is one
  * @param snapshots
  *   whether a stream keeps what a [[Snapshot]] needs: the events of the last two windows
  * @param until
  *   for a batch of a query that ends with `NO … FOR`: the time up to which the events are complete, or `forever`
  * @param params
  *   the values of the query's `:name` parameters
  */
final case class Options(
    time: Option[String] = None,
    eventType: TypeColumn = TypeColumn.Default,
    order: Option[String] = None,
    lateRows: Boolean = false,
    idle: Option[String] = None,
    snapshots: Boolean = false,
    until: Option[String] = None,
    params: Map[String, Any] = Map.empty
)

object Options {

  /** From the arguments of a call in Scala or Python. null means "not given", except for the type column, where it
    * means "there is none".
    */
  def of(
      time: String,
      eventType: TypeColumn,
      order: String,
      lateRows: Boolean,
      idle: String,
      snapshots: Boolean,
      until: String,
      params: Map[String, Any]
  ): Options = Options(
    Option(time),
    Option(eventType).getOrElse(TypeColumn.None),
    Option(order),
    lateRows,
    Option(idle),
    snapshots,
    Option(until),
    params
  )

  /** The names of the options that are strings, in SQL and in the messages of Spark Connect. */
  val Names: Set[String] = Set("time", "type", "order", "late", "idle", "snapshots", "until")

  /** From strings by name. For the type column, null means "there is none". */
  def named(texts: Map[String, String], params: Map[String, Any]): Options = Options(
    texts.get("time"),
    texts.get("type").fold[TypeColumn](TypeColumn.Default)(TypeColumn.of),
    texts.get("order"),
    texts.get("late").contains("rows"),
    texts.get("idle"),
    texts.get("snapshots").contains("true"),
    texts.get("until"),
    params
  )
}
