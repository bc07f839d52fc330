package sparkcer.views.statement

/** The subscript of a source part as a function of j, the number of the part that is computed: `(factor * j + offset) /
  * divisor`, rounded down.
  */
private[views] final case class Subscript(factor: Long, offset: Long, divisor: Long) {
  import Math.{floorDiv, multiplyExact, addExact}

  def at(j: Long): Long = floorDiv(addExact(multiplyExact(factor, j), offset), divisor)

  /** The largest j whose subscript is at most `limit`. The factor is positive. */
  def lastWithin(limit: Long): Long = floorDiv(divisor * (limit + 1) - 1 - offset, factor)

  /** The smallest j whose subscript is at least `limit`. */
  def firstFrom(limit: Long): Long = -floorDiv(offset - divisor * limit, factor)

  /** Is this subscript at most the other one, for every j? Both have the same ratio of factor and divisor. */
  def atMost(other: Subscript): Boolean = offset * other.divisor <= other.offset * divisor

  /** Does the subscript grow with j as the time of the view does? The lengths are those of a part of the view and of a
    * part of the source.
    */
  def keepsPace(view: Long, source: Long): Boolean = factor * source == divisor * view

  def +(other: Subscript): Subscript = Subscript.reduced(
    factor * other.divisor + other.factor * divisor,
    offset * other.divisor + other.offset * divisor,
    divisor * other.divisor
  )

  def times(n: Long): Subscript = Subscript.reduced(factor * n, offset * n, divisor)

  def isConstant: Boolean = factor == 0
}

private[views] object Subscript {
  def constant(n: Long): Subscript = Subscript(0, n, 1)
  val variable: Subscript = Subscript(1, 0, 1)

  private def reduced(factor: Long, offset: Long, divisor: Long): Subscript = {
    val common = Vector(factor, offset, divisor).map(n => BigInt(n.abs)).reduce(_ gcd _).toLong
    Subscript(factor / common, offset / common, divisor / common)
  }
}
