package sparkcer.views.statement

/** `CREATE VIEW name AS INITIALIZE name[i] AS … UPDATE name[j] AS … PARTITION LENGTH n`.
  *
  * @param length
  *   of a part, in seconds
  */
private[views] final case class Statement(
    name: String,
    initialize: Query,
    update: Query,
    length: Long,
    text: String
) {

  /** The tables and views that it reads, without itself. */
  lazy val sources: Vector[String] =
    (initialize.references ++ update.references)
      .map(_.table)
      .filterNot(_.equalsIgnoreCase(name))
      .distinctBy(_.toLowerCase)
}

/** A part or a range of parts in a query: `M[j]`, `M[j*60..j*60+59]`.
  *
  * @param key
  *   the identifier by which Spark's parser knows it
  */
private[views] final case class Reference(
    table: String,
    low: Subscript,
    high: Subscript,
    text: String,
    key: String,
    place: String
) {
  def parts(j: Long): Range = Range(low.at(j), high.at(j))
  def to(name: String): Boolean = table.equalsIgnoreCase(name)
}

/** Spark SQL with part references.
  *
  * @param sql
  *   the query with each reference as one identifier, after as many blank lines and columns as stand before it in the
  *   statement: so Spark's own errors have the right place
  * @param variable
  *   the name of the view's own subscript
  * @param clause
  *   for errors: `UPDATE of view Helper`
  */
private[views] final case class Query(
    sql: String,
    references: Vector[Reference],
    timestamps: Boolean,
    variable: String,
    clause: String
)

/** Subscripts from `first` to `last`, both included. */
private[views] final case class Range(first: Long, last: Long) {
  def contains(index: Long): Boolean = first <= index && index <= last
  def indexes: Iterator[Long] = Iterator.iterate(first)(_ + 1).takeWhile(_ <= last)
}
