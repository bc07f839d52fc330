package sparkcer.internal.unit

import scala.util.Random

import org.apache.spark.sql.types.DoubleType

import sparkcer.internal.bind.Clock

class ClockSuite extends munit.FunSuite {
  private val clock = Clock(DoubleType)

  /** Of a window that ends at `end`, the first double that is inside, and the one before it, which is not. */
  private def check(end: Double, size: Double): Unit = {
    val bound = clock.bound(Clock.ordered(end), Some(BigDecimal(size)))
    val (first, before) = (Clock.fromOrdered(bound), Clock.fromOrdered(bound - 1))
    assert(end - first <= size, s"$end - $first > $size")
    assert(!(end - before <= size), s"$end - $before <= $size")
  }

  test("a window of doubles reaches back as far as they subtract") {
    val rng = new Random(3)
    val values = Seq(0.0, 0.1, 0.3, 2.5, 1e-300, 1e300, Double.MaxValue, Double.MinPositiveValue)
    for (end <- values ++ values.map(-_); size <- values) check(end, size)
    (0 until 1000).foreach(_ => check(rng.nextGaussian() * 100, math.abs(rng.nextGaussian()) * 10))
  }

  test("nothing is inside the window of what is no number, and of infinity itself alone") {
    def bound(end: Double) = Clock.fromOrdered(clock.bound(Clock.ordered(end), Some(BigDecimal(1))))
    assert(bound(Double.NaN).isNaN)
    assertEquals(bound(Double.PositiveInfinity), Double.PositiveInfinity)
    assertEquals(bound(Double.NegativeInfinity), Double.NegativeInfinity)
  }
}
