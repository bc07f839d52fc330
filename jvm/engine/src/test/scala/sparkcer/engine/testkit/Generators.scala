package sparkcer.engine.testkit

import org.scalacheck.Gen

import sparkcer.engine.ceql._

/** Random queries and streams over types A, B, C of the streams S and T, with attributes `p` (0 to 2), `k` (x or y) and
  * the time `t`, all perhaps NULL. Few values, so that most queries match and most comparisons are close.
  */
object Generators {

  def plainCase: Gen[Case] = for (q <- query; s <- stream) yield Case(q, s)

  /** Cases whose queries have comparisons between events. */
  def comparingCase: Gen[Case] =
    for (q <- comparing; s <- Gen.choose(4, 10).flatMap(streamOf)) yield Case(q, s)

  /** Cases whose queries have quantifiers, sub-windows and conditions on repetitions. */
  def repeatingCase: Gen[Case] =
    for (q <- repeating; s <- Gen.choose(3, 8).flatMap(streamOf)) yield Case(q, s)

  private[testkit] def name(x: String): Name = Name(x)(0)

  // Formulas

  private[testkit] val atom: Gen[Formula] = for {
    kind <- Gen.frequency(5 -> "A", 4 -> "B", 1 -> "C")
    from <- Gen.frequency(12 -> None, 1 -> Some("S"), 1 -> Some("T"))
  } yield Formula.Atom(from, kind)(0)

  /** A variable may be called as a type is. */
  private val variable: Gen[Name] = Gen.frequency(6 -> "x", 6 -> "y", 3 -> "z", 1 -> "A").map(name)

  private[testkit] val condition: Gen[SqlCondition] = Gen
    .oneOf(
      "p = 1",
      "p > 0",
      "p < 2",
      "p != 1",
      "p IS NULL",
      "p IS NOT NULL",
      "p IN (0, 2)",
      "p NOT IN (0, 2)",
      "p BETWEEN 1 AND 2",
      "k = 'x'",
      "NOT (k = 'x')",
      "p = 1 OR k = 'y'",
      "p >= 1 AND k = 'x'",
      "p >= 0"
    )
    .map(SqlCondition(_)(0))

  /** A test of one event, or if `compared`, half of the time, of several. */
  private def condition(variables: Vector[String], size: Int, compared: Boolean): Gen[Condition] = {
    val plain = for (x <- Gen.oneOf(variables); p <- condition) yield Condition.Holds(name(x), p)
    val leaf = if (compared) Gen.frequency(2 -> plain, 5 -> between(variables)) else plain
    def several =
      Gen.frequency(3 -> 2, 1 -> 3).flatMap(Gen.listOfN(_, condition(variables, size - 1, compared))).map(_.toVector)
    if (size == 0) leaf
    else Gen.frequency(4 -> leaf, 2 -> several.map(Condition.And), 3 -> several.map(Condition.Or))
  }

  /** A variable without a stream's name in it, which brackets cannot name. */
  private def between(variables: Vector[String]): Gen[Condition] = {
    val simple = variables.filterNot(_.contains(">"))
    if (simple.isEmpty) for (x <- Gen.oneOf(variables); p <- condition) yield Condition.Holds(name(x), p)
    else
      for {
        x <- Gen.oneOf(simple)
        y <- Gen.frequency(
          5 -> Gen.oneOf(simple.filterNot(_ == x) :+ (if (simple.length > 1) simple.find(_ != x).get else x)),
          1 -> Gen.const(x)
        )
        z <- Gen.oneOf(variables)
        c <- Gen.frequency(
          5 -> comparison(x, y),
          3 -> Gen
            .oneOf(
              s"p = $x.p",
              s"k = $x.k",
              s"p < $x.p",
              s"p != $x.p",
              s"p = $x.p AND k = $x.k",
              s"p > 0 AND p >= $x.p",
              s"p = $x.p OR k = $x.k",
              s"p + $x.p = 2",
              s"$x.p = 1"
            )
            .map(sql => Condition.Holds(name(y), SqlCondition(sql)(0))),
          3 -> Gen
            .oneOf(
              "p >= PREV.p",
              "PREV.p < p",
              "p = PREV.p",
              "k = PREV.k AND p = PREV.p",
              "k != PREV.k",
              "p = PREV.p OR k = 'x'",
              "p + PREV.p < 3",
              s"p = PREV.p AND k = $x.k",
              "p > 0 AND p >= PREV.p",
              "k = 'x' AND (p BETWEEN 0 AND 1 AND p >= PREV.p)",
              "(p = PREV.p OR k = 'y') AND p IS NOT NULL",
              "NOT (p = 2 AND p = PREV.p) AND p NOT BETWEEN 0 AND 0",
              s"p > 0 AND k = PREV.k AND p >= $x.p",
              s"k = $x.k AND p > PREV.p - 2 AND p + PREV.p > $x.p"
            )
            .map(sql => Condition.Holds(name(y), SqlCondition(sql)(0))),
          1 -> comparison(x, z)
        )
      } yield c
  }

