package sparkcer.engine.ceql

import sparkcer.engine.ceql.Condition._

/** Separates the conditions of a FILTER, which stay `X[P]`, from its comparisons between events. A name is resolved
  * here, because the formula tells which variables there are.
  */
object Comparisons {

  /** @param text the query, for messages */
  def resolve(condition: Condition, body: Formula, text: String): Condition = {
    val bound = body.variables
    val certain = body.certain
    def walk(c: Condition): Condition = c match {
      case And(parts)       => And(parts.map(walk))
      case Or(parts)        => Or(parts.map(walk))
      case c: Compare       => Repetitions.bound(c.left.variables ++ c.right.variables, compare(c, text))
      case OfEnd(end, x, p) => Repetitions.ofEnd(end, x, p, bound, text)
      case Holds(x, p)      => new Brackets(x, p, bound, certain).result
      case Exists(x, p)     => Repetitions.exists(x, p, bound, text)
      case c: Count         => Repetitions.counted(c, text)
      case e: Extreme       => Repetitions.extreme(e)
      case compared @ (_: Compared | _: Counted) => compared
    }
    walk(condition)
  }

  /** Is a FILTER split as in the first version, which kept conjuncts without PREV together with those that have it? */
  private[engine] def asFirst(condition: Condition, body: Formula): Boolean = condition match {
    case And(parts)  => parts.forall(asFirst(_, body))
    case Or(parts)   => parts.forall(asFirst(_, body))
    case Holds(x, p) =>
      val brackets = new Brackets(x, p, body.variables, body.certain)
      brackets.result == brackets.whole
    case _ => true
  }

  /** The SQL of an expression whose variables all stand for the event whose columns have no prefix. */
  def withoutVariables(e: Comparison.Expression): String =
    References.without(e.sql, References(e.sql, e.variables.contains(_)))

  /** The SQL of an expression with other names for its variables and PREV. */
  def renamed(e: Comparison.Expression, names: String => String): String =
    References.replaced(e.sql, References(e.sql, e.variables.contains(_)), n => s"${names(n.variable)}.")

  /** Without brackets every attribute has its variable. */
  private def compare(c: Compare, text: String): Condition = {
    val names = (c.left.variables ++ c.right.variables).distinct
    names match {
      case Vector() =>
        throw new CeqlException(text, c.offset, "CER_SYNTAX.COMPARISON_WITHOUT_VARIABLE")
      case Vector(x) => Holds(x, SqlCondition(sql(c, _.path))(c.offset))
      case _         =>
        comparison(c.left, c.operator, c.right, c.offset).getOrElse(
          Compared(Comparison.Expression(sql(c, written), None, names.map(_.value), previous = false)(c.offset))
        )
    }
  }

  private def written(a: Operand.Attribute): String = s"${Printer.name(a.variable.value)}.${a.path}"

  private def sql(c: Compare, attribute: Operand.Attribute => String): String =
    s"${c.left.sql(attribute)} ${c.operator.sign} ${c.right.sql(attribute)}"

  /** A comparison of a term of one variable with a term of another. */
  private def comparison(left: Operand, operator: Operator, right: Operand, offset: Int): Option[Condition] = {
    def term(o: Operand): Option[Term] = o.variables match {
      case Vector(x) => Some(Term(x.value, o.sql(_.path))(Printer.print(o)))
      case _         => None
    }
    for (l <- term(left); r <- term(right)) yield Compared(operator match {
      case Operator.Greater | Operator.GreaterEqual => Comparison.Pair(r, operator.mirrored, l)(offset)
      case _                                        => Comparison.Pair(l, operator, r)(offset)
    })
  }

  /** `x[P]`, perhaps with other variables or PREV in P. */
  final private class Brackets(x: Name, private val p: SqlCondition, bound: Set[String], certain: Set[String]) {
    private val named = References(p.sql, bound)
    private val others = named.map(_.variable).filter(_ != x.value).distinct
    private val previous = others.contains(Comparison.Prev)

    def result: Condition = if (!previous) whole
    else
      apart match {
        case Vector(one) => one.whole
        case several     => And(several.map(_.whole))
      }

    /** The conjuncts of a condition with PREV. Each is separate, so that one without PREV also applies to the first
      * event. Conjuncts that name the same variables stay together as written, so that one can guard the next from an
      * error in Spark.
      */
    private def apart: Vector[Brackets] = {
      val parts = Conjuncts(p.sql).map(sql => new Brackets(x, SqlCondition(sql)(p.offset), bound, certain))
      parts.map(_.others.toSet).distinct.map { names =>
        val together = Conjuncts.join(parts.filter(_.others.toSet == names).map(_.p.sql))
        new Brackets(x, SqlCondition(together)(p.offset), bound, certain)
      }
    }

