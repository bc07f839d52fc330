package sparkcer.engine.testkit

import org.scalacheck.Gen

import sparkcer.engine.ceql._
import sparkcer.engine.testkit.Generators.{atom, name, obligatory, queryOver}

/** Queries that begin with events that must not have come, `NO α FOR d ; φ`. */
object Beginnings {

  def beginningCase: Gen[Case] = for (q <- query; s <- stream) yield Case(q, s)

  /** Every event has a time: one without it is not part of a stream at all. */
  val stream: Gen[Vector[Event]] = Endings.stream.map(timed)

  private def timed(events: Vector[Event]): Vector[Event] = events.filter(_("t") != Value.Null)

  /** One that is not refused. */
  def query: Gen[Query] = drawn.retryUntil(q => Case(q, Vector.empty).program.isDefined, 100)

  private def drawn: Gen[Query] = Gen.frequency(3 -> plain, 1 -> waiting)

  private def plain: Gen[Query] = for {
    size <- Gen.choose(0, 5)
    where <- beginning(size)
    query <- queryOver(where)
  } yield Simpler.valid(query)

  private def beginning(size: Int): Gen[Formula] = for {
    first <- body(size)
    one <- after(first)
    another <- body(size / 2)
    again <- after(another)
    whole <- Gen
      .frequency[Formula](5 -> one, 2 -> Formula.Or(Vector(one, another)), 2 -> Formula.Or(Vector(one, again)))
    where <- Endings.around(whole)
  } yield where

  private def body(size: Int): Gen[Formula] = Gen
    .frequency(
      2 -> atom.map(Formula.As(_, name("x"))),
      4 -> Generators.formula(size),
      3 -> Generators.formula(size, compared = true),
      2 -> Generators.joined,
      2 -> Absences.formula(math.min(size, 4))
    )
    .flatMap(obligatory)

  /** The formula after a time without α. */
  private def after(f: Formula): Gen[Formula] = for {
    absent <- Absences.absent(Set.empty, Absences.never)
    length <- Gen.frequency(1 -> 0, 3 -> 1, 3 -> 2, 2 -> 4).flatMap(Endings.size)
  } yield Formula.NoneBefore(absent, length, f)

  /** One that also ends with NO. */
  private def waiting: Gen[Query] = for {
    query <- Endings.query
    where <- begun(query.where)
  } yield Simpler.valid(query.copy(where = where)(""))

  private def begun(f: Formula): Gen[Formula] = f match {
    case _: Formula.As | _: Formula.Filter | _: Formula.PartBy | _: Formula.Without | _: Formula.Or => begunBelow(f)
    case other                                                                                      => after(other)
  }

  private def begunBelow(f: Formula): Gen[Formula] = begun(f.children.head).map { first =>
    var isFirst = true
    f.mapChildren { child =>
      val changed = if (isFirst) first else child
      isFirst = false
      changed
    }
  }

  /** By name: a formula after a time without α. */
  val constructs: Map[String, Gen[Formula]] = {
    val one = atom.map(Formula.As(_, name("x")))
    val several = Gen.oneOf(
      for (a <- one; b <- atom) yield Formula.Sequence(Vector(a, b)),
      for (a <- atom; b <- one) yield Formula.Contiguous(Vector(a, b)),
      atom.map(a => Formula.As(Formula.Iterate(a, contiguous = false), name("x")))
    )
    Map(
      "one event" -> one.flatMap(after),
      "several events" -> several.flatMap(after),
      "compared events" -> several.flatMap(Generators.filtered(_, 1, compared = true)).flatMap(after),
      "sides of OR, before NO" -> (for {
        a <- one.flatMap(after)
        b <- several.flatMap(after)
        absent <- Absences.absent(Set.empty, Absences.never)
        length <- Endings.size(1)
      } yield Formula.NoneAfter(Formula.Or(Vector(a, b)), absent, Some(length))),
      "a side of OR" -> (for (a <- one.flatMap(after); b <- several) yield Formula.Or(Vector(a, b)))
    )
  }

  /** A query around a construct. If its matches wait, WITHIN is about time. */
  private def clauses(where: Formula): Gen[Query] =
    if (!where.subformulas.exists(_.isInstanceOf[Formula.NoneAfter])) queryOver(where)
    else
      for (query <- queryOver(where); within <- Gen.choose(1, 4).flatMap(Endings.size))
        yield Simpler.valid(query.copy(within = Some(within))(""))

  /** A short query, and a stream for it. */
  def caseWith(name: String, strategy: Strategy, consume: Consume, counts: Boolean): Gen[Case] = for {
    where <- constructs(name)
    query <- clauses(where)
    events <- stream
  } yield Generators.caseOf(query, strategy, consume, counts, events)

  /** Streams many windows long, for short queries whose matches the definition can still list. */
  def longCase: Gen[Case] = for {
    name <- Gen.oneOf(constructs.keys.toVector.sorted)
    where <- constructs(name).suchThat(!_.subformulas.exists(_.isInstanceOf[Formula.Iterate]))
    query <- clauses(where)
    if query.within.isDefined
    events <- Gen.choose(20, 50).flatMap(Endings.streamOf)
  } yield Case(query, timed(events))
}
