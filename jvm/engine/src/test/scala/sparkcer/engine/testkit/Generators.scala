package sparkcer.engine.testkit

import org.scalacheck.{Arbitrary, Gen}

import sparkcer.engine.ceql._

/** Random queries and streams over types A, B, C of the streams S and T, with attributes `p` (0 to 2), `k` (x or y) and
  * the time `t`, all perhaps NULL. Few values, so that most queries match and most comparisons are close.
  */
object Generators {

  implicit val arbitraryCase: Arbitrary[Case] = Arbitrary(for (q <- query; s <- stream) yield Case(q, s))

  private def name(x: String): Name = Name(x)(0)

  // Formulas

  private val atom: Gen[Formula] = for {
    kind <- Gen.frequency(5 -> "A", 4 -> "B", 1 -> "C")
    from <- Gen.frequency(12 -> None, 1 -> Some("S"), 1 -> Some("T"))
  } yield Formula.Atom(from, kind)(0)

  /** A variable may be called as a type is. */
  private val variable: Gen[Name] = Gen.frequency(6 -> "x", 6 -> "y", 3 -> "z", 1 -> "A").map(name)

  private val predicate: Gen[Predicate] = Gen
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
    .map(Predicate(_)(0))

  private def condition(variables: Vector[String], size: Int): Gen[Condition] = {
    val leaf = for (x <- Gen.oneOf(variables); p <- predicate) yield Condition.Holds(name(x), p)
    def several = Gen.frequency(3 -> 2, 1 -> 3).flatMap(Gen.listOfN(_, condition(variables, size - 1))).map(_.toVector)
    if (size == 0) leaf
    else Gen.frequency(4 -> leaf, 2 -> several.map(Condition.And), 3 -> several.map(Condition.Or))
  }

  private def filtered(body: Formula, size: Int): Gen[Formula] =
    if (body.variables.isEmpty) Gen.const(body)
    else condition(body.variables.toVector.sorted, size).map(Formula.Filter(body, _))

  private val negation: Gen[Formula] = for {
    a <- atom
    named <- Gen.frequency(3 -> Gen.const(a), 1 -> variable.map(Formula.As(a, _)))
    alpha <- Gen.frequency(2 -> Gen.const(named), 1 -> filtered(named, 1))
  } yield Formula.Not(alpha)(0)

  private def parts(size: Int): Gen[Vector[Formula]] = for {
    n <- Gen.choose(2, math.min(3, math.max(2, size)))
    list <- Gen.listOfN(n, formula((size - 1) / n))
  } yield list.toVector

  /** @param size about how many operators */
  def formula(size: Int): Gen[Formula] = {
    def inside = formula(size - 1)
    if (size <= 0) Gen.frequency(6 -> atom, 1 -> negation)
    else
      Gen.frequency(
        1 -> formula(0),
        6 -> parts(size).map(Formula.Sequence),
        4 -> parts(size).map(Formula.Contiguous),
        4 -> parts(size).map(Formula.Or),
        4 -> Gen.lzy(inside).map(Formula.Iterate(_, contiguous = false)),
        2 -> Gen.lzy(inside).map(Formula.Iterate(_, contiguous = true)),
        4 -> Gen.lzy(inside).flatMap(f => variable.map(Formula.As(f, _))),
        4 -> Gen.lzy(inside).flatMap(filtered(_, 1)),
        1 -> Gen.lzy(inside).flatMap(filtered(_, 2)),
        1 -> Gen.lzy(inside).flatMap(f => Gen.someOf(f.variables).map(kept => Formula.Project(f, kept.toSet)))
      )
  }

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

  val query: Gen[Query] = for {
    size <- Gen.choose(0, 9)
    where <- formula(size)
    select <- select(where)
    keys <- Gen.frequency(4 -> Nil, 2 -> List("k"), 1 -> List("k", "p"))
    within <- within
    consume <- Gen.frequency(4 -> Consume.None, 1 -> Consume.Partition, 1 -> Consume.Any)
  } yield Simpler.valid(
    Query(select, Vector(name("S"), name("T")), where, keys.toVector.map(name), within, consume)("")
  )

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
