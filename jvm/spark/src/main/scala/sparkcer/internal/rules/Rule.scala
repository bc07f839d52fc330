package sparkcer.internal.rules

/** A query of a set, and the name that its matches have.
  *
  * @param params
  *   the values of its `:name` parameters
  */
final case class Rule(id: String, query: String, params: Map[String, Any] = Map.empty)

object Rule {

  /** Queries by name, in an order of their own. */
  def all(queries: Map[String, String]): Vector[Rule] =
    queries.toVector.sortBy(_._1).map { case (id, query) => Rule(id, query) }
}
