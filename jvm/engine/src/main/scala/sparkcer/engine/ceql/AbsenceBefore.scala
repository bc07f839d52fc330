package sparkcer.engine.ceql

import sparkcer.engine.ceql.Formula.NoneBefore

/** `NO α FOR d ; φ` at the beginning of a query. */
object AbsenceBefore {

  /** All that must not have come before a match. */
  def of(f: Formula): Vector[NoneBefore] = f.subformulas.collect { case n: NoneBefore => n }.toVector

  /** The query with WITHIN written out. Where a match is one event, every WITHIN gives the same matches, and with one a
    * stream knows when it can forget a key.
    */
  def spelledOut(query: Query): Query =
    of(query.where).headOption.filter(_ => query.within.isEmpty && AbsenceAfter.isOneEvent(query.where)).fold(query) {
      before => query.copy(within = Some(before.length))(query.text)
    }
}
