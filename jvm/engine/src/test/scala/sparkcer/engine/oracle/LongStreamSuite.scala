package sparkcer.engine.oracle

import org.scalacheck.{Gen, Prop, Shrink}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql._
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._

/** Streams many windows long: events and nodes are forgotten and their places used again.
  *
  * The definition would take too long on the whole stream. But a match that ends at `j` lies between the window's bound
  * and `j`, and depends on nothing else; so the definition on that slice gives the matches of `j`.
  */
class LongStreamSuite extends WindowByWindow(Generators.query)

/** The same for queries that compare events. */
class ComparisonLongStreamSuite extends WindowByWindow(Generators.comparing)

abstract class WindowByWindow(queries: Gen[Query]) extends Properties {
  override def cases: Int = 300

  implicit private val keepWindow: Shrink[Case] =
    Shrink.withLazyList(c => Case.simpler(c).filter(_.query.within == c.query.within))

  private val windowed: Gen[Case] = for {
    q <- queries
    n <- Gen.choose(1, 5)
    byTime <- Gen.oneOf(true, false)
    stream <- Gen.choose(20, 80).flatMap(Generators.streamOf)
  } yield {
    val size = Quantity.Number(BigDecimal(n))
    val window = if (byTime) Window.Attribute(size, Name("t")(0)) else Window.Events(size)
    val plain = q.copy(within = Some(window), partitionBy = Vector.empty, consumeBy = Consume.None)("")
    Case(Simpler.valid(plain), stream)
  }

  /** The first position that a match which ends at `j` may start at. */
  private def first(c: Case, j: Int): Int = c.query.within match {
    case Some(Window.Events(Quantity.Number(n)))       => math.max(0, j - n.toInt)
    case Some(Window.Attribute(Quantity.Number(n), _)) =>
      c.events(j)("t") match {
        case Value.Num(now) =>
          c.events.indexWhere(_("t") match { case Value.Num(t) => t >= now - n; case _ => false })
        case _ => j
      }
    case other => fail(s"$other is not generated here")
  }

  private def bySlices(c: Case): Set[Match] = c.events.indices.toSet.flatMap { (j: Int) =>
    val from = first(c, j)
    Oracle.matches(c.query, c.events.slice(from, j + 1)).collect {
      case m if from + m.end == j =>
        m.copy(start = from + m.start, end = j, bound = m.bound.map { case (x, at) => x -> at.map(from + _) })
    }
  }

  property("the engine finds in each window what the definition finds in it") {
    forAll(windowed) { (c: Case) =>
      try
        c.program.fold(Prop.undecided) { program =>
          val right = bySlices(c)
          val found = Harness.run(program, c.events)
          (found == right) :| Match.difference(found, right)
        }
      catch { case _: Valuations.TooMany => Prop.undecided }
    }
  }

  property("counts go with what is listed") {
    forAll(windowed) { (c: Case) =>
      def selecting(list: SelectList): Option[Program] =
        Case(Simpler.valid(c.query.copy(select = c.query.select.copy(list = list))("")), c.events).program
      val both = for (listing <- selecting(SelectList.All); counting <- selecting(SelectList.Count)) yield {
        val right = Oracle.counts(Harness.run(listing, c.events))
        val found = new Harness(counting).feed(c.events).counts
        (found == right) :| s"counted $found, right is $right"
      }
      both.getOrElse(Prop.undecided)
    }
  }
}
