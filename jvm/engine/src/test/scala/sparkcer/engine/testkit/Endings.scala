package sparkcer.engine.testkit

import org.scalacheck.Gen

import sparkcer.engine.ceql._
import sparkcer.engine.testkit.Generators.{atom, name, obligatory, queryOver}

/** Queries that end with events that must not come, `φ ; NO α FOR d`, over streams in which many times are equal. */
object Endings {

  def waitingCase: Gen[Case] = for (q <- query; s <- stream) yield Case(q, s)

  /** One that is not refused. */
  def query: Gen[Query] = drawn.retryUntil(q => Case(q, Vector.empty).program.isDefined, 100)

  private[testkit] def drawn: Gen[Query] = for {
    size <- Gen.choose(0, 5)
    body <- Gen.frequency(
      3 -> single,
      4 -> Generators.formula(size),
      3 -> Generators.formula(size, compared = true),
      2 -> Generators.joined,
      2 -> Absences.formula(math.min(size, 4))
    )
    apart <- Gen.frequency(3 -> false, 1 -> true)
    query <-
      if (apart) apartAfter(body, Gen.oneOf(kinds.values.toVector), Absences.sometimes)
      else ending(body, Absences.sometimes)
  } yield query

  private val single: Gen[Formula] =
    Gen.oneOf(atom, atom.map(Formula.As(_, name("x"))), Gen.listOfN(2, atom).map(a => Formula.Or(a.toVector)))

  private[testkit] def size(n: Int): Gen[Window] =
    Gen.oneOf(Window.Attribute(Quantity.Number(n), name("t")), Window.Duration(n * 1000000L))

  /** A query of all clauses around NO after a formula. */
  private def ending(drawn: Formula, compares: Gen[Boolean]): Gen[Query] = for {
    body <- obligatory(drawn)
    absent <- Absences.absent(body.variables, compares)
    wait <- Gen.frequency(1 -> 0, 3 -> 1, 3 -> 2, 2 -> 3)
    more <- Gen.frequency(1 -> 0, 2 -> 1, 2 -> 2, 2 -> 4)
    length <- size(wait)
    window <- size(wait + more)
    spelled <- Gen.frequency(1 -> false, 3 -> true)
    where <- around(Formula.NoneAfter(body, absent, if (spelled) Some(length) else None))
    query <- queryOver(where)
    within <- Gen.frequency(4 -> Some(window), if (spelled) 1 -> None else 0 -> None)
  } yield Simpler.valid(spelledOut(query.copy(within = within)(""), length))

  /** By name: what the other side of an OR is, given its body and its own end with NO. */
  private val kinds: Map[String, (Formula, Formula) => Formula] = Map(
    "ends at once" -> ((body, _) => body),
    "ends with NO too" -> ((_, ended) => ended)
  )

  /** A query of two sides that end in different ways. */
  private def apartAfter(drawn: Formula, kind: Gen[(Formula, Formula) => Formula], compares: Gen[Boolean]): Gen[Query] =
    for {
      body <- obligatory(drawn)
      absent <- Absences.absent(body.variables, compares)
      wait <- Gen.choose(0, 3)
      length <- size(wait)
      other <- Gen.oneOf(single, Generators.formula(2), Gen.const(body)).flatMap(obligatory)
      otherAbsent <- Absences.absent(other.variables, compares)
      otherWait <- Gen.frequency(1 -> Gen.const(wait), 1 -> Gen.choose(0, 3))
      otherLength <- size(otherWait)
      ended = Formula.NoneAfter(other, otherAbsent, Some(otherLength))
      side <- kind.map(_(other, ended))
      sides <- Gen.oneOf(Vector(Formula.NoneAfter(body, absent, Some(length)), side).permutations.toVector)
      where <- around(Formula.Or(sides))
      query <- queryOver(where)
      window <- Gen.choose(0, 4).flatMap(more => size(math.max(wait, otherWait) + more))
      within <- Gen.frequency(4 -> Some(window), 1 -> None)
    } yield Simpler.valid(query.copy(within = within)(""))

