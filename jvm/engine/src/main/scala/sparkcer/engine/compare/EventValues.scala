package sparkcer.engine.compare

/** The values by which events are compared. The engine does not know the format of an event: it asks for the terms and
  * expressions of the query by number, see `Program.terms` and `Program.expressions`, and only for events that the
  * query binds to their variables.
  */
trait EventValues {

  /** The value of a term for an event as bytes, or null for NULL. The bytes of two terms of one comparison must be
    * equal exactly when the values are equal in SQL. The array is kept and must not be changed.
    */
  def value(term: Int, event: Array[Byte]): Array[Byte]

  /** The order in SQL of two values, neither NULL, of any terms of the comparison that `term` belongs to; 0 exactly
    * when their bytes are equal. Only called for comparisons with `<`, `<=`, `>` or `>=`.
    */
  def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int

  /** Is the expression TRUE for these events? There is one for each of its variables, in their order, and then one for
    * PREV if it has PREV. The array belongs to the caller.
    */
  def holds(expression: Int, events: Array[Array[Byte]]): Boolean
}
