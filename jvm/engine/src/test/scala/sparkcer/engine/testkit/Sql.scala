package sparkcer.engine.testkit

import scala.collection.concurrent.TrieMap

import sparkcer.engine.testkit.Value.{Bool, Null, Num, Text}

/** The part of SQL that the tests write in conditions: comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, numbers and
  * strings in either quotes, arithmetic, with SQL's three truth values. `x.p` is an attribute of the event of a
  * variable, or a column of that name where there is no such variable.
  */
object Sql {
  private type Expression = Row => Value

  /** The event whose columns have no prefix, and those of variables. */
  final case class Row(own: Event, variables: Map[String, Event] = Map.empty) {
    def apply(name: String): Value = name.split("\\.", 2) match {
      case Array(x, a) if variables.contains(x) => variables(x)(a)
      case _                                    => own(name)
    }
  }

  val NoColumns: Event = Event("", Map.empty)

  private val parsed = TrieMap.empty[String, Expression]

  /** Is the condition TRUE of the event (and not NULL)? */
  def holds(condition: String, event: Event): Boolean = holds(condition, Row(event))

  def holds(condition: String, row: Row): Boolean = value(condition, row) == Bool(true)

  def value(expression: String, row: Row): Value =
    parsed.getOrElseUpdate(expression, new Sql(expression).whole())(row)

  /** The parts of a condition that its outermost ANDs join, also those in parentheses around them. */
  def conjuncts(condition: String): Vector[String] = new Sql(condition).conjuncts()

  /** What stands before a dot. */
  def prefixes(expression: String): Set[String] =
    Token.findAllMatchIn(expression).map(_.group(1)).collect { case Path(x) => x }.toSet

  private val Path = """(\w+)\.\w+""".r

  def compare(a: Value, operator: String, b: Value): Boolean = compare(a, b)(Comparisons(operator)) == Bool(true)

  private def arithmetic(sign: String, a: Value, b: Value): Value = (a, b) match {
    case (Num(x), Num(y)) => sign match { case "+" => Num(x + y); case "-" => Num(x - y); case "*" => Num(x * y) }
    case _                => Null
  }

  private def compare(a: Value, b: Value)(test: Int => Boolean): Value = (a, b) match {
    case (Null, _) | (_, Null) => Null
    case (Num(x), Num(y))      => Bool(test(x.compare(y)))
    case (Text(x), Text(y))    => Bool(test(x.compareTo(y)))
    case _                     => throw new IllegalArgumentException(s"a test compares ${a.show} with ${b.show}")
  }

  private def not(a: Value): Value = a match {
    case Bool(x) => Bool(!x)
    case other   => other
  }

  private def and(a: Value, b: Value): Value = (a, b) match {
    case (Bool(false), _) | (_, Bool(false)) => Bool(false)
    case (Bool(true), Bool(true))            => Bool(true)
    case _                                   => Null
  }

  private def or(a: Value, b: Value): Value = not(and(not(a), not(b)))

  private val Comparisons: Map[String, Int => Boolean] = Map(
    "=" -> (_ == 0),
    "==" -> (_ == 0),
    "!=" -> (_ != 0),
    "<>" -> (_ != 0),
    "<" -> (_ < 0),
    "<=" -> (_ <= 0),
    ">" -> (_ > 0),
    ">=" -> (_ >= 0)
  )

  private val Token = """\s*('[^']*'|"[^"]*"|`[^`]*`|-?\d+(?:\.\d+)?|\w+\.\w+|\w+|[<>!=]+|[(),+*-])""".r
}

final private class Sql(text: String) {
  import Sql._

  private val tokens = Token.findAllMatchIn(text).map(_.group(1)).toVector
  private var at = 0

  require(Token.replaceAllIn(text, "").isBlank, s"not in the SQL of the tests: $text")

  private def peek(word: String): Boolean = at < tokens.length && tokens(at).equalsIgnoreCase(word)
  private def take(word: String): Boolean = { val found = peek(word); if (found) at += 1; found }
  private def need(word: String): Unit = require(take(word), s"expected $word in: $text")

  def whole(): Expression = {
    val e = disjunction()
    require(at == tokens.length, s"'${tokens(at)}' is left over in: $text")
    e
  }

  /** A conjunction is a negation, AND, and so on to the end; a part that is nothing but parentheses is what is inside.
    */
  def conjuncts(): Vector[String] = {
    val parts = Vector.newBuilder[(Int, Int)]
    do {
      val start = at
      negation(): Unit
      parts += ((start, at))
    } while (take("AND"))
    if (peek("OR")) Vector(text)
    else
      parts.result() match {
        case Vector((0, _)) =>
          if (isInParentheses) Sql.conjuncts(tokens.slice(1, at - 1).mkString(" ")) else Vector(text)
        case several => several.flatMap { case (a, b) => Sql.conjuncts(tokens.slice(a, b).mkString(" ")) }
      }
  }

  private def isInParentheses: Boolean = {
    at = 0
    peek("(") && { term(): Unit; at == tokens.length }
  }

  private def disjunction(): Expression = {
    var left = conjunction()
    while (take("OR")) { val (a, b) = (left, conjunction()); left = e => or(a(e), b(e)) }
    left
  }

  private def conjunction(): Expression = {
    var left = negation()
    while (take("AND")) { val (a, b) = (left, negation()); left = e => and(a(e), b(e)) }
    left
  }

  private def negation(): Expression =
    if (take("NOT")) { val a = negation(); e => not(a(e)) }
    else test()

  private def test(): Expression = {
    val left = sum()
    if (at < tokens.length && Comparisons.contains(tokens(at))) {
      val sign = Comparisons(tokens(at))
      at += 1
      val right = sum()
      e => compare(left(e), right(e))(sign)
    } else if (take("IS")) {
      val negated = take("NOT")
      need("NULL")
      e => Bool((left(e) == Null) != negated)
    } else {
      val negated = take("NOT")
      val positive: Expression =
        if (take("IN")) membership(left)
        else if (take("BETWEEN")) {
          val low = term()
          need("AND")
          val high = term()
          e => and(compare(left(e), low(e))(_ >= 0), compare(left(e), high(e))(_ <= 0))
        } else left
      if (negated) e => not(positive(e)) else positive
    }
  }

  private def membership(left: Expression): Expression = {
    need("(")
    var choices = Vector(term())
    while (take(",")) choices :+= term()
    need(")")
    e => choices.map(c => compare(left(e), c(e))(_ == 0)).reduce(or)
  }

  private def sum(): Expression = {
    var left = product()
    while (peek("+") || peek("-")) {
      val sign = tokens(at)
      at += 1
      val (a, b) = (left, product())
      left = e => arithmetic(sign, a(e), b(e))
    }
    left
  }

  private def product(): Expression = {
    var left = term()
    while (take("*")) { val (a, b) = (left, term()); left = e => arithmetic("*", a(e), b(e)) }
    left
  }

  private def term(): Expression =
    if (take("(")) {
      val inner = disjunction()
      need(")")
      inner
    } else {
      val t = tokens(at)
      at += 1
      t.head match {
        case '\'' | '"'                       => _ => Text(t.substring(1, t.length - 1))
        case '`'                              => _.apply(t.substring(1, t.length - 1))
        case c if c.isDigit || c == '-'       => _ => Num(BigDecimal(t))
        case _ if t.equalsIgnoreCase("NULL")  => _ => Null
        case _ if t.equalsIgnoreCase("TRUE")  => _ => Bool(true)
        case _ if t.equalsIgnoreCase("FALSE") => _ => Bool(false)
        case _                                => _.apply(t)
      }
    }
}
