package sparkcer.engine.ceql

import java.util.Locale

import sparkcer.engine.ceql.Operand.{Aggregate, Binary, Call, Literal, Negative}

/** Aggregates in a FILTER. What an automaton can keep track of is a condition there: how many events a variable has,
  * its smallest and its largest value against a constant, its first and its last event. Anything else, such as a sum,
  * would have to remember every possible value, and is left to HAVING.
  */
private[ceql] object Aggregates {
  val Count = "count"

  private val Extremes = Set("min", "max")
  private val Others =
    Set("sum", "avg", "mean", "median", "collect", "collect_list", "collect_set", "stddev", "variance")

  /** Can an aggregate begin with this word? */
  def isName(t: Token): Boolean =
    t.kind == Token.Word && (inFilter(t.text.toLowerCase(Locale.ROOT)) || Others(t.text.toLowerCase(Locale.ROOT)))

  def inFilter(function: String): Boolean =
    function == Count || Extremes(function) || End.byWord.contains(function.toUpperCase(Locale.ROOT))

  /** The comparison of two operands as a condition: of an aggregate with a constant, or of columns. */
  def condition(left: Operand, operator: Operator, right: Operand, offset: Int, text: String): Condition =
    (left, right) match {
      case (a: Aggregate, c) if isConstant(c) => condition(a, operator, c, offset, text)
      case (c, a: Aggregate) if isConstant(c) => condition(a, operator.mirrored, c, offset, text)
      case _                                  =>
        (aggregates(left) ++ aggregates(right)).headOption.foreach(a => refuse(text, a.offset, a.shown))
        Condition.Compare(left, operator, right)(offset)
    }

  private def condition(a: Aggregate, operator: Operator, c: Operand, offset: Int, text: String): Condition =
    if (a.function == Count) Condition.Count(a.variable, operator, number(a, c, offset, text))(offset)
    else Condition.Extreme(a.function == "max", a.variable, a.argument.get, operator, c)(offset)

  private def number(a: Aggregate, c: Operand, offset: Int, text: String): Quantity = c match {
    case Literal(parameter) if parameter.startsWith(":") =>
      val name = parameter.drop(1)
      Quantity.Parameter(Name(name)(text.indexOf(parameter, offset) + 1))
    case Literal(n) if n.nonEmpty && n.forall(_.isDigit) => Quantity.Number(BigDecimal(n))
    case _                                               =>
      throw new CeqlException(text, offset, "CER_SYNTAX.COUNT", "count" -> a.shown, "found" -> c.sql(_.path))
  }

  private def isConstant(o: Operand): Boolean = o.variables.isEmpty

  private def aggregates(o: Operand): Vector[Aggregate] = o match {
    case a: Aggregate    => Vector(a)
    case Call(_, args)   => args.flatMap(aggregates)
    case Negative(of)    => aggregates(of)
    case Binary(_, l, r) => aggregates(l) ++ aggregates(r)
    case _               => Vector.empty
  }

  /** The text of a call, from the token of its name to the parenthesis that closes it. */
  def written(text: String, tokens: Vector[Token], at: Int): String = {
    var depth = 0
    var i = at + 1
    do {
      if (tokens(i).isSymbol("(")) depth += 1
      if (tokens(i).isSymbol(")")) depth -= 1
      i += 1
    } while (depth > 0 && i < tokens.length)
    text.substring(tokens(at).start, tokens(math.min(i, tokens.length) - 1).end)
  }

  def refuse(text: String, offset: Int, aggregate: String): Nothing =
    throw new CeqlException(text, offset, "CER_UNSUPPORTED.AGGREGATE", "aggregate" -> aggregate)

  /** `cuont(x)` */
  def unknown(text: String, function: Token, variable: String): Nothing =
    throw new CeqlException(
      text,
      function.start,
      "CER_UNSUPPORTED.FUNCTION_OF_EVENTS",
      "function" -> function.text,
      "variable" -> variable,
      "suggestion" -> CeqlException.suggestion(function.text.toLowerCase(Locale.ROOT), OfEvents)
    )

  private val OfEvents = Vector(Count, "first", "last")

  /** `max(x)` */
  def withoutColumn(text: String, offset: Int, function: String, variable: String): Nothing =
    throw new CeqlException(
      text,
      offset,
      "CER_SYNTAX.AGGREGATE_COLUMN",
      "function" -> function,
      "variable" -> variable
    )
}