  private[testkit] def comparison(x: String, y: String): Gen[Condition] = for {
    attribute <- Gen.frequency(3 -> "p", 2 -> "k")
    operator <- Gen.frequency(
      5 -> Operator.Equal,
      2 -> Operator.NotEqual,
      1 -> Operator.Less,
      1 -> Operator.LessEqual,
      1 -> Operator.Greater,
      1 -> Operator.GreaterEqual
    )
    shift <- Gen.frequency(4 -> false, 1 -> true)
  } yield {
    val left = Operand.Attribute(name(x), attribute)
    val right = Operand.Attribute(name(y), attribute)
    val shifted = Operand.Binary("+", right, Operand.Literal("1"))
    Condition.Compare(left, operator, if (shift && attribute == "p") shifted else right)(0)
  }

  private[testkit] def filtered(body: Formula, size: Int, compared: Boolean): Gen[Formula] =
    if (body.variables.isEmpty) Gen.const(body)
    else condition(body.variables.toVector.sorted, size, compared).map(Formula.Filter(body, _))

  /** The variables of all event types outside NOT: they cover the formula. */
  def covering(f: Formula): Set[String] = f match {
    case a: Formula.Atom   => Set(a.variable)
    case Formula.Not(_)    => Set.empty
    case _: Formula.Absent => Set.empty
    case other             => other.children.flatMap(covering).toSet
  }

  private[testkit] def parted(body: Formula): Gen[Formula] = for {
    attribute <- Gen.oneOf("p", "k")
    each <- Gen.oneOf(true, false)
  } yield {
    val names = covering(body)
    val keys =
      if (each && names.nonEmpty && names == (names & body.variables) && !names.exists(_.contains(">")))
        names.toVector.sorted.map(x => PartKey(Some(name(x)), attribute))
      else Vector(PartKey(None, attribute))
    Formula.PartBy(body, keys)(0)
  }

  /** Of one event, or of one of several. */
  private def negation(compared: Boolean): Gen[Formula] = {
    def named(f: Formula) = Gen.frequency(3 -> Gen.const(f), 1 -> variable.map(Formula.As(f, _)))
    def taken(f: Formula) = named(f).flatMap(n => Gen.frequency(2 -> Gen.const(n), 1 -> filtered(n, 1, compared)))
    val one = atom.flatMap(taken)
    val several = Gen.choose(2, 3).flatMap(Gen.listOfN(_, one)).flatMap(parts => taken(Formula.Or(parts.toVector)))
    Gen.frequency(2 -> one, 1 -> several).map(Formula.Not(_)(0))
  }

  private def parts(size: Int, compared: Boolean): Gen[Vector[Formula]] = for {
    n <- Gen.choose(2, math.min(3, math.max(2, size)))
    list <- Gen.listOfN(n, formula((size - 1) / n, compared))
  } yield list.toVector

  /** @param size
    *   about how many operators
    * @param compared
    *   with comparisons between events, PART-BY and ALL
    */
  def formula(size: Int, compared: Boolean = false): Gen[Formula] = {
    def inside = formula(size - 1, compared)
    if (size <= 0) Gen.frequency(6 -> atom, 1 -> negation(compared))
    else
      Gen.frequency(
        1 -> formula(0, compared),
        6 -> parts(size, compared).map(Formula.Sequence),
        4 -> parts(size, compared).map(Formula.Contiguous),
        4 -> parts(size, compared).map(Formula.Or),
        4 -> Gen.lzy(inside).map(Formula.Iterate(_, contiguous = false)),
        2 -> Gen.lzy(inside).map(Formula.Iterate(_, contiguous = true)),
        4 -> Gen.lzy(inside).flatMap(f => variable.map(Formula.As(f, _))),
        (if (compared) 8 else 4) -> Gen.lzy(inside).flatMap(filtered(_, 1, compared)),
        1 -> Gen.lzy(inside).flatMap(filtered(_, if (compared) 1 else 2, compared)),
        (if (compared) 3 else 0) -> Gen.lzy(inside).flatMap(parted),
        (if (compared) 2 else 0) -> Gen.lzy(parts(math.min(size, 3), compared)).map(p => Formula.All(p.take(2))),
        1 -> Gen.lzy(inside).flatMap(f => Gen.someOf(f.variables).map(kept => Formula.Project(f, kept.toSet)))
      )
  }

