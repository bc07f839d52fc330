package sparkcer.engine.compare

/** What events are compared by. The rows are the owner's and the engine never looks into them: it asks for values and
  * truths by number, see `Program.terms` and `Program.expressions`. Nothing is asked of an event that the part of the
  * query at hand does not read.
  */
trait EventValues {

  /** The value of a term of an event, as bytes that are equal to those of another term of the same comparison exactly when
    * SQL's `=` says so; null for NULL. The array is kept and must not be changed.
    */
  def value(term: Int, event: Array[Byte]): Array[Byte]

  /** SQL's order of two values, neither NULL, of any terms of the comparison that `term` belongs to: 0 exactly when their
    * bytes are equal. Only asked of comparisons with `<`, `<=`, `>` or `>=`.
    */
  def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int

  /** Is the expression TRUE of these events: one for each of its variables, in their order, and behind them the one for
    * PREV if it has that. The array is the caller's.
    */
  def test(expression: Int, events: Array[Array[Byte]]): Boolean
}
