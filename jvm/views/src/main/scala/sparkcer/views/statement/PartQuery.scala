package sparkcer.views.statement

/** Spark SQL with part references.
  *
  * @param sql
  *   the query, in which each reference is one identifier. Every character has the line and the column that it has in
  *   the statement, so that the errors of Spark name the right place.
  * @param timestamps
  *   whether the query uses PART_TIMESTAMP
  * @param variable
  *   the name of the subscript of the part that is computed
  * @param clause
  *   for errors: `UPDATE of view Helper`
  */
private[views] final case class PartQuery(
    sql: String,
    references: Vector[PartReference],
    timestamps: Boolean,
    variable: String,
    clause: String
)

private[views] object PartQuery {

  /** The column with the start of the part that a row belongs to. */
  val TimestampColumn = "PART_TIMESTAMP"
}

/** A part or a range of parts in a query: `M[j]`, `M[j*60..j*60+59]`.
  *
  * @param text
  *   as written
  * @param key
  *   the identifier that stands for it in the query that Spark parses
  * @param place
  *   its line and column
  */
private[views] final case class PartReference(
    table: String,
    low: Subscript,
    high: Subscript,
    text: String,
    key: String,
    place: String
) {
  def parts(j: Long): PartRange = PartRange(low.at(j), high.at(j))
  def to(name: String): Boolean = table.equalsIgnoreCase(name)
}

/** The numbers of parts from `first` to `last`, both included. */
private[views] final case class PartRange(first: Long, last: Long) {
  def contains(index: Long): Boolean = first <= index && index <= last
  def indexes: Iterator[Long] = Iterator.iterate(first)(_ + 1).takeWhile(_ <= last)

  /** The range of a table, as it is written in a query. */
  def of(table: String): String = if (first == last) s"$table[$first]" else s"$table[$first..$last]"
}