    def whole: Condition =
      if (others.isEmpty) Holds(x, if (named.isEmpty) p else SqlCondition(References.without(p.sql, named))(p.offset))
      else
        split.getOrElse(
          Compared(Comparison.Expression(p.sql, Some(x.value), others.filter(_ != Comparison.Prev), previous)(p.offset))
        )

    /** The parts of a conjunction as comparisons of their own. A part then no longer waits until all variables of the
      * whole have an event, which is correct only if each has one in every match. Either all parts have PREV or none
      * has.
      */
    private def split: Option[Condition] = comparisons.flatMap { parts =>
      val names = parts.map(c => (c.left.variables ++ c.right.variables).map(_.value).toSet)
      val whole = names.flatten.toSet + x.value
      val separable =
        if (previous) names.forall(_ == Set(x.value, Comparison.Prev))
        else parts.length == 1 && names.head == whole || whole.subsetOf(certain)
      if (!separable) None
      else {
        val conditions = parts.map(c => if (previous) consecutive(c) else between(c))
        if (conditions.contains(None)) None
        else Some(if (conditions.length == 1) conditions.head.get else And(conditions.flatten))
      }
    }

    private def between(c: Compare): Option[Condition] = (c.left.variables ++ c.right.variables).distinct match {
      case Vector(y)                  => Some(Holds(y, SqlCondition(sql(c, _.path))(p.offset)))
      case names if names.length == 2 => comparison(c.left, c.operator, c.right, p.offset)
      case _                          => None
    }

    private def consecutive(c: Compare): Option[Condition] =
      (c.left.variables.map(_.value), c.right.variables.map(_.value)) match {
        case (Vector(Comparison.Prev), Vector(_)) => Some(compared(c.left, c.operator, c.right))
        case (Vector(_), Vector(Comparison.Prev)) => Some(compared(c.right, c.operator.mirrored, c.left))
        case _                                    => None
      }

    private def compared(before: Operand, operator: Operator, current: Operand): Condition = {
      val (was, is) = (before.sql(_.path), current.sql(_.path))
      val shown = Term(x.value, was)(before.sql(a => s"${Comparison.Prev}.${a.path}"))
      Compared(Comparison.Consecutive(shown, operator, Term(x.value, is)(is))(p.offset))
    }

    /** P as comparisons joined by AND, if it has that form. */
    private def comparisons: Option[Vector[Compare]] =
      try {
        val tokens = new QueryLexer(p.sql).tokens()
        val operands = new Operands(p.sql, tokens, Operands.Inside(x, bound))
        val parts = Vector.newBuilder[Compare]
        var at = -1
        do {
          val (left, operator, right, next) = operands.comparison(at + 1)
          parts += Compare(left, operator, right)(p.offset)
          at = next
        } while (tokens(at).isWord("AND"))
        if (tokens(at).kind == Token.End) Some(parts.result()) else None
      } catch { case _: CeqlException => None }
  }
}

/** Where an SQL text names attributes of variables: `v.a` where `v` is a variable, or PREV. */
private[ceql] object References {
  final case class At(variable: String, start: Int, afterDot: Int)

  def apply(sql: String, isVariable: String => Boolean): Vector[At] = {
    val found = Vector.newBuilder[At]
    var at = 0
    var afterDot = false
    while (at < sql.length) {
      val past = Lexer.skipOpaque(sql, at)
      if (past > at) { afterDot = false; at = past }
      else if (Lexer.isNameStart(sql(at)) || sql(at).isDigit) {
        var end = at
        while (end < sql.length && Lexer.isNamePart(sql(end))) end += 1
        val word = sql.substring(at, end)
        val dot = Lexer.skipBlank(sql, end)
        if (!afterDot && dot < sql.length && sql(dot) == '.') {
          if (word.equalsIgnoreCase(Comparison.Prev)) found += At(Comparison.Prev, at, dot + 1)
          else if (isVariable(word)) found += At(word, at, dot + 1)
        }
        afterDot = false
        at = end
      } else {
        if (!sql(at).isWhitespace) afterDot = sql(at) == '.'
        at += 1
      }
    }
    found.result()
  }

  /** The text without the variables in front of attributes. */
  def without(sql: String, named: Vector[At]): String = replaced(sql, named, _ => "")

  /** The text with something else for the variables and their dots. */
  def replaced(sql: String, named: Vector[At], by: At => String): String = {
    val out = new StringBuilder
    var from = 0
    named.foreach { n => out ++= sql.substring(from, n.start) ++= by(n); from = n.afterDot }
    (out ++= sql.substring(from)).toString
  }
}
