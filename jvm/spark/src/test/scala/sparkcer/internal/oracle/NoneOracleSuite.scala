package sparkcer.internal.oracle

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StringType}
import org.scalacheck.{Arbitrary, Gen, Shrink}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer._
import sparkcer.engine.ceql.{Formula, Query, Window}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._
import sparkcer.internal.testkit.{SparkSuite, Tables}

/** Random queries that begin or end with `NO … FOR`, also on sides of OR, over random events of two inputs with many
  * equal times: a batch gives what their definition says.
  */
class NoneOracleSuite extends Properties {
  override def cases: Int = 4

  private lazy val tables = new Tables(
    SparkSuite.spark,
    Map("p" -> IntegerType, "k" -> StringType, "t" -> IntegerType)
  )

  implicit private val noShrink: Shrink[Case] = Shrink.shrinkAny

  /** The time column, if all lengths are of one kind: a number of `t`, or a duration. */
  private def time(q: Query): Option[String] = {
    val inside = q.where.subformulas.flatMap {
      case Formula.Within(_, w)  => Some(w)
      case n: Formula.NoneAfter  => n.length
      case n: Formula.NoneBefore => Some(n.length)
      case _                     => None
    }
    val kinds = (q.within.iterator ++ inside).map {
      case _: Window.Duration                       => Some("ts")
      case Window.Attribute(_, a) if a.value == "t" => Some("t")
      case _                                        => None
    }.toSet
    if (kinds.size == 1) kinds.head else None
  }

  /** The language has no word for a projection inside a formula. */
  private def isWritten(q: Query): Boolean = !q.where.subformulas.exists(_.isInstanceOf[Formula.Project])

  /** With a match, so that a case is worth a Spark job. */
  private def drawn(generator: Gen[Case], when: Query => Boolean): Arbitrary[Case] = Arbitrary(
    generator
      .map(c => c.copy(events = c.events.filter(_("t") != Value.Null)))
      .retryUntil(
        c => isWritten(c.query) && when(c.query) && time(c.query).isDefined && c.expected.exists(_.nonEmpty),
        100000
      )
  )

  private def check(c: Case) = {
    val program = Program(c.query.text)
    val all = tables(c.events).repartition(1).orderBy("pos")
    def of(stream: String) = {
      val its = c.events.indices.filter(c.events(_).stream == stream).map(_.toLong)
      all.where(all("pos").isin(its: _*))
    }
    val inputs = Map("S" -> of("S"), "T" -> of("T"))
    val rows = over(c.query.text, inputs, time = time(c.query).get, order = "pos").collect().toVector
    // Several events have the time at which a match starts. So matches are compared by times and events, each as often
    // as it comes.
    val found = rows.map(shown(_, program)).sorted
    val right = Oracle.matches(program.query, c.events).toVector.map(shown(_, c.events)).sorted
    (found == right) :| s"missing: ${right.diff(found).mkString("; ")}, wrong: ${found.diff(right).mkString("; ")}"
  }

  private def shown(r: Row, program: Program): String = {
    def seconds(name: String): Long = r.getAs[Any](name) match {
      case t: java.sql.Timestamp => t.getTime / 1000
      case n                     => n.toString.toLong
    }
    val bound = program.columns.map(_.variable).map { x =>
      val events = r.getAs[Any](x) match {
        case null     => Nil
        case one: Row => Seq(one)
        case several  => several.asInstanceOf[scala.collection.Seq[Row]].toSeq
      }
      x -> events.map(_.getAs[Long]("pos")).sorted
    }
    text(program.query.partitionBy.map(k => r.getAs[Any](k.value).toString), seconds("start"), seconds("end"), bound)
  }

  private def shown(m: Match, events: Vector[Event]): String = {
    def seconds(i: Int): Long = events(i)("t") match {
      case Value.Num(n) => n.toLong
      case other        => fail(s"$other is no time")
    }
    val key = m.key.map {
      case Value.Text(t) => t
      case other         => other.show
    }
    val end = m.deadline.fold(seconds(m.end))(_.toLong)
    text(key, seconds(m.start), end, m.bound.toVector.map { case (x, at) => x -> at.toVector.map(_.toLong).sorted })
  }

  private def text(key: Vector[String], start: Long, end: Long, bound: Vector[(String, Seq[Long])]): String =
    bound
      .filter(_._2.nonEmpty)
      .sortBy(_._1)
      .map { case (x, at) => at.mkString(s" $x={", ",", "}") }
      .mkString(s"${key.mkString(",")} $start-$end", "", "")

  private def program(q: Query): Option[Program] = Case(q, Vector.empty).program

  property("queries that end with NO") {
    implicit val some: Arbitrary[Case] = drawn(Endings.waitingCase, q => program(q).exists(!_.cea.endsApart))
    forAll(check(_: Case))
  }

  property("queries with sides of OR that end in different ways") {
    implicit val some: Arbitrary[Case] = drawn(Endings.waitingCase, q => program(q).exists(_.cea.endsApart))
    forAll(check(_: Case))
  }

  property("queries that begin with NO") {
    implicit val some: Arbitrary[Case] = drawn(Beginnings.beginningCase, program(_).isDefined)
    forAll(check(_: Case))
  }
}
