package sparkcer.engine.ceql

import java.util.Locale

/** Reads the conditions of a FILTER. */
abstract private[ceql] class ConditionReader(text: String) extends WindowReader(text) {
  import Parser.isName

  /** @param body the formula before FILTER */
  protected def condition(body: Formula): Condition = nested(
    chain("OR", () => chain("AND", () => simpleCondition(body), Condition.And), Condition.Or)
  )

  protected def simpleCondition(body: Formula): Condition = {
    val start = token
    val operands = new Operands(text, tokens, Operands.Outside(body))
    if (token.isWord("SOME") && isName(ahead(1))) {
      index += 1
      Condition.Exists(variableName("a variable after SOME"), conditionInBrackets("SOME x"))
    } else if (isEndInBrackets) ofEnd()
    else if (operands.startsAt(index)) comparison(operands)
    else if (start.isSymbol("(")) {
      index += 1
      val c = condition(body)
      close(start, "AND, OR", Vector("AND", "OR"))
      c
    } else {
      if (Whose.startsAt(tokens, index)) Whose.refuse(text, tokens, index, body)
      val what = "a variable with a condition in brackets, such as x[price > 20]"
      val variable = variableName(what)
      Condition.Holds(variable, conditionInBrackets(variable.value))
    }
  }

  protected def conditionInBrackets(after: String): SqlCondition =
    if (token.kind == Token.Bracket) sqlCondition()
    else expected(s"a condition in brackets after '$after', such as $after[price > 20]", Nil)

  /** `first(x)[…]` or `last(x)[…]` */
  protected def isEndInBrackets: Boolean =
    token.isOneOf(End.byWord.contains) && ahead(1).isSymbol("(") && {
      val close = if (ahead(3).isSymbol(">")) 5 else 3
      isName(ahead(2)) && ahead(close).isSymbol(")") && ahead(close + 1).kind == Token.Bracket
    }

  protected def ofEnd(): Condition = {
    val end = End.byWord(token.text.toUpperCase(Locale.ROOT))
    index += 2
    val x = variableName("a variable")
    symbol(")")
    Condition.OfEnd(end, x, sqlCondition())
  }

  protected def comparison(operands: Operands): Condition = {
    val at = token.start
    val (compared, next) = operands.comparisons(index)
    index = next
    compared.map { case (left, operator, right) => Aggregates.condition(left, operator, right, at, text) } match {
      case Vector(one) => one
      case several     => Condition.And(several)
    }
  }

  protected def sqlCondition(): SqlCondition = {
    val inside = token.text.substring(1, token.text.length - 1)
    val sql = ConditionText.toSql(inside, text, token.start + 1)
    if (sql.isEmpty) throw new CeqlException(text, token.start, "CER_SYNTAX.EMPTY_CONDITION")
    val offset = token.start + 1 + inside.takeWhile(_.isWhitespace).length
    index += 1
    SqlCondition(sql)(offset)
  }
}