  /** A formula with quantifiers, sub-windows and conditions on repetitions, half of the time with comparisons too. */
  private def repeated(size: Int, compared: Boolean): Gen[Formula] = {
    def inside = repeated(size - 1, compared)
    def several = for {
      n <- Gen.choose(2, 3)
      list <- Gen.listOfN(n, repeated((size - 1) / n, compared))
    } yield list.toVector
    if (size <= 0) Gen.frequency(6 -> atom, 1 -> negation(compared))
    else
      Gen.frequency(
        1 -> atom,
        6 -> several.map(Formula.Sequence),
        3 -> several.map(Formula.Contiguous),
        3 -> several.map(Formula.Or),
        1 -> several.map(p => Formula.All(p.take(2))),
        2 -> Gen.lzy(inside).map(Formula.Iterate(_, contiguous = false)),
        5 -> Gen.lzy(inside).flatMap(f => variable.map(Formula.As(f, _))),
        9 -> Gen.lzy(inside).flatMap(f => Repetitions.quantified.flatMap(_(f))),
        3 -> Gen.lzy(inside).flatMap(Repetitions.subWindow),
        6 -> Gen.lzy(inside).flatMap(f => ofRepetition(f, 1)),
        2 -> Gen.lzy(inside).flatMap(filtered(_, 1, compared)),
        (if (compared) 1 else 0) -> Gen.lzy(inside).flatMap(parted)
      )
  }

  /** The formula with a condition on what its repetitions have gathered, perhaps beside others. */
  private def ofRepetition(body: Formula, size: Int): Gen[Formula] = {
    val variables = body.variables.toVector.sorted
    def leaf = Gen.frequency(
      5 -> Gen.lzy(Gen.oneOf(Repetitions.conditions).flatMap(_(variables))),
      1 -> condition(variables, 0, compared = false)
    )
    def several = Gen.listOfN(2, leaf).map(_.toVector)
    if (variables.isEmpty) Gen.const(body)
    else
      Gen
        .frequency(3 -> leaf, 1 -> several.map(Condition.And), (if (size > 0) 2 else 0) -> several.map(Condition.Or))
        .map(Formula.Filter(body, _))
  }

  /** A formula that needs an event at least. */
  private[testkit] def obligatory(f: Formula): Gen[Formula] =
    if (!f.nullable) Gen.const(f)
    else
      Gen.oneOf(
        atom.map(a => Formula.Sequence(Vector(a, f))),
        atom.map(a => Formula.Sequence(Vector(f, a))),
        atom.map(a => Formula.Contiguous(Vector(f, a)))
      )

  /** Two to four events with variables of their own, in some order, and comparisons between them: what people write. */
  private[testkit] val joined: Gen[Formula] = for {
    n <- Gen.frequency(3 -> 2, 3 -> 3, 1 -> 4)
    parts <- Gen.sequence[Vector[Formula], Formula](Vector("x", "y", "z", "w").take(n).map(part))
    either = if (n > 2) Formula.Or(parts.tail) else parts(1)
    body <- Gen.frequency[Formula](
      8 -> Formula.Sequence(parts),
      1 -> Formula.Contiguous(parts),
      2 -> Formula.All(parts.take(2)),
      1 -> Formula.Sequence(Vector(parts.head, either))
    )
    named <- Gen.frequency[Formula](3 -> body, 1 -> Formula.As(body, name("v")))
    once <- filtered(named, 1, compared = true)
    again <- Gen.frequency(1 -> Gen.const(once), 1 -> filtered(once, 0, compared = true), 1 -> parted(once))
    whole <- Gen.frequency[Formula](6 -> again, 1 -> Formula.Iterate(again, contiguous = false))
  } yield whole

  private def part(x: String): Gen[Formula] = for {
    a <- atom
    f <- Gen.frequency[Formula](
      6 -> Formula.As(a, name(x)),
      1 -> Formula.Iterate(Formula.As(a, name(x)), contiguous = false),
      1 -> Formula.As(Formula.Iterate(a, contiguous = false), name(x))
    )
  } yield f

