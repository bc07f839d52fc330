package sparkcer.internal.oracle

import org.apache.spark.sql.types.{IntegerType, StringType}
import org.scalacheck.{Arbitrary, Gen, Shrink}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer._
import sparkcer.engine.ceql.{CeqlException, Formula, Query, Window}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._
import sparkcer.internal.testkit.{SparkSuite, Tables}

/** Random queries with comparisons between events. */
class ComparisonOracleSuite extends ThroughSpark(Generators.comparingCase)

/** Random queries with quantifiers, sub-windows and conditions on repetitions. */
class RepetitionOracleSuite extends ThroughSpark(Generators.repeatingCase)

/** Random queries with events that must not come. */
class AbsenceOracleSuite extends ThroughSpark(Absences.absentCase)

/** Random queries over two inputs, through Spark, give what their definition says. Each case is a Spark job, so there
  * are few; the engine's own suites have many.
  */
abstract class ThroughSpark(generator: Gen[Case]) extends Properties {
  override def cases: Int = 15

  private lazy val tables = new Tables(
    SparkSuite.spark,
    Map("p" -> IntegerType, "k" -> StringType, "t" -> IntegerType)
  )

  // A duration is about the time column, in which an event without a time has no place.
  implicit private val arbitraryCase: Arbitrary[Case] = Arbitrary(
    generator.retryUntil(c => !windows(c.query).exists(_.isInstanceOf[Window.Duration]), 100)
  )

  private def windows(q: Query): Iterator[Window] =
    q.within.iterator ++ q.where.subformulas.collect { case Formula.Within(_, w) => w }

  implicit private val noShrink: Shrink[Case] = Shrink.shrinkAny

  property("random queries over random events") {
    forAll { (c: Case) =>
      val program =
        try Some(Program(c.query.text))
        catch { case _: CeqlException => None }
      program.fold(true :| "refused") { p =>
        val all = tables(c.events).repartition(1).orderBy("pos")
        val streams = c.events.map(_.stream)
        def of(stream: String) =
          all.where(all("pos").isin(c.events.indices.filter(streams(_) == stream).map(_.toLong): _*))
        val found = tables.matches(
          p,
          over(c.query.text, Map("S" -> of("S"), "T" -> of("T")), time = "pos"),
          c.events
        )
        val right = Oracle.matches(p.query, c.events)
        (found.toSet == right) :| Match.difference(found.toSet, right) &&
        (found.distinct.length == found.length) :| "a match comes twice"
      }
    }
  }
}
