package sparkcer.engine.testkit

import org.scalacheck.Gen

import sparkcer.engine.ceql._
import sparkcer.engine.testkit.Generators.{atom, comparison, condition, name, obligatory, queryOver, streamOf}

/** Patterns with events that must not come: for each construct a way to draw it. */
object Absences {

  def absentCase: Gen[Case] = for (q <- query; s <- Gen.choose(4, 9).flatMap(streamOf)) yield Case(q, s)

  val query: Gen[Query] = for {
    size <- Gen.choose(1, 6)
    drawn <- formula(size)
    where <- obligatory(drawn)
    query <- queryOver(where)
  } yield query

  /** α, which may hide a variable before it.
    *
    * @param before
    *   the variables that it may be compared with
    */
  private[testkit] def absent(before: Set[String], compares: Gen[Boolean]): Gen[Formula.Absent] = {
    def filtered(f: Formula): Gen[Formula] = {
      val own = f.variables.toVector.sorted
      val others = (before -- own).toVector.sorted.filterNot(_.contains(">"))
      val simple = own.filterNot(_.contains(">"))
      val plain = for (x <- Gen.oneOf(own); p <- condition) yield Condition.Holds(name(x), p)
      def with_(x: String, y: String): Gen[Condition] = Gen.frequency(
        4 -> comparison(x, y),
        2 -> Gen
          .oneOf(s"p = $y.p", s"p < $y.p", s"p = $y.p AND k = $y.k", s"p = $y.p OR k = $y.k", s"p + $y.p = 2")
          .map(sql => Condition.Holds(name(x), SqlCondition(sql)(0)))
      )
      val compared: Gen[Condition] =
        if (others.isEmpty || simple.isEmpty) plain
        else for (x <- Gen.oneOf(simple); y <- Gen.oneOf(others); c <- with_(x, y)) yield c
      for {
        first <- compares.flatMap(if (_) compared else plain)
        second <- plain
        c <- Gen.frequency[Condition](
          4 -> first,
          1 -> Condition.And(Vector(first, second)),
          1 -> Condition.Or(Vector(first, second))
        )
      } yield Formula.Filter(f, c)
    }
    val named =
      atom.flatMap(a => Gen.frequency(2 -> Gen.const(a), 2 -> Gen.oneOf("n", "x").map(x => Formula.As(a, name(x)))))
    val one = named.flatMap(f => Gen.frequency(1 -> Gen.const(f), 3 -> filtered(f)))
    Gen
      .frequency(
        2 -> atom,
        5 -> one,
        1 -> Gen.listOfN(2, one).map(parts => Formula.Or(parts.toVector)),
        1 -> Gen.listOfN(2, named).flatMap(parts => filtered(Formula.Or(parts.toVector)))
      )
      .map(Formula.Absent(_)(0))
  }

  private[testkit] val never = Gen.const(false)
  private[testkit] val always = Gen.const(true)
  private[testkit] val sometimes = Gen.oneOf(true, false)

  private def between(compares: Gen[Boolean])(before: Formula, after: Formula): Gen[Formula] = for {
    first <- obligatory(before)
    absent <- absent(first.variables, compares)
    second <- obligatory(after)
  } yield Formula.NoneBetween(first, absent, second)

  private[testkit] def without(compares: Gen[Boolean])(f: Formula): Gen[Formula] =
    absent(f.variables, compares).map(Formula.Without(f, _))

  private[testkit] def formula(size: Int): Gen[Formula] = {
    def inside = formula(size - 1)
    def half = formula((size - 1) / 2)
    def two = Gen.listOfN(2, half).map(_.toVector)
    if (size <= 0)
      Gen.frequency(4 -> atom, 2 -> atom.flatMap(a => Gen.oneOf("x", "y").map(x => Formula.As(a, name(x)))))
    else
      Gen.frequency(
        8 -> Gen.lzy(half).flatMap(v => half.flatMap(between(sometimes)(v, _))),
        5 -> Gen.lzy(inside).flatMap(without(Gen.frequency(3 -> false, 1 -> true))),
        4 -> Gen.lzy(two).map(Formula.Sequence),
        1 -> Gen.lzy(two).map(Formula.Contiguous),
        2 -> Gen.lzy(two).map(Formula.Or),
        1 -> Gen.lzy(two).map(Formula.All),
        2 -> Gen.lzy(inside).map(Formula.Iterate(_, contiguous = false)),
        2 -> Gen.lzy(inside).flatMap(f => Repetitions.quantified.flatMap(_(f))),
        1 -> Gen.lzy(inside).flatMap(Repetitions.subWindow),
        3 -> Gen.lzy(inside).flatMap(f => Gen.oneOf("x", "y").map(x => Formula.As(f, name(x)))),
        2 -> Gen.lzy(inside).flatMap(f => Generators.filtered(f, 1, compared = true))
      )
  }

  /** By name. Each is drawn around a formula that binds x first. */
  val constructs: Vector[(String, Formula => Gen[Formula])] = Vector(
    "NO" -> (f => atom.flatMap(between(never)(f, _))),
    "NO, compared" -> (f => atom.flatMap(between(always)(f, _))),
    "WITHOUT" -> (f => atom.flatMap(a => without(never)(Formula.Sequence(Vector(f, a))))),
    "WITHOUT, compared" -> (_ =>
      for (a <- atom; b <- atom; f <- without(always)(Formula.Sequence(Vector(Formula.As(a, name("z")), b)))) yield f
    )
  )
}