  // Queries

  private def select(where: Formula): Gen[Select] = for {
    strategy <- Gen.frequency(
      4 -> Strategy.All,
      3 -> Strategy.Next,
      3 -> Strategy.Last,
      3 -> Strategy.Max,
      2 -> Strategy.Strict
    )
    distinct <- Gen.frequency(4 -> false, 1 -> true)
    some <- Gen.someOf(where.variables.toVector.sorted)
    items = some.toVector.map(x => SelectList.Item(name(x), None))
    list <- Gen.frequency(
      4 -> Gen.const(SelectList.All),
      1 -> Gen.const(SelectList.NoVariables),
      3 -> Gen.const(if (items.isEmpty) SelectList.All else SelectList.Variables(items))
    )
  } yield Select(strategy, distinct, list)

  private val within: Gen[Option[Window]] = {
    val size = Gen.frequency(1 -> 0, 2 -> 1, 3 -> 2, 3 -> 3, 2 -> 4, 1 -> 6).map(n => Quantity.Number(BigDecimal(n)))
    Gen.frequency(
      3 -> Gen.const(None),
      2 -> size.map(n => Some(Window.Events(n))),
      3 -> size.map(n => Some(Window.Attribute(n, name("t")))),
      1 -> Gen.choose(1L, 6L).map(s => Some(Window.Duration(s * 1000000)))
    )
  }

  val query: Gen[Query] = queryOf(compared = false)

  /** With comparisons between events. */
  val comparing: Gen[Query] = queryOf(compared = true)

  /** With quantifiers, sub-windows and conditions on repetitions. */
  val repeating: Gen[Query] = for {
    size <- Gen.choose(1, 7)
    compared <- Gen.oneOf(true, false)
    drawn <- repeated(size, compared)
    where <- obligatory(drawn)
    query <- queryOver(where)
  } yield query

  private def queryOf(compared: Boolean): Gen[Query] = for {
    size <- Gen.choose(if (compared) 2 else 0, if (compared) 7 else 9)
    where <- if (compared) Gen.frequency(1 -> formula(size, compared), 2 -> joined) else formula(size)
    query <- queryOver(where)
  } yield query

  private[testkit] def queryOver(where: Formula): Gen[Query] = for {
    select <- select(where)
    keys <- Gen.frequency(4 -> Nil, 2 -> List("k"), 1 -> List("k", "p"))
    within <- within
    consume <- Gen.frequency(4 -> Consume.None, 1 -> Consume.Partition, 1 -> Consume.Any)
  } yield Simpler.valid(
    Query(select, Vector(name("S"), name("T")), where, keys.toVector.map(name), within, consume)("")
  )

  /** The query with another strategy and other clauses. */
  private[testkit] def caseOf(
      q: Query,
      strategy: Strategy,
      consume: Consume,
      counts: Boolean,
      events: Vector[Event]
  ): Case = {
    val list = if (counts) SelectList.Count else SelectList.All
    Case(Simpler.valid(q.copy(select = Select(strategy, q.select.distinct, list), consumeBy = consume)("")), events)
  }

  // Streams

  private val event: Gen[Event] = for {
    kind <- Gen.frequency(6 -> "A", 5 -> "B", 1 -> "C", 1 -> "X")
    from <- Gen.frequency(3 -> "S", 2 -> "T")
    p <- Gen.frequency(3 -> "0", 8 -> "1", 3 -> "2", 1 -> "null")
    k <- Gen.frequency(8 -> "x", 3 -> "y", 1 -> "null")
  } yield Event(kind, Map("p" -> Value(p), "k" -> Value(k)), from)

  /** Times never decrease, and may stand still or be NULL. */
  def streamOf(length: Int): Gen[Vector[Event]] = for {
    events <- Gen.listOfN(length, event)
    steps <- Gen.listOfN(length, Gen.frequency(1 -> 0, 4 -> 1, 1 -> 2))
    known <- Gen.listOfN(length, Gen.frequency(9 -> true, 1 -> false))
  } yield events.toVector.zip(steps.scanLeft(0)(_ + _)).zip(known).map { case ((e, time), isKnown) =>
    e.copy(attributes = e.attributes + ("t" -> (if (isKnown) Value.Num(time) else Value.Null)))
  }

  val stream: Gen[Vector[Event]] =
    Gen.frequency(1 -> Gen.choose(0, 3), 4 -> Gen.choose(4, 9)).flatMap(streamOf)
}
