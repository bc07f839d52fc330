package sparkcer.internal.bind

import scala.util.Try

import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Lengths of time as users write them: `1 minute`, `90 seconds`. */
private[sparkcer] object Durations {
  def interval(text: String): Option[CalendarInterval] =
    Try(IntervalUtils.stringToInterval(UTF8String.fromString(text))).toOption

  /** The microseconds of an interval, if they are fixed: months have no fixed length. */
  def fixed(i: CalendarInterval): Option[Long] =
    if (i.months == 0) Some(i.days * 86400000000L + i.microseconds) else None

  def micros(text: String): Option[Long] = interval(text).flatMap(fixed)

  def seconds(text: String): Option[Long] = micros(text).filter(_ % 1000000 == 0).map(_ / 1000000)

  /** The length of a part in seconds, from a number of seconds or an interval. */
  def ofPart(text: String): Option[Long] = text.toLongOption.orElse(seconds(text)).filter(_ > 0)

  /** A length of time as users write it. */
  def words(seconds: Long): String = {
    val (n, unit) = Vector(86400L -> "day", 3600L -> "hour", 60L -> "minute", 1L -> "second").collectFirst {
      case (size, name) if seconds % size == 0 => (seconds / size, name)
    }.get
    if (n == 1) s"1 $unit" else s"$n ${unit}s"
  }
}
