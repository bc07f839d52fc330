package sparkcer.engine.ceql

import java.util.Locale

/** Writes a query or a formula as text that parses to itself. */
object Printer {

  def print(q: Query): String = clauses(q, print(q.where))

  /** The query with `…` for its pattern: what a picture of the pattern does not show. */
  def outline(q: Query): String = clauses(q, "…")

  private def clauses(q: Query, pattern: String): String = {
    val parts = Vector(
      Some(s"SELECT ${select(q.select)}"),
      Some(s"FROM ${q.from.map(n => name(n.value)).mkString(", ")}"),
      Some(s"WHERE $pattern"),
      if (q.partitionBy.isEmpty) None else Some(s"PARTITION BY [${q.partitionBy.map(_.value).mkString(", ")}]"),
      q.within.map(w => s"WITHIN ${window(w)}"),
      if (q.consumeBy == Consume.None) None else Some(s"CONSUME BY ${q.consumeBy.word}"),
      q.limit.map(n => s"LIMIT ${quantity(n)}"),
      q.having.map(h => s"HAVING ${h.sql}")
    )
    parts.flatten.mkString(" ")
  }

  def print(f: Formula): String = formula(f, Loosest)

  def print(c: Condition): String = c match {
    case Condition.Holds(x, p)          => s"${variable(x.value)}[${p.sql}]"
    case Condition.Compare(l, op, r)    => s"${operand(l)} ${op.sign} ${operand(r)}"
    case Condition.OfEnd(end, x, p)     => s"${end.word}(${variable(x.value)})[${p.sql}]"
    case Condition.Exists(x, p)         => s"SOME ${variable(x.value)}[${p.sql}]"
    case Condition.Count(x, op, n)      => s"count(${variable(x.value)}) ${op.sign} ${quantity(n)}"
    case e: Condition.Extreme           => extreme(e)
    case Condition.Compared(comparison) => comparison.show
    case c: Condition.Counted           => throw new IllegalArgumentException(s"nobody writes $c")
    case Condition.And(parts)           => parts.map(inParens(_)).mkString(" AND ")
    case Condition.Or(parts)            => parts.map(inParens(_)).mkString(" OR ")
  }

  def print(o: Operand): String = operand(o)

  def print(w: Window): String = window(w)

  def print(q: Quantity): String = quantity(q)

  private def extreme(e: Condition.Extreme): String =
    s"${if (e.isMax) "max" else "min"}(${operand(e.argument)}) ${e.operator.sign} ${operand(e.bound)}"

  private def operand(o: Operand): String = o.sql(a => s"${variable(a.variable.value)}.${a.path}")

  // Precedence: the larger, the tighter.
  private val Loosest = 0
  private val Disjunct = 1
  private val AllOf = 2
  private val Adjacent = 3
  private val Step = 4
  private val Suffixed = 5

  private def formula(f: Formula, around: Int): String = {
    val (level, text) = f match {
      case Formula.Atom(stream, eventType)   => (Suffixed, stream.fold("")(name(_) + ">") + name(eventType))
      case Formula.Not(body)                 => (Suffixed, s"NOT(${formula(body, Loosest)})")
      case Formula.As(body, x)               => (Suffixed, s"${formula(body, Suffixed)} AS ${name(x.value)}")
      case Formula.Iterate(body, contiguous) => (Suffixed, formula(body, Suffixed) + (if (contiguous) ":+" else "+"))
      case Formula.Sequence(parts)           => (Step, parts.map(formula(_, Suffixed)).mkString(" ; "))
      case Formula.Absent(body)              => (Suffixed, absent(body))
      case b: Formula.NoneBetween            =>
        (Step, s"${before(b.before)} ; NO ${formula(b.absent, Suffixed)} ; ${after(b.after)}")
      case Formula.NoneAfter(body, a, d) =>
        // Without parentheses, a NO before the body would be before the whole.
        val around = if (body.isInstanceOf[Formula.NoneBefore]) Suffixed else Adjacent
        (Adjacent, s"${formula(body, around)} ; NO ${formula(a, Suffixed)}${d.fold("")(w => s" FOR ${window(w)}")}")
      case Formula.NoneBefore(a, d, body) =>
        (Adjacent, s"NO ${formula(a, Suffixed)} FOR ${window(d)} ; ${formula(body, Adjacent)}")
      case Formula.Without(body, a) =>
        (Loosest, s"${formula(body, Loosest)} WITHOUT ${formula(a, Suffixed)}")
      case Formula.Contiguous(parts)  => (Adjacent, parts.map(formula(_, Step)).mkString(" : "))
      case Formula.All(parts)         => (AllOf, parts.map(formula(_, Adjacent)).mkString(" ALL "))
      case Formula.Or(parts)          => (Disjunct, parts.map(formula(_, AllOf)).mkString(" OR "))
      case Formula.PartBy(body, keys) =>
        val list = keys.map(k => k.variable.fold("")(x => name(x.value) + ".") + k.attribute).mkString(", ")
        (Loosest, s"${formula(body, Loosest)} PART-BY [$list]")
      case Formula.Filter(body, c)   => (Loosest, s"${formula(body, Loosest)} FILTER ${print(c)}")
      case r: Formula.Repeat         => (Suffixed, formula(r.body, Suffixed) + rounds(r))
      case Formula.Within(body, w)   => (Suffixed, s"(${formula(body, Loosest)} WITHIN ${window(w)})")
      case Formula.Project(body, xs) =>
        (Suffixed, s"π{${xs.toVector.sorted.mkString(", ")}}(${formula(body, Loosest)})")
    }
    if (level < around) s"($text)" else text
  }

