package sparkcer.views

import scala.util.Try

import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.UTF8String

/** Lengths of time as users write them: `1 minute`, `90 seconds`. */
private[views] object Durations {
  def micros(text: String): Option[Long] =
    Try(IntervalUtils.stringToInterval(UTF8String.fromString(text))).toOption
      .filter(_.months == 0)
      .map(i => i.days * 86400000000L + i.microseconds)

  def seconds(text: String): Option[Long] = micros(text).filter(_ % 1000000 == 0).map(_ / 1000000)

  /** A length in the words that users write. */
  def words(seconds: Long): String = {
    val (n, unit) = Vector(86400L -> "day", 3600L -> "hour", 60L -> "minute", 1L -> "second").collectFirst {
      case (size, name) if seconds % size == 0 => (seconds / size, name)
    }.get
    if (n == 1) s"1 $unit" else s"$n ${unit}s"
  }
}
