package sparkcer.internal.oracle

import java.math.{BigDecimal => JavaDecimal, RoundingMode}

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}

import sparkcer._
import sparkcer.engine.testkit.Properties
import sparkcer.internal.testkit.SparkSuite

/** Random measures over random matches, with NULLs and with variables of no, one or many events, against their
  * definition: a plain evaluation over the events that the match shows.
  */
class MeasureOracleSuite extends SparkSuite {
  import MeasureOracleSuite._

  private def check(seed: Long): Unit = {
    val rng = new Random(seed)
    val events = tableOf(rng)
    val measures = Vector.fill(12)(measure(rng, 2))
    val named = measures.zipWithIndex.map { case (m, i) => s"${m.sql} AS m$i" }.mkString(", ")
    val clauses = s"PARTITION BY [key] WITHIN ${12 + rng.nextInt(8)} [t] LIMIT 20"
    def query(list: String, having: String) = s"SELECT $list FROM S WHERE $Pattern $clauses$having"
    val shown = events.cer(query(s"*, $named", "")).collect().toVector
    assert(shown.nonEmpty, seed)
    def expected(r: Row): Vector[Any] = measures.map(_.value(r))
    shown.foreach { r =>
      val found = measures.indices.toVector.map(i => plain(r.getAs[Any](s"m$i")))
      expected(r).zip(found).zip(measures).foreach { case ((e, f), m) =>
        assertEquals(f, e, s"seed $seed, ${m.sql}, $r")
      }
    }
    // HAVING keeps the matches for which it is TRUE.
    val tested = measures.indices.filter(i => measures(i).isNumber)
    tested.take(2).foreach { i =>
      val least = rng.nextInt(6)
      val kept = events.cer(query(s"*, $named", s" HAVING m$i > $least")).collect().toVector
      val wanted = shown.filter(r => number(measures(i).value(r)).exists(_ > least))
      assertEquals(ids(kept), ids(wanted), s"seed $seed, ${measures(i).sql} > $least")
      // The same without a name, and with all variables hidden.
      val hidden = events.cer(
        query(
          named,
          s" HAVING (${measures(i).sql}) > $least AND count(x) + count(opt) + count(more) + count(d) + count(y) > 0"
        )
      )
      def values(rows: Vector[Row]) =
        rows.map(r => measures.indices.map(j => plain(r.getAs[Any](s"m$j"))).toString).sorted
      assertEquals(values(hidden.collect().toVector), values(wanted), s"seed $seed")
    }
  }

  private def tableOf(rng: Random): DataFrame = {
    import spark.implicits._
    def some[A](value: => A): Option[A] = if (rng.nextInt(5) == 0) None else Some(value)
    Vector
      .tabulate(400) { t =>
        (
          Vector("A", "B", "B", "C", "D")(rng.nextInt(5)),
          t.toLong,
          s"k${rng.nextInt(2)}",
          some(rng.nextInt(7) - 2),
          some(Vector(0.1, 0.2, 1e16, -1e16, 3.0, -0.0, 0.0, Double.NaN)(rng.nextInt(if (rng.nextBoolean()) 5 else 8))),
          some(BigDecimal(rng.nextInt(2000) - 500, 2)),
          some(Vector("a", "b", "", "ä")(rng.nextInt(4)))
        )
      }
      .toDF("type", "t", "key", "i", "d", "m", "s")
      .withColumn("m", $"m".cast("DECIMAL(7, 2)"))
  }

  private val first = sys.env.get("CER_SEED").map(_.toLong)
  private val seeds = first.fold(Vector.fill(if (Properties.Long) 60 else 4)(Random.nextInt(1 << 30).toLong))(Vector(_))

  seeds.foreach(seed => test(s"measures are as defined (CER_SEED=$seed)")(check(seed)))
}

object MeasureOracleSuite {

  /** One event in x and y, no or one in opt, one or many in more, none or many in d. */
  private val Pattern = "(A AS x ; ((B+ AS more ; D AS opt) OR (B+ AS more ; D+ AS d)) ; C AS y)"
  private val Single = Vector("x", "opt", "y")
  private val All = Single ++ Vector("more", "d")

  /** A measure, and what it is for a match. */
  final private case class Measure(sql: String, isNumber: Boolean, value: Row => Any)

  private def ids(rows: Vector[Row]): Vector[String] = rows.map(_.getAs[String]("match_id")).sorted

  private def pick[A](rng: Random, choices: Seq[A]): A = choices(rng.nextInt(choices.length))

  private def events(r: Row, variable: String): Vector[Row] = r.getAs[Any](variable) match {
    case null                         => Vector.empty
    case one: Row                     => Vector(one)
    case all: scala.collection.Seq[_] => all.toVector.map(_.asInstanceOf[Row])
    case other                        => throw new IllegalStateException(s"$other")
  }

  /** Values that `==` compares as a reader would. */
  private def plain(v: Any): Any = v match {
    case all: scala.collection.Seq[_] => all.toVector.map(plain)
    case d: Double                    => if (d.isNaN) "NaN" else if (d == 0) 0.0 else d
    case m: JavaDecimal               => m
    case other                        => other
  }

  private def number(v: Any): Option[Double] = v match {
    case null      => None
    case "NaN"     => Some(Double.PositiveInfinity) // Spark's NaN is greater than all others
    case n: Number => Some(n.doubleValue)
    case _         => None
  }

