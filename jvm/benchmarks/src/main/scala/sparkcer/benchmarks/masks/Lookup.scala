package sparkcer.benchmarks.masks

/** For each value of one column the conditions that it allows, as bits. Open addressing at a load of at most a quarter,
  * with the hash that collides least: a value costs one probe, and a comparison if the slot is taken. Integers that lie
  * close together are an index and cost neither.
  *
  * @param integral
  *   whether the keys are integers, so that [[row(key:Long)*]] reads them; if not, [[row(key:AnyRef)*]] does
  * @param bits
  *   `words` words a row: row 0 for a value that no condition names, row 1 for NULL, then one row for each key
  */
final class Lookup private (
    val column: Int,
    val integral: Boolean,
    keys: Array[AnyRef],
    rows: Array[Int],
    factor: Int,
    dense: Lookup.Dense,
    words: Int,
    bits: Array[Long]
) {
  private val mask = rows.length - 1

  def row(key: AnyRef): Int =
    if (key == null) Lookup.NullRow
    else {
      var slot = Lookup.slot(key.hashCode, factor, mask)
      while (rows(slot) != 0) {
        val known = keys(slot)
        if ((known eq key) || known.equals(key)) return rows(slot)
        slot = (slot + 1) & mask
      }
      0
    }

  def row(key: Long): Int = if (dense != null) dense.row(key) else row(java.lang.Long.valueOf(key): AnyRef)

  /** The conditions that a row allows, of at most 64; or word `i` of them. */
  def word(row: Int): Long = bits(row)
  def word(row: Int, i: Int): Long = bits(row * words + i)

  /** How many values have a row of their own. */
  def size: Int = bits.length / words - 2
}

object Lookup {
  val NullRow = 1

  /** Rows by value, for integers from `least` on. */
  final private class Dense(least: Long, rows: Array[Int]) {
    def row(key: Long): Int = {
      val i = key - least
      if (i >= 0 && i < rows.length) rows(i.toInt) else 0
    }
  }

  private val MaxDense = 4096L

  /** Factors to try. */
  private val Factors: Vector[Int] = Vector.iterate(0x9e3779b9, 64)(_ * 0x2c1b3c6d + 0x3c6ef372).map(_ | 1)

  private def slot(hash: Int, factor: Int, mask: Int): Int = {
    val h = hash * factor
    (h ^ (h >>> 16)) & mask
  }

  /** @param memberships
    *   those of this column, each with the number of its condition
    */
  def apply(column: Int, conditions: Int, memberships: Vector[(Int, Membership)]): Lookup = {
    val values = memberships.flatMap(_._2.values).distinct
    val words = math.max(1, (conditions + 63) / 64)
    // Sparse while it is small: then hardly any value that no condition names meets a key.
    val size = Integer.highestOneBit(math.max(2, values.length)) * (if (values.length <= 64) 32 else 8)
    val factor = Factors.maxBy(f => values.iterator.map(v => slot(v.hashCode, f, size - 1)).distinct.length)
    val keys = new Array[AnyRef](size)
    val rows = new Array[Int](size)
    for ((v, i) <- values.zipWithIndex) {
      var at = slot(v.hashCode, factor, size - 1)
      while (rows(at) != 0) at = (at + 1) & (size - 1)
      keys(at) = v
      rows(at) = i + 2
    }
    val integers = values.collect { case n: java.lang.Long => n.longValue }
    val integral = integers.nonEmpty && integers.length == values.length
    new Lookup(
      column,
      integral,
      keys,
      rows,
      factor,
      if (integral) dense(integers) else null,
      words,
      table(conditions, words, values, memberships)
    )
  }

  private def dense(integers: Vector[Long]): Dense = {
    val span = BigInt(integers.max) - integers.min + 1
    if (span > MaxDense) null
    else {
      val rows = new Array[Int](span.toInt)
      integers.zipWithIndex.foreach { case (n, i) => rows((n - integers.min).toInt) = i + 2 }
      new Dense(integers.min, rows)
    }
  }

  private def table(
      conditions: Int,
      words: Int,
      values: Vector[AnyRef],
      memberships: Vector[(Int, Membership)]
  ): Array[Long] = {
    val bits = new Array[Long]((values.length + 2) * words)
    def set(row: Int, g: Int): Unit = bits(row * words + (g >> 6)) |= 1L << g
    def clear(row: Int, g: Int): Unit = bits(row * words + (g >> 6)) &= ~(1L << g)
    // A condition that does not ask about the column passes everywhere.
    for (row <- 0 until values.length + 2; g <- 0 until conditions) set(row, g)
    for ((g, m) <- memberships) {
      if (!m.excluded) { clear(0, g); clear(NullRow, g) }
      for ((v, i) <- values.zipWithIndex) if (m.values(v) == m.excluded) clear(i + 2, g)
    }
    bits
  }
}
