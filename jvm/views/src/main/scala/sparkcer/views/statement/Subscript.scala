package sparkcer.views.statement

import sparkcer.engine.ceql.Token

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

  /** Parses a subscript. If that fails, the result is the place of the error and its reason.
    *
    * A quotient is rounded down. Only a whole number can be added to it, and it can be divided again: then the result is
    * still of the form of a [[Subscript]].
    */
  def parse(tokens: Vector[Token], name: Option[String]): Either[(Int, String), Subscript] = {
    var rest = tokens
    def fail(why: String): Nothing = throw Wrong(rest.headOption.orElse(tokens.lastOption).fold(0)(_.start), why)
    def take(sign: String): Boolean = {
      val there = rest.headOption.exists(_.isSymbol(sign))
      if (there) rest = rest.tail
      there
    }
    def sum(): Subscript = {
      var left = product()
      var more = true
      while (more)
        if (take("+")) left = added(left, product())
        else if (take("-")) left = added(left, product().times(-1))
        else more = false
      left
    }
    def added(a: Subscript, b: Subscript): Subscript =
      if (a.divisor == 1 || b.divisor == 1) a + b else fail("two quotients cannot be added")
    def product(): Subscript = {
      var left = factor()
      var more = true
      while (more)
        if (take("*")) {
          val right = factor()
          if (left.divisor != 1 || right.divisor != 1) fail("a quotient cannot be multiplied, because it is rounded")
          else if (left.isConstant) left = right.times(left.offset)
          else if (right.isConstant) left = left.times(right.offset)
          else fail("a subscript is a multiple of the part's own, plus a number")
        } else if (take("/")) {
          val right = factor()
          if (!right.isConstant || right.divisor != 1 || right.offset <= 0)
            fail("it can be divided by a positive number only")
          else left = Subscript(left.factor, left.offset, left.divisor * right.offset)
        } else more = false
      left
    }
    def factor(): Subscript =
      if (take("-")) {
        val negated = factor()
        if (negated.divisor == 1) negated.times(-1) else fail("a quotient cannot be negated, because it is rounded")
      } else if (take("(")) {
        val inner = sum()
        if (!take(")")) fail("a ) is missing")
        inner
      } else
        rest.headOption match {
          case Some(t) if t.kind == Token.Number && t.text.length < 16 =>
            rest = rest.tail
            constant(t.text.toLong)
          case Some(t) if name.exists(n => t.isWord(n)) =>
            rest = rest.tail
            variable
          case Some(t) if t.kind == Token.Word =>
            fail(s"'${t.text}' is not known" + name.fold("")(n => s"; the part's own subscript is '$n'"))
          case _ => fail("a number" + name.fold("")(n => s" or '$n'") + " is missing")
        }
    try {
      val whole = sum()
      if (rest.nonEmpty) fail(s"'${rest.head.text}' does not belong here")
      Right(whole)
    } catch { case Wrong(at, why) => Left((at, why)) }
  }

  private final case class Wrong(at: Int, why: String) extends Exception(why, null, false, false)
}
