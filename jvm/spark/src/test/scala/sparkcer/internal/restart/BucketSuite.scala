package sparkcer.internal.restart

import scala.util.{Random, Try}

import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.scalacheck.{Arbitrary, Gen, Prop, Shrink}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.{Quantity, Query, SelectList}
import sparkcer.engine.testkit.{Case, Generators, Properties, Simpler}
import sparkcer.internal.prepare.Event
import sparkcer.internal.testkit.{BucketRun, BucketWorld}

/** Buckets as a stream uses them, without a Spark job, so that there are many cases: random queries over events that
  * arrive out of order within the delay, cut into random micro-batches, saved after each and often loaded again, give
  * the rows of a batch, byte for byte.
  */
abstract class Buckets(queries: Gen[Query]) extends Properties {
  import BucketSuite._

  implicit private val arbitraryCase: Arbitrary[Case] = Arbitrary(for {
    query <- queries
    count <- Gen.frequency(5 -> false, 1 -> true)
    limit <- Gen.frequency(6 -> None, 1 -> Gen.choose(1, 3).map(n => Some(Quantity.Number(BigDecimal(n)))))
    length <- Gen.frequency(1 -> Gen.choose(0, 4), 4 -> Gen.choose(5, 12), 2 -> Gen.choose(13, 40))
    events <- Generators.streamOf(length)
  } yield {
    val select = if (count) query.select.copy(list = SelectList.Count) else query.select
    Case(Simpler.valid(query.copy(select = select, limit = if (count) None else limit)("")), events)
  })
  implicit private val keepSeed: Shrink[Long] = Shrink.shrinkAny

  property("with a watermark, any arrival within the delay gives the batch's rows") {
    forAll { (c: Case, seed: Long) =>
      val rng = new Random(seed)
      val world = Try(new BucketWorld(c, rng, delay = Some((1 + rng.nextInt(3)) * 1000000L))).toOption
      compared(world)(w => agrees(w, w.arrival(rng).map(w.pick), rng))
    }
  }

  property("without a watermark, events in order give the batch's rows") {
    forAll { (c: Case, seed: Long) =>
      val rng = new Random(seed)
      val world = Try(new BucketWorld(c, rng, delay = None)).toOption
      compared(world)(w => agrees(w, w.positions.map(w.pick), rng))
    }
  }

  /** Queries that are refused, or match too often to list, say nothing. */
  private def compared(world: Option[BucketWorld])(test: BucketWorld => Prop): Prop =
    world.fold(Prop.undecided) { w =>
      try test(w)
      catch { case e: CerRuntimeException if e.getMessage.contains("CER_TOO_MANY_MATCHES") => Prop.undecided }
    }

  private def agrees(w: BucketWorld, arriving: Vector[Event], rng: Random): Prop = {
    val right = w.batch
    val run = new BucketRun(w, rng)
    cut(arriving, rng).foreach(run.microBatch)
    run.end()
    val found = run.rows
    val expires = w.plan.stream.watermark.isDefined && w.plan.window.endsInTime
    (found.sorted == right.sorted) :| s"missing ${right.diff(found).length}, wrong ${found.diff(right).length}" &&
    (run.late == 0) :| s"${run.late} late" &&
    (run.tooOld == 0) :| s"${run.tooOld} rows behind the watermark" &&
    (!expires || run.isEmpty) :| "keys are left" &&
    (w.program.counts || w.identities(found).distinct.length == found.length) :| "a match_id comes twice"
  }
}

class BucketSuite extends Buckets(Generators.query) {
  override def cases: Int = 1000
}

/** With comparisons between events, whose values Spark takes from the payloads: code is generated for each case. */
class ComparisonBucketSuite extends Buckets(Generators.comparing) {
  override def cases: Int = 100
}

/** With quantifiers, sub-windows and conditions on repetitions. */
class RepetitionBucketSuite extends Buckets(Generators.repeating) {
  override def cases: Int = 100
}

object BucketSuite {

  /** Random micro-batches: many of one event, some empty. */
  def cut[A](events: Vector[A], rng: Random): Vector[Vector[A]] =
    if (events.isEmpty) Vector(events)
    else
      rng.nextInt(4) match {
        case 0 => Vector.empty[A] +: cut1(events, 1, rng)
        case 1 => cut1(events, 1, rng)
        case _ => cut1(events, 1 + rng.nextInt(6), rng)
      }

  private def cut1[A](events: Vector[A], n: Int, rng: Random): Vector[Vector[A]] =
    events.take(n) +: cut(events.drop(n), rng)
}