  /** By name: the body of a side, what the other side is, and whether α is compared. */
  lazy val sides: Map[String, (Gen[Formula], (Formula, Formula) => Formula, Gen[Boolean])] =
    for ((kind, side) <- kinds; name <- Vector("one event", "several events", "several events, compared"))
      yield s"$name, and the other side $kind" -> (bodies(name)._1, side, bodies(name)._2)

  /** A short query of two sides, and a stream for it. */
  def sidesWith(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] = for {
    drawn <- sides(name)._1
    query <- apartAfter(drawn, Gen.const(sides(name)._2), sides(name)._3)
    events <- stream
  } yield Generators.caseOf(query, strategy, consume, counts, events)

  /** FOR may be left out after one event only. */
  private def spelledOut(query: Query, length: Window): Query = {
    def isRefused(q: Query) =
      try { AbsenceAfter.spelledOut(q); false }
      catch { case _: CeqlException => true }
    def filled(f: Formula): Formula = f match {
      case n: Formula.NoneAfter => n.copy(length = Some(length))
      case other                => other.mapChildren(filled)
    }
    if (isRefused(query)) query.copy(where = filled(query.where))("") else query
  }

  private[testkit] def around(f: Formula): Gen[Formula] = Gen.frequency(
    6 -> Gen.const(f),
    1 -> Gen.const(Formula.As(f, name("z"))),
    1 -> Generators.filtered(f, 1, compared = false),
    1 -> Generators.filtered(f, 0, compared = true),
    1 -> Generators.parted(f),
    1 -> Absences.without(Absences.never)(f),
    1 -> Gen.lzy(around(Formula.As(f, name("z"))))
  )

  /** Times stand still often, and are NULL sometimes. */
  val stream: Gen[Vector[Event]] = Gen.choose(3, 9).flatMap(streamOf)

  private[testkit] def streamOf(length: Int): Gen[Vector[Event]] = for {
    events <- Generators.streamOf(length)
    steps <- Gen.listOfN(length, Gen.frequency(4 -> 0, 4 -> 1, 1 -> 2, 1 -> 4))
  } yield events.zip(steps.scanLeft(0)(_ + _)).map { case (e, time) =>
    if (e("t") == Value.Null) e else e.copy(attributes = e.attributes + ("t" -> Value.Num(time)))
  }

  /** By name: a formula after which no α may come, and whether α is compared with it. */
  lazy val bodies: Map[String, (Gen[Formula], Gen[Boolean])] = {
    val one = atom.map(Formula.As(_, name("x")))
    val several = Gen.oneOf(
      for (a <- one; b <- atom) yield Formula.Sequence(Vector(a, b)),
      for (a <- atom; b <- one) yield Formula.Contiguous(Vector(a, b)),
      atom.map(a => Formula.As(Formula.Iterate(a, contiguous = false), name("x")))
    )
    Map(
      "one event" -> (single, Absences.never),
      "several events" -> (several, Absences.never),
      "compared events" -> (several.flatMap(Generators.filtered(_, 1, compared = true)), Absences.never),
      "one event, compared" -> (one, Absences.always),
      "several events, compared" -> (several, Absences.always)
    )
  }

  /** A short query, and a stream for it. */
  def caseWith(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] = for {
    drawn <- bodies(name)._1
    query <- ending(drawn, bodies(name)._2)
    events <- stream
  } yield Generators.caseOf(query, strategy, consume, counts, events)

  /** Streams many windows long, for short queries whose matches the definition can still list. */
  def longCase: Gen[Case] = for {
    name <- Gen.oneOf(bodies.keys.toVector.sorted)
    drawn <- bodies(name)._1.suchThat(!_.subformulas.exists(_.isInstanceOf[Formula.Iterate]))
    apart <- Gen.oneOf(false, true)
    query <-
      if (apart) apartAfter(drawn, Gen.oneOf(kinds.values.toVector), bodies(name)._2)
      else ending(drawn, bodies(name)._2)
    if query.within.isDefined
    events <- Gen.choose(20, 50).flatMap(streamOf)
  } yield Case(query, events)
}
