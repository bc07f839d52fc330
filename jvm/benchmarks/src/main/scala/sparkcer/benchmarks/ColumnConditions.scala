package sparkcer.benchmarks

import scala.util.matching.Regex

/** The little SQL that the workloads' conditions use: comparisons of a column with a constant, AND, OR, NOT,
  * parentheses.
  */
object ColumnConditions {
  sealed trait Expression
  final case class Compare(column: String, operator: String, constant: Either[String, BigDecimal]) extends Expression
  final case class And(left: Expression, right: Expression) extends Expression
  final case class Or(left: Expression, right: Expression) extends Expression
  final case class Not(of: Expression) extends Expression

  /** TRUE or not, for the event at hand. (There is no NULL among the numbers, and NOT is only asked of those.) */
  trait Test { def holds(event: Events): Boolean }

  def parse(sql: String): Expression = {
    val parser = new Parser(sql)
    parser.whole()
  }

  def conjuncts(e: Expression): Vector[Expression] = e match {
    case And(a, b) => conjuncts(a) ++ conjuncts(b)
    case other     => Vector(other)
  }

  def compile(e: Expression, events: Events): Test = e match {
    case And(a, b) => val (x, y) = (compile(a, events), compile(b, events)); e => x.holds(e) && y.holds(e)
    case Or(a, b)  => val (x, y) = (compile(a, events), compile(b, events)); e => x.holds(e) || y.holds(e)
    case Not(a)    => val x = compile(a, events); e => !x.holds(e)
    case Compare(name, operator, Left(text)) =>
      val c = events.column(name)
      compared(operator)(e => e.ref(c).toString.compareTo(text))
    case Compare(name, operator, Right(number)) =>
      val c = events.column(name)
      if (events.isDouble(c)) doubles(operator, c, number.toDouble)
      else { val n = number.toLongExact; compared(operator)(e => java.lang.Long.compare(e.long(c), n)) }
  }

  private def doubles(operator: String, c: Int, n: Double): Test = operator match {
    case ">"  => _.double(c) > n
    case ">=" => _.double(c) >= n
    case "<"  => _.double(c) < n
    case "<=" => _.double(c) <= n
    case "="  => _.double(c) == n
    case _    => _.double(c) != n
  }

  private def compared(operator: String)(order: Events => Int): Test = operator match {
    case ">"  => order(_) > 0
    case ">=" => order(_) >= 0
    case "<"  => order(_) < 0
    case "<=" => order(_) <= 0
    case "="  => order(_) == 0
    case _    => order(_) != 0
  }

  private val Token: Regex = """\s*('[^']*'|[A-Za-z_]\w*|-?[0-9.]+|<=|>=|<>|!=|[=<>()])""".r

  private class Parser(sql: String) {
    private var tokens = Token.findAllMatchIn(sql).map(_.group(1)).toList
    private def fail(): Nothing = throw new IllegalArgumentException(s"not in the benchmark's subset of SQL: $sql")

    private def accept(word: String): Boolean = tokens match {
      case t :: rest if t.equalsIgnoreCase(word) => tokens = rest; true
      case _                                     => false
    }

    def whole(): Expression = { val e = or(); if (tokens.nonEmpty) fail(); e }

    private def or(): Expression = { var e = and(); while (accept("OR")) e = Or(e, and()); e }
    private def and(): Expression = { var e = one(); while (accept("AND")) e = And(e, one()); e }

    private def one(): Expression =
      if (accept("NOT")) Not(one())
      else if (accept("(")) { val e = or(); if (!accept(")")) fail(); e }
      else
        tokens match {
          case column :: operator :: constant :: rest =>
            tokens = rest
            val value =
              if (constant.startsWith("'")) Left(constant.drop(1).dropRight(1)) else Right(BigDecimal(constant))
            Compare(column, operator, value)
          case _ => fail()
        }
  }
}
