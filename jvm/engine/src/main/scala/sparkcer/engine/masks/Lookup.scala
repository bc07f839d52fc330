package sparkcer.engine.masks

/** For each value of one column the guards that it allows, as bits. Open addressing at a load of at most a quarter: a
  * value that no guard names usually costs one probe and no comparison.
  *
  * @param bits
  *   `words` words a row: row 0 for a value that no guard names, row 1 for NULL, then one row for each key
  */
final class Lookup private (
    val column: Int,
    keys: Array[AnyRef],
    longs: Array[Long],
    rows: Array[Int],
    words: Int,
    bits: Array[Long]
) {
  private val mask = rows.length - 1

  def row(key: AnyRef): Int = {
    var slot = Lookup.spread(key.hashCode) & mask
    while (rows(slot) != 0) {
      val known = keys(slot)
      if ((known eq key) || known == key) return rows(slot)
      slot = (slot + 1) & mask
    }
    0
  }

  /** For a table whose keys are all `java.lang.Long`. */
  def row(key: Long): Int = {
    var slot = Lookup.spread(java.lang.Long.hashCode(key)) & mask
    while (rows(slot) != 0) {
      if (longs(slot) == key) return rows(slot)
      slot = (slot + 1) & mask
    }
    0
  }

  def word(row: Int): Long = bits(row)
  def word(row: Int, i: Int): Long = bits(row * words + i)

  /** How many values have a row of their own. */
  def size: Int = bits.length / words - 2
}

object Lookup {
  val NullRow = 1

  private def spread(hash: Int): Int = { val h = hash * 0x9e3779b9; h ^ (h >>> 15) }

  /** @param memberships
    *   those of this column, each with the number of its guard
    */
  def apply(column: Int, guards: Int, memberships: Vector[(Int, Membership)]): Lookup = {
    val values = memberships.flatMap(_._2.values).distinct
    val words = math.max(1, (guards + 63) / 64)
    val bits = new Array[Long]((values.length + 2) * words)
    // A guard that does not ask about the column passes everywhere.
    for (row <- 0 until values.length + 2; g <- 0 until guards) set(row, g)
    def set(row: Int, g: Int): Unit = bits(row * words + (g >> 6)) |= 1L << g
    def clear(row: Int, g: Int): Unit = bits(row * words + (g >> 6)) &= ~(1L << g)
    for ((g, m) <- memberships) {
      if (!m.excluded) { clear(0, g); clear(NullRow, g) }
      for ((v, i) <- values.zipWithIndex) if (m.values(v) == m.excluded) clear(i + 2, g)
    }
    val size = Integer.highestOneBit(math.max(2, values.length)) * 8
    val keys = new Array[AnyRef](size)
    val longs = new Array[Long](size)
    val rows = new Array[Int](size)
    for ((v, i) <- values.zipWithIndex) {
      var slot = spread(v.hashCode) & (size - 1)
      while (rows(slot) != 0) slot = (slot + 1) & (size - 1)
      keys(slot) = v
      v match {
        case n: java.lang.Long => longs(slot) = n
        case _                 => ()
      }
      rows(slot) = i + 2
    }
    new Lookup(column, keys, longs, rows, words, bits)
  }
}
