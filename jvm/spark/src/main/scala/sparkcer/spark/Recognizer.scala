package sparkcer.spark

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.evaluate.{Evaluator, Program, Substream}

/** All that a task needs to turn events into match rows. It is sent to tasks as it is; the engine is compiled there.
  *
  * @param windowIsTime
  *   whether the window is about the time column
  * @param delay
  *   of the watermark on the time column of a stream, in the units of the clock
  * @param idle
  *   how long a key may be silent, in the units of the clock
  * @param ordering
  *   the time, order and type columns, in words
  * @param operator
  *   a name that no other use of a query has
  */
final case class Plan(
    query: String,
    schema: MatchSchema,
    clock: Clock,
    windowClock: Clock,
    windowSize: Option[BigDecimal],
    windowIsTime: Boolean,
    maxMatchesPerEvent: Long,
    delay: Option[Long],
    idle: Option[Long],
    lateRows: Boolean,
    ordering: String,
    operator: String
) {

  /** Two plans with the same fingerprint give the same matches from the same events. */
  def fingerprint: Long =
    XXH64.hashUTF8String(UTF8String.fromString(s"${query.trim}\n${schema.row.sql}\n$windowClock $windowSize"), 0L)
}

/** An evaluator with its input and output: events in, match rows out. For one thread. */
final class Recognizer(plan: Plan) {
  private val program = Program(plan.query)
  val evaluator = new Evaluator(program)
  private val writer = new MatchWriter(plan.schema, program, plan.clock, plan.fingerprint)

  /** Reads the substream's next event and hands over the rows of the matches it closes, if they are to be reported. */
  def read(substream: Substream, ties: Ties, e: Event, report: Boolean = true)(emit: Array[Byte] => Unit): Unit = {
    val copy = ties.next(e.time, e.payload)
    if (copy > 0) Payload.setCopy(e.payload, copy)
    val cls = if (e.more == null) evaluator.classOf(e.mask) else evaluator.classOf(e.mask +: e.more)
    val closes =
      if (e.timed) substream.read(cls, e.clock, plan.windowClock.bound(e.clock, plan.windowSize), e.payload)
      else substream.readUntimed(cls, e.payload)
    if (!closes || !report) ()
    else if (program.counts) emit(writer.writeCount(e, evaluator.count))
    else {
      val matches = evaluator.matches
      var n = 0L
      while (matches.next()) {
        n += 1
        if (n > plan.maxMatchesPerEvent) throw tooMany(e)
        emit(writer.write(e.key, substream, matches))
      }
    }
  }

  private def tooMany(e: Event): SparkException = new SparkException(
    s"[CER_TOO_MANY_MATCHES] The event at time ${e.time} closes more than ${plan.maxMatchesPerEvent} matches. " +
      "Use LIMIT, SELECT NEXT or SELECT LAST, or raise spark.cer.maxMatchesPerEvent."
  )
}
