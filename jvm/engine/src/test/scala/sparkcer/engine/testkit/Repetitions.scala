package sparkcer.engine.testkit

import org.scalacheck.Gen

import sparkcer.engine.ceql._
import sparkcer.engine.testkit.Generators.{atom, condition, name, obligatory, queryOver, streamOf}

/** What a pattern can ask of repetitions: for each construct a way to draw it. */
object Repetitions {
  private def number(n: Int): Quantity = Quantity.Number(BigDecimal(n))

  private def repeat(bounds: (Int, Option[Int])*)(f: Formula): Gen[Formula] = for {
    (least, most) <- Gen.oneOf(bounds)
    contiguous <- Gen.frequency(2 -> false, if (bounds.contains((0, Some(1)))) 0 -> true else 1 -> true)
  } yield Formula.Repeat(f, number(least), most.map(number), contiguous)(0)

  private val exactly = repeat((1, Some(1)), (2, Some(2)), (3, Some(3))) _
  private val atLeast = repeat((1, None), (2, None), (3, None)) _
  private val between = repeat((1, Some(2)), (2, Some(3)), (0, Some(2)), (0, Some(3))) _
  private val any = repeat((0, None)) _
  private val optional = repeat((0, Some(1))) _

  val quantified: Gen[Formula => Gen[Formula]] = Gen.oneOf(exactly, atLeast, between, any, optional)

  def subWindow(f: Formula): Gen[Formula] =
    Gen
      .oneOf(
        Gen.choose(0, 4).map(n => Window.Attribute(number(n), name("t"))),
        Gen.choose(0L, 4L).map(s => Window.Duration(s * 1000000))
      )
      .map(Formula.Within(f, _)(0))

  private val operator: Gen[Operator] = Gen.oneOf(
    Operator.Equal,
    Operator.NotEqual,
    Operator.Less,
    Operator.LessEqual,
    Operator.Greater,
    Operator.GreaterEqual
  )

  private def count(variables: Vector[String]): Gen[Condition] =
    for (x <- Gen.oneOf(variables); op <- operator; n <- Gen.choose(0, 3))
      yield Condition.Count(name(x), op, number(n))(0)

  private def some(variables: Vector[String]): Gen[Condition] =
    for (x <- Gen.oneOf(variables); p <- condition) yield Condition.Exists(name(x), p)

  private def extreme(variables: Vector[String]): Gen[Condition] = for {
    x <- Gen.oneOf(variables)
    op <- operator
    isMax <- Gen.oneOf(true, false)
    n <- Gen.choose(0, 2)
  } yield Condition.Extreme(isMax, name(x), Operand.Attribute(name(x), "p"), op, Operand.Literal(n.toString))(0)

  private val end: Gen[End] = Gen.oneOf(End.First, End.Last)

  private def ofEnd(variables: Vector[String]): Gen[Condition] =
    for (x <- Gen.oneOf(variables); e <- end; p <- condition) yield Condition.OfEnd(e, name(x), p)

  private def endCompared(variables: Vector[String]): Gen[Condition] = for {
    x <- Gen.oneOf(variables)
    e <- end
    y <- Gen.oneOf(variables)
    other <- Gen.frequency(2 -> Gen.const(y), 1 -> end.map(Ends.name(_, y)))
    attribute <- Gen.oneOf("p", "k")
    op <- operator
  } yield Condition.Compare(
    Operand.Attribute(name(Ends.name(e, x)), attribute),
    op,
    Operand.Attribute(name(other), attribute)
  )(0)

  val conditions: Vector[Vector[String] => Gen[Condition]] = Vector(count, some, extreme, ofEnd, endCompared)

  private def filter(c: Vector[String] => Gen[Condition])(f: Formula): Gen[Formula] =
    c(f.variables.toVector.sorted).map(Formula.Filter(f, _))

  /** By name. */
  val constructs: Vector[(String, Formula => Gen[Formula])] = Vector(
    "{n}" -> exactly,
    "{n,}" -> atLeast,
    "{n,m}" -> between,
    "*" -> any,
    "?" -> optional,
    "sub-window" -> subWindow,
    "count" -> filter(count),
    "SOME" -> filter(some),
    "min, max" -> filter(extreme),
    "first, last" -> filter(ofEnd),
    "first, last compared" -> filter(endCompared)
  )

  /** A short query with the construct, and a stream for it. */
  def caseWith(construct: Formula => Gen[Formula], strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] =
    for {
      a <- atom
      x <- Gen.oneOf("x", "y").map(name)
      b <- atom
      body <- Gen.oneOf[Formula](
        Formula.As(a, x),
        Formula.As(Formula.Iterate(a, contiguous = false), x),
        Formula.Sequence(Vector(Formula.As(a, x), b))
      )
      drawn <- construct(body)
      around <- Gen.oneOf[Formula](drawn, Formula.Sequence(Vector(drawn, b)), Formula.Sequence(Vector(b, drawn)))
      where <- obligatory(around)
      query <- queryOver(where)
      events <- Gen.choose(5, 9).flatMap(streamOf)
    } yield Generators.caseOf(query, strategy, consume, counts, events)
}
