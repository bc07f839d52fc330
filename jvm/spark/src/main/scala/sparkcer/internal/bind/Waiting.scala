package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.functions.{lit, max}
import org.apache.spark.sql.cerbridge.{CerException, Columns}
import org.apache.spark.sql.types.LongType

import sparkcer.engine.ceql.{AbsenceAfter, Printer, Window}
import sparkcer.internal.prepare.AsLong

/** What a query needs that ends with `NO … FOR`: how long its matches wait, and, for a batch, up to which time its
  * events are complete.
  */
final class Waiting(b: Binding, options: Options) {
  import b.{clock, df, fail, time}

  /** For how long matches wait after their last event, in the units of the clock. */
  val lengths: Vector[Long] = b.program.waits.map { length =>
    val at = AbsenceAfter.of(b.program.query.where).find(_.length.contains(length)).get.absent.offset
    val (limited, size) = b.sizeOf(length, at)
    def text(w: Window) = Printer.print(w)
    Vector(limited, b.windowColumn).find(_ != time).foreach { other =>
      fail(at, "CER_ABSENCE.AFTER_OTHER_COLUMN", "column" -> other.name, "time" -> time.name)
    }
    // The sum of two floating-point numbers is rounded, so it would not be clear when a match ends.
    if (!clock.isWhole) fail(at, "CER_ABSENCE.AFTER_TYPE", b.typed(time): _*)
    if (b.windowSize.exists(_ < size))
      fail(at, "CER_ABSENCE.AFTER_TOO_LONG", "length" -> text(length), "within" -> text(b.program.query.within.get))
    if (df.isStreaming && b.delay.isEmpty) fail(at, "CER_ABSENCE.AFTER_WATERMARK", "time" -> time.name)
    if (b.idle.exists(_ < size.toLong))
      fail(at, "CER_ABSENCE.AFTER_IDLE", "idle" -> options.idle.get, "length" -> text(length))
    size.toLong
  }

  /** The time up to which the events of a batch are complete, as a long: by default that of its last event, of whatever
    * key and type. Spark finds it with a subquery, when the query runs.
    */
  val until: Option[Expression] = options.until match {
    case None if lengths.isEmpty || df.isStreaming => None
    case None                       => Some(Columns.resolve(df, df.agg(max(AsLong.of(b.columnOf(time)))).scalar()))
    case Some(_) if lengths.isEmpty => throw new CerException("CER_UNTIL.NOTHING_WAITS")
    case Some(_) if df.isStreaming  => throw new CerException("CER_UNTIL.STREAM")
    case Some(Waiting.Forever)      => Some(Literal(Long.MaxValue))
    case Some(text)                 =>
      val value = Columns.resolve(df, AsLong.of(lit(text).try_cast(time.dataType))).eval()
      if (value == null) throw new CerException("CER_UNTIL.NO_TIME", b.typed(time) :+ ("until" -> text): _*)
      Some(Literal(value, LongType))
  }
}

object Waiting {
  val Forever = "forever"
}