  private def measure(rng: Random, depth: Int): Measure =
    if (depth > 0 && rng.nextInt(4) == 0) {
      // Sums of counts and lengths of time cannot overflow.
      val (l, r) = (count(rng), count(rng))
      Measure(
        s"${l.sql} * 2 + ${r.sql}",
        isNumber = true,
        row => l.value(row).asInstanceOf[Long] * 2 + r.value(row).asInstanceOf[Long]
      )
    } else
      rng.nextInt(7) match {
        case 0 => count(rng)
        case 1 =>
          val x = pick(rng, Single)
          Measure(s"$x.i - 1", isNumber = true, r => events(r, x).headOption.flatMap(ints(_)).fold[Any](null)(_ - 1))
        case 2 => Measure("end - start", isNumber = true, r => r.getAs[Long]("end") - r.getAs[Long]("start"))
        case 3 => product(rng)
        case _ => aggregate(rng)
      }

  private def count(rng: Random): Measure = {
    val (x, c) = (pick(rng, All), pick(rng, Vector("i", "d", "m", "s")))
    def values(r: Row) = events(r, x).map(_.getAs[Any](c)).filter(_ != null)
    pick(
      rng,
      Vector(
        Measure(s"count($x)", isNumber = true, r => events(r, x).length.toLong),
        Measure(s"count($x.$c)", isNumber = true, r => values(r).length.toLong),
        Measure(s"count(DISTINCT $x.$c)", isNumber = true, r => values(r).map(plain).distinct.length.toLong)
      )
    )
  }

  private def ints(e: Row): Option[Int] = Option(e.getAs[Any]("i")).map(_.asInstanceOf[Int])

  /** An expression over an event as the argument. */
  private def product(rng: Random): Measure = {
    val x = pick(rng, All)
    def products(r: Row) = events(r, x).flatMap(ints).map(i => i * i + 1L)
    pick(
      rng,
      Vector(
        Measure(s"sum($x.i * $x.i + 1)", isNumber = true, r => if (products(r).isEmpty) null else products(r).sum),
        Measure(s"max($x.i * $x.i + 1)", isNumber = true, r => products(r).maxOption.map(_.toInt).orNull[Any]),
        Measure(s"collect($x.i * $x.i + 1)", isNumber = false, r => products(r).map(_.toInt)),
        Measure(
          s"first(coalesce($x.i, 7))",
          isNumber = true,
          r => events(r, x).headOption.map(ints(_).getOrElse(7)).orNull[Any]
        )
      )
    )
  }

  private def aggregate(rng: Random): Measure = {
    val (x, c) = (pick(rng, All), pick(rng, Vector("i", "d", "m", "s")))
    def all(r: Row): Vector[Any] = events(r, x).map(_.getAs[Any](c))
    def values(r: Row): Vector[Any] = all(r).filter(_ != null)
    def ofSome(r: Row)(f: Vector[Any] => Any): Any = if (values(r).isEmpty) null else plain(f(values(r)))
    val choices = Vector(
      Measure(s"first($x.$c)", isNumber = c != "s", r => all(r).headOption.map(plain).orNull[Any]),
      Measure(s"last($x.$c)", isNumber = c != "s", r => all(r).lastOption.map(plain).orNull[Any]),
      Measure(s"last($x).$c", isNumber = c != "s", r => all(r).lastOption.map(plain).orNull[Any]),
      Measure(s"collect($x.$c)", isNumber = false, r => values(r).map(plain)),
      Measure(s"min($x.$c)", isNumber = c != "s", r => ofSome(r)(_.reduce((a, b) => if (less(b, a)) b else a))),
      Measure(s"max($x.$c)", isNumber = c != "s", r => ofSome(r)(_.reduce((a, b) => if (less(a, b)) b else a)))
    ) ++ (if (c == "s") Vector.empty
          else
            Vector(
              Measure(s"sum($x.$c)", isNumber = true, r => ofSome(r)(sum)),
              Measure(s"avg($x.$c)", isNumber = true, r => ofSome(r)(average))
            ))
    pick(rng, choices)
  }

  /** NaN is the greatest number. */
  private def less(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Int, b: Int)                 => a < b
    case (a: Double, b: Double)           => if (a.isNaN) false else b.isNaN || a < b
    case (a: JavaDecimal, b: JavaDecimal) => a.compareTo(b) < 0
    case (a: String, b: String) => a.getBytes("UTF-8").toSeq.map(_ & 0xff).lt2(b.getBytes("UTF-8").toSeq.map(_ & 0xff))
    case other                  => throw new IllegalStateException(s"$other")
  }

  implicit final private class Bytes(private val a: Seq[Int]) extends AnyVal {
    def lt2(b: Seq[Int]): Boolean = a.zipAll(b, -1, -1).find { case (x, y) => x != y }.exists { case (x, y) => x < y }
  }

  /** In the order of events. */
  private def sum(values: Vector[Any]): Any = values.head match {
    case _: Int         => values.map(_.asInstanceOf[Int].toLong).sum
    case _: Double      => values.map(_.asInstanceOf[Double]).foldLeft(0.0)(_ + _)
    case _: JavaDecimal => values.map(_.asInstanceOf[JavaDecimal]).reduce(_.add(_)).setScale(2)
    case other          => throw new IllegalStateException(s"$other")
  }

  private def average(values: Vector[Any]): Any = values.head match {
    case _: JavaDecimal =>
      sum(values).asInstanceOf[JavaDecimal].divide(new JavaDecimal(values.length), 6, RoundingMode.HALF_UP)
    case _: Int => values.map(_.asInstanceOf[Int].toDouble).foldLeft(0.0)(_ + _) / values.length
    case _      => sum(values).asInstanceOf[Double] / values.length
  }
}
