package sparkcer.views.statement

import sparkcer.engine.ceql.Token

/** Parses subscripts. A quotient is rounded down, so only a whole number can be added to it, and it can only be divided
  * again. Then the result is still of the form of a [[Subscript]].
  */
private[views] object SubscriptParser {

  /** @param variable
    *   the name of the subscript of the part that is computed, if there is one
    */
  def apply(tokens: Vector[Token], variable: Option[String]): Either[SubscriptError, Subscript] = {
    var rest = tokens
    def fail(error: String, parameters: (String, String)*): Nothing =
      throw SubscriptError(rest.headOption.orElse(tokens.lastOption).map(_.start), error, parameters)
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
      if (a.divisor == 1 || b.divisor == 1) a + b else fail("SUBSCRIPT_QUOTIENTS")
    def product(): Subscript = {
      var left = factor()
      var more = true
      while (more)
        if (take("*")) {
          val right = factor()
          if (left.divisor != 1 || right.divisor != 1) fail("SUBSCRIPT_QUOTIENT")
          else if (left.isConstant) left = right.times(left.offset)
          else if (right.isConstant) left = left.times(right.offset)
          else fail("SUBSCRIPT_MULTIPLE")
        } else if (take("/")) {
          val right = factor()
          if (!right.isConstant || right.divisor != 1 || right.offset <= 0)
            fail("SUBSCRIPT_DIVISOR")
          else left = Subscript(left.factor, left.offset, left.divisor * right.offset)
        } else more = false
      left
    }
    def factor(): Subscript =
      if (take("-")) {
        val negated = factor()
        if (negated.divisor == 1) negated.times(-1) else fail("SUBSCRIPT_NEGATED")
      } else if (take("(")) {
        val inner = sum()
        if (!take(")")) fail("SUBSCRIPT_PARENTHESIS")
        inner
      } else
        rest.headOption match {
          case Some(t) if t.kind == Token.Number && t.text.length < 16 =>
            rest = rest.tail
            Subscript.constant(t.text.toLong)
          case Some(t) if variable.exists(t.isWord) =>
            rest = rest.tail
            Subscript.variable
          case next =>
            (variable, next.filter(_.kind == Token.Word)) match {
              case (Some(own), Some(t)) => fail("SUBSCRIPT_NAME", "name" -> t.text, "variable" -> own)
              case (Some(own), None)    => fail("SUBSCRIPT", "variable" -> own)
              case (None, _)            => fail("SUBSCRIPT_NUMBER")
            }
        }
    try {
      val whole = sum()
      if (rest.nonEmpty) fail("SUBSCRIPT_END", "found" -> rest.head.text)
      Right(whole)
    } catch { case e: SubscriptError => Left(e) }
  }

}

/** @param at
  *   the place of the error, if the subscript is not empty
  * @param error
  *   its key in the catalogue, without the condition
  */
private[views] final case class SubscriptError(at: Option[Int], error: String, parameters: Seq[(String, String)])
    extends Exception(error, null, false, false)
