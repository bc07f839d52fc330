package sparkcer.engine.ceql

/** The variables that a query selects: those that SELECT lists, and those that measures and HAVING name. Two matches
  * with the same interval and the same events in these are one match.
  */
object SelectedVariables {

  /** All of them, in the order of the columns of a match row. If those that are listed are in the order of the pattern,
    * all are, so that it makes no difference which of them are listed.
    */
  def apply(q: Query): Vector[String] = {
    val (first, others) = (listed(q), hidden(q))
    val order = inPattern(q.where).zipWithIndex.toMap
    val places = first.map(order.getOrElse(_, -1))
    if (hasStar(q) || places != places.sorted) first ++ others else (first ++ others).sortBy(order.getOrElse(_, -1))
  }

  private def hasStar(q: Query): Boolean = items(q).contains(SelectList.Star)

  /** COUNT(*) counts the matches of `SELECT *`. */
  private def items(q: Query): Vector[SelectList.Shown] =
    if (q.select.list == SelectList.Count) Vector(SelectList.Star) else q.select.items

  /** Those that SELECT lists, each once. */
  def listed(q: Query): Vector[String] = items(q).flatMap {
    case SelectList.Star       => starred(q.where)
    case i: SelectList.Item    => Vector(i.variable.value)
    case _: SelectList.Measure => Vector.empty
  }.distinct

  /** Those that only measures and HAVING name, in the order of the pattern, which other measures do not change. A row
    * of COUNT(*) has none.
    */
  def hidden(q: Query): Vector[String] =
    if (q.select.list == SelectList.Count) Vector.empty
    else {
      val bound = q.where.variables
      val named = Parameters.ofMatches(q).flatMap { case (sql, _) => MatchSql.variables(sql, bound) }.toSet
      inPattern(q.where).filter(named -- listed(q))
    }

  /** All names of variables, in the order of the pattern. */
  private[ceql] def inPattern(f: Formula): Vector[String] =
    f match {
      case Formula.As(body, x) => (x.value +: inPattern(body)).distinct
      case a: Formula.Atom     => Vector(a.variable)
      case _: Formula.Absent   => Vector.empty
      case other               => other.children.flatMap(inPattern).distinct
    }

  /** `*`: every AS variable, and every event type that occurs outside any AS, in order of appearance. */
  def starred(f: Formula): Vector[String] = {
    def walk(f: Formula, inAs: Boolean): Vector[String] = f match {
      case a: Formula.Atom             => if (inAs) Vector.empty else Vector(a.variable)
      case Formula.As(body, x)         => x.value +: walk(body, inAs = true)
      case Formula.Not(_)              => Vector.empty
      case Formula.Absent(_)           => Vector.empty
      case Formula.Project(body, kept) => walk(body, inAs).filter(kept)
      case other                       => other.children.flatMap(walk(_, inAs))
    }
    walk(f, inAs = false).distinct
  }
}
