package sparkcer.internal.bind

import java.time.{Instant, LocalDate, LocalDateTime, ZoneOffset}
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.types._

/** A time column, whose values are longs in the engine (see [[sparkcer.internal.prepare.AsLong]]): how far a window
  * reaches back, and how a long becomes a value again.
  *
  * Its text, `Clock(…)`, is part of every `match_id`: the class must not be renamed.
  */
final case class Clock(dataType: DataType) {

  /** Is the difference of two longs the difference of their values? */
  def isWhole: Boolean = dataType != DoubleType && dataType != FloatType

  /** For a window of `size` in the units of the long: the earliest start of a match that ends at `time`. */
  def bound(time: Long, size: Option[BigDecimal]): Long = size match {
    case None    => Long.MinValue
    case Some(s) =>
      dataType match {
        case DoubleType | FloatType => Clock.boundOfDouble(Clock.fromOrdered(time), s.toDouble)
        case _                      =>
          val n = s.toLong
          if (time < Long.MinValue + n) Long.MinValue else time - n
      }
  }

  /** The first time at which a match that starts at `time` is out of the window, or a little later. */
  def after(time: Long, size: Option[BigDecimal]): Long = size match {
    case Some(s) if time <= Long.MaxValue - s.toLong - 1 => time + s.toLong + 1
    case _                                               => Long.MaxValue
  }

  /** The size of a window `n [a]` over this column in the units of the long, rounded down: for whole numbers a window
    * of 2.5 is one of 2.
    */
  def units(n: BigDecimal): BigDecimal = dataType match {
    case DoubleType | FloatType           => n
    case TimestampType | TimestampNTZType => Clock.floor(n * 1000000)
    case d: DecimalType                   => Clock.floor(n * BigDecimal(10).pow(d.scale))
    case _                                => Clock.floor(n)
  }

  /** A length of microseconds in the units of the long, if this column is a timestamp or a date. */
  def duration(micros: Long): Option[BigDecimal] = dataType match {
    case TimestampType | TimestampNTZType => Some(BigDecimal(micros))
    case DateType                         => Some(Clock.floor(BigDecimal(micros) / 86400000000L))
    case _                                => None
  }

  /** A time as text, for messages. */
  def show(time: Long): String = dataType match {
    case TimestampType    => Instant.EPOCH.plus(time, ChronoUnit.MICROS).toString
    case TimestampNTZType =>
      LocalDateTime.ofInstant(Instant.EPOCH.plus(time, ChronoUnit.MICROS), ZoneOffset.UTC).toString
    case DateType               => LocalDate.ofEpochDay(time).toString
    case DoubleType | FloatType => Clock.fromOrdered(time).toString
    case d: DecimalType         => BigDecimal(time, d.scale).bigDecimal.toPlainString
    case _                      => time.toString
  }

  /** The value, as Spark has it inside. */
  def value(time: Long): Any = dataType match {
    case ByteType               => time.toByte
    case ShortType              => time.toShort
    case IntegerType | DateType => time.toInt
    case DoubleType             => Clock.fromOrdered(time)
    case FloatType              => Clock.fromOrdered(time).toFloat
    case d: DecimalType         => Decimal(time, d.precision, d.scale)
    case _                      => time
  }

  def write(out: UnsafeRowWriter, i: Int, time: Long): Unit = dataType match {
    case ByteType               => out.write(i, time.toByte)
    case ShortType              => out.write(i, time.toShort)
    case IntegerType | DateType => out.write(i, time.toInt)
    case DoubleType             => out.write(i, Clock.fromOrdered(time))
    case FloatType              => out.write(i, Clock.fromOrdered(time).toFloat)
    case d: DecimalType         => out.write(i, Decimal(time, d.precision, d.scale), d.precision, d.scale)
    case _                      => out.write(i, time)
  }
}

object Clock {

  /** The column types that can be a time. */
  def supports(t: DataType): Boolean = t match {
    case ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType => true
    case TimestampType | TimestampNTZType | DateType                            => true
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _              => false
  }

  private def floor(n: BigDecimal): BigDecimal =
    n.setScale(0, BigDecimal.RoundingMode.FLOOR).min(BigDecimal(Long.MaxValue))

  /** A double as a long in the same order; -0.0 becomes 0.0. */
  def ordered(d: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(d + 0.0)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  def fromOrdered(n: Long): Double = java.lang.Double.longBitsToDouble(n ^ ((n >> 63) & Long.MaxValue))

  /** The smallest start with `end - start <= size` in floating-point arithmetic. It is near `end - size`, which can be
    * off by a rounding error; close to 0 there are very many doubles within that error. So the search moves away from
    * `end - size` in steps that double, and then bisects.
    */
  private def boundOfDouble(end: Double, size: Double): Long = {
    val near = ordered(end - size)
    def isInside(start: Long): Boolean = end - fromOrdered(start) <= size
    if (end.isNaN || end.isInfinite) near
    else {
      var (outside, inside) = (near, near)
      var step = 1L
      while (isInside(outside)) {
        inside = outside
        outside = if (outside < Lowest + step) Lowest else outside - step
        step *= 2
      }
      step = 1L
      while (!isInside(inside)) { outside = inside; inside += step; step *= 2 }
      while (inside - outside > 1) {
        val middle = outside + (inside - outside) / 2
        if (isInside(middle)) inside = middle else outside = middle
      }
      inside
    }
  }

  /** The smallest double, as a long. */
  private val Lowest = ordered(Double.NegativeInfinity)
}
