package sparkcer.engine.evaluate

/** A square matrix of counts, stored by lines: rows or columns, as its owner decides. It starts as the unit matrix, and
  * a line takes memory only after it was asked for. Lines are reused after `clear`.
  */
final private[evaluate] class Matrix {
  private var lines = new Array[Array[Long]](0)
  private var used = new Array[Boolean](0)

  /** Makes it at least this large; its contents stay. */
  def makeRoom(size: Int): Unit =
    if (size > lines.length) {
      val wide = math.max(8, Integer.highestOneBit(size) * 2)
      lines = java.util.Arrays.copyOf(lines, wide)
      used = java.util.Arrays.copyOf(used, wide)
      lines.indices.foreach(i => if (lines(i) != null) lines(i) = java.util.Arrays.copyOf(lines(i), wide))
    }

  /** Makes it the unit matrix again. */
  def clear(): Unit = java.util.Arrays.fill(used, false)

  /** A line, to read and to change. */
  def line(i: Int): Array[Long] = {
    if (!used(i)) {
      if (lines(i) == null) lines(i) = new Array[Long](lines.length) else java.util.Arrays.fill(lines(i), 0L)
      lines(i)(i) = 1L
      used(i) = true
    }
    lines(i)
  }

  /** A line, or null if it is still that of the unit matrix. */
  def lineOrNull(i: Int): Array[Long] = if (i < used.length && used(i)) lines(i) else null

  def at(i: Int, j: Int): Long = {
    val l = lineOrNull(i)
    if (l != null) l(j) else if (i == j) 1L else 0L
  }
}

private[evaluate] object Matrix {

  /** Adds a line to another. */
  def add(into: Array[Long], line: Array[Long]): Unit = {
    var i = 0
    while (i < line.length) {
      val sum = into(i) + line(i)
      into(i) = if (sum < 0) Long.MaxValue else sum
      i += 1
    }
  }

  def scale(line: Array[Long], by: Long): Unit = {
    var i = 0
    while (i < line.length) {
      line(i) = Counter.times(line(i), by)
      i += 1
    }
  }

  /** A copy without the zeros at its end. */
  def trimmed(line: Array[Long]): Array[Long] = {
    var n = line.length
    while (n > 0 && line(n - 1) == 0) n -= 1
    java.util.Arrays.copyOf(line, n)
  }
}
