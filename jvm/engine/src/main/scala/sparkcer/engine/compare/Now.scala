package sparkcer.engine.compare

import sparkcer.engine.state.Bytes

/** The current event, as comparisons see it. Each of its values is computed at most once. */
final private[engine] class Now(source: EventValues, terms: Int) {
  private val values = new Array[Bytes](terms)
  private val known = new Array[Boolean](terms)

  private var payload: Array[Byte] = null
  private var payloadOf: Int => Array[Byte] = _

  /** The number of the event in its substream, once it is kept. */
  var event = 0

  def begin(row: Array[Byte], others: Int => Array[Byte]): Unit = {
    payload = row
    payloadOf = others
    java.util.Arrays.fill(known, false)
  }

  /** The value of a term, or null for NULL. */
  def value(term: Int): Bytes = {
    if (!known(term)) {
      val v = source.value(term, payload)
      values(term) = if (v == null) null else new Bytes(v)
      known(term) = true
    }
    values(term)
  }

  def compare(term: Int, a: Bytes, b: Bytes): Int = source.compare(term, a.array, b.array)

  def holds(expression: Int, events: Array[Int], rows: Array[Array[Byte]]): Boolean = {
    var i = 0
    while (i < rows.length) { rows(i) = payloadOf(events(i)); i += 1 }
    source.holds(expression, rows)
  }
}