  /** A type, or anything else in parentheses. */
  private def absent(body: Formula): String = body match {
    case a: Formula.Atom => formula(a, Suffixed)
    case other           => s"(${formula(other, Loosest)})"
  }

  /** What stands before NO. If its last part can be without events, it needs parentheses. */
  private def before(f: Formula): String = f match {
    case Formula.Sequence(parts) => formula(f, if (parts.last.nullable) Suffixed else Step)
    case _: Formula.NoneBetween  => formula(f, Step)
    case other                   => formula(other, Suffixed)
  }

  /** What stands after NO. */
  private def after(f: Formula): String = f match {
    case Formula.Sequence(parts) => formula(f, if (parts.head.nullable) Suffixed else Step)
    case other                   => formula(other, Suffixed)
  }

  private def rounds(r: Formula.Repeat): String = {
    val sign = if (r.contiguous) ":" else ""
    (r.least, r.most) match {
      case (Quantity.Number(n), None) if n == 0                                                => s"$sign*"
      case (Quantity.Number(n), Some(Quantity.Number(m))) if n == 0 && m == 1 && !r.contiguous => "?"
      case (n, None)    => s"$sign{${quantity(n)},}"
      case (n, Some(m)) => if (n == m) s"$sign{${quantity(n)}}" else s"$sign{${quantity(n)},${quantity(m)}}"
    }
  }

  private def inParens(c: Condition): String = c match {
    case Condition.And(_) | Condition.Or(_) => s"(${print(c)})"
    case _                                  => print(c)
  }

  private def select(s: Select): String = {
    val list = s.list match {
      case SelectList.All                  => "*"
      case SelectList.NoVariables          => "NONE"
      case SelectList.Count                => "COUNT(*)"
      case SelectList.Variables(items)     => items.map(shown).mkString(", ")
      case SelectList.Columns(items, flat) => (if (flat) "FLAT " else "") + items.map(shown).mkString(", ")
    }
    val distinct = if (s.distinct) "DISTINCT " else ""
    val strategy = if (s.strategy == Strategy.All) "" else s.strategy.word + " "
    distinct + strategy + list
  }

  private def shown(s: SelectList.Shown): String = s match {
    case SelectList.Star                       => "*"
    case SelectList.Measure(sql, as)           => s"$sql AS ${name(as.value)}"
    case SelectList.Item(x, attributes, other) =>
      variable(x.value) + attributes.fold("")(_.map(_.value).mkString("[", ", ", "]")) +
        other.fold("")(as => s" AS ${name(as.value)}")
  }

  private def window(w: Window): String = w match {
    case Window.Events(n)                   => s"${quantity(n)} EVENTS"
    case Window.Attribute(n, a)             => s"${quantity(n)} [${a.value}]"
    case Window.Duration(micros)            => duration(micros)
    case Window.Length(p)                   => s":${name(p.value)}"
    case Window.OpenDuration(micros, parts) =>
      val open = parts.map { case (n, size) => s":${name(n.value)} ${WindowReader.unitOf(size)}" }
      (open ++ (if (micros == 0) Vector.empty else Vector(duration(micros)))).mkString(" ")
  }

  /** `2 hours 30 minutes`. */
  private[ceql] def duration(micros: Long): String = {
    val (text, _) = Durations.foldLeft((Vector.empty[String], micros)) { case ((done, left), size) =>
      val n = left / size
      if (n == 0) (done, left) else (done :+ s"$n ${WindowReader.unitOf(size)}${if (n == 1) "" else "s"}", left % size)
    }
    if (text.isEmpty) "0 seconds" else text.mkString(" ")
  }

  /** Days, hours, minutes, seconds, milliseconds and microseconds. */
  private val Durations = Vector(86400000000L, 3600000000L, 60000000L, 1000000L, 1000L, 1L)

  private def quantity(q: Quantity): String = q match {
    case Quantity.Number(v)    => v.bigDecimal.toPlainString
    case Quantity.Parameter(n) => ":" + name(n.value)
  }

  private[ceql] def variable(x: String): String = Ends.of(x) match {
    case Some((end, of)) => Ends.name(end, variable(of))
    case None            => x.split(">", 2).map(name).mkString(">")
  }

  /** A name is quoted always when it might be read as anything else. */
  private[ceql] def name(x: String): String =
    if (x.matches("(?U)[\\p{L}_][\\p{L}\\p{N}_]*") && !Quote(x.toUpperCase(Locale.ROOT))) x
    else "`" + x.replace("`", "``") + "`"

  /** Words that are read as something else in some places only. */
  private val Quote = Parser.Reserved ++
    Set(
      "DISTINCT",
      "ANY",
      "NEXT",
      "LAST",
      "MAX",
      "STRICT",
      "NONE",
      "COUNT",
      "BY",
      "EVENTS",
      "EVENT",
      "PART",
      "FLAT",
      "CASE",
      "NO",
      "WITHOUT",
      "FOR"
    )
}
