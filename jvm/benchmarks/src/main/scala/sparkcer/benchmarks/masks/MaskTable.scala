package sparkcer.benchmarks.masks

/** Turns an event into its mask, one bit for each condition: with one look-up for each column that conditions compare
  * with constants, however many they are, and each expression asked once at the most, and only while a condition that
  * passed everything else depends on it.
  *
  * An event costs a hash for each such column, until no condition is left; then, for the conditions that are left,
  * their expressions. The columns with the most constants come first, because they rule out the most. For one thread.
  */
final class MaskTable(conditions: Seq[Conjunction]) {
  private val words = math.max(1, (conditions.length + 63) / 64)

  /** One for each column that is looked up, in the order to look. */
  val lookups: Array[Lookup] = conditions.zipWithIndex
    .flatMap { case (t, g) => t.memberships.map(m => (g, m)) }
    .groupBy(_._2.column)
    .map { case (column, all) => Lookup(column, conditions.length, all.toVector) }
    .toArray
    .sortBy(l => (-l.size, l.column))

  private val expressions: Array[Int] = conditions.flatMap(t => t.holds ++ t.fails).distinct.sorted.toArray

  // By expression, as an index of `expressions`: the conditions that fall when it is TRUE, and those that fall when it is not.
  private val fallWhenTrue = expressions.map(p => bits(_.fails.contains(p)))
  private val fallWhenNot = expressions.map(p => bits(_.holds.contains(p)))

  /** The expressions of each condition. */
  private val asks: Array[Array[Int]] =
    conditions.map(t => (t.holds ++ t.fails).distinct.map(expressions.indexOf(_)).toArray).toArray
  private val asking = bits(t => t.holds.nonEmpty || t.fails.nonEmpty)
  private val negated = bits(_.negated)
  private val all = bits(_ => true)

  /** The event for which a expression was asked last. */
  private val askedAt = new Array[Long](expressions.length)
  private var now = 0L

  private val several = new Array[Long](words)

  private def bits(of: Conjunction => Boolean): Array[Long] = {
    val b = new Array[Long](words)
    conditions.zipWithIndex.foreach { case (t, g) => if (of(t)) b(g >> 6) |= 1L << g }
    b
  }

  /** Does a mask fit one word? */
  val single: Boolean = words == 1

  /** The mask of at most 64 conditions. */
  def mask(event: Row): Long = {
    var alive = all(0)
    var i = 0
    while (i < lookups.length && alive != 0) {
      val l = lookups(i)
      alive &= l.word(row(l, event))
      i += 1
    }
    if ((alive & asking(0)) != 0) alive = ask(alive, event)
    alive ^ negated(0)
  }

  /** What the expressions leave of the conditions that are alive so far; for a caller who does the look-ups himself. */
  def ask(soFar: Long, event: Row): Long = {
    now += 1
    var alive = soFar
    var pending = alive & asking(0)
    while (pending != 0) {
      val mine = asks(java.lang.Long.numberOfTrailingZeros(pending))
      val bit = pending & -pending
      var i = 0
      while (i < mine.length && (alive & bit) != 0) {
        val p = mine(i)
        if (askedAt(p) != now) {
          askedAt(p) = now
          alive &= ~(if (event.test(expressions(p))) fallWhenTrue(p)(0) else fallWhenNot(p)(0))
        }
        i += 1
      }
      pending &= alive & ~bit
    }
    alive
  }

  /** The mask of any number of conditions. The array is this object's and is valid until the next call. */
  def masks(event: Row): Array[Long] = {
    val alive = several
    System.arraycopy(all, 0, alive, 0, words)
    lookups.foreach { l =>
      val r = row(l, event)
      var w = 0
      while (w < words) { alive(w) &= l.word(r, w); w += 1 }
    }
    now += 1
    var w = 0
    while (w < words) {
      var pending = alive(w) & asking(w)
      while (pending != 0) {
        askAll((w << 6) + java.lang.Long.numberOfTrailingZeros(pending), alive, event)
        pending &= alive(w) & (pending - 1)
      }
      w += 1
    }
    w = 0
    while (w < words) { alive(w) ^= negated(w); w += 1 }
    alive
  }

  private def askAll(condition: Int, alive: Array[Long], event: Row): Unit = {
    val mine = asks(condition)
    var i = 0
    while (i < mine.length && (alive(condition >> 6) >>> condition & 1L) != 0) {
      val p = mine(i)
      if (askedAt(p) != now) {
        askedAt(p) = now
        val fall = if (event.test(expressions(p))) fallWhenTrue(p) else fallWhenNot(p)
        var w = 0
        while (w < words) { alive(w) &= ~fall(w); w += 1 }
      }
      i += 1
    }
  }

  private def row(l: Lookup, event: Row): Int =
    if (!l.integral) l.row(event.ref(l.column))
    else if (event.isNull(l.column)) Lookup.NullRow
    else l.row(event.long(l.column))
}
