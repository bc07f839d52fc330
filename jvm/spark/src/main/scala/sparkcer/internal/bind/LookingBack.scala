package sparkcer.internal.bind

import sparkcer.engine.ceql.{AbsenceBefore, Printer}

/** What a query needs that begins with `NO … FOR`: for each, how long before a match no such event may have come, in
  * the units of the clock.
  */
final class LookingBack(b: Binding, options: Options) {
  import b.{fail, time}

  val lengths: Vector[BigDecimal] = b.program.looksBack.map { length =>
    val at = AbsenceBefore.of(b.program.query.where).find(_.length == length).get.absent.offset
    val (limited, size) = b.sizeOf(length, at)
    if (limited != time) fail(at, "CER_ABSENCE.BEFORE_OTHER_COLUMN", "column" -> limited.name, "time" -> time.name)
    if (b.idle.exists(_ < size))
      fail(at, "CER_ABSENCE.BEFORE_IDLE", "idle" -> options.idle.get, "length" -> Printer.print(length))
    size
  }
}
