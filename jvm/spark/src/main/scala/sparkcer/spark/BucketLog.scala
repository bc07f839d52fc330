package sparkcer.spark

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.sparkcer.CerRuntimeException
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig, ValueState}

import sparkcer.engine.state.Frame

/** Where a bucket's log ends: its last piece, and a random number that no other attempt to write that piece has. */
final case class LogHead(piece: Long, nonce: Long)

object LogHead {
  val Empty: LogHead = LogHead(-1, 0)
}

/** A bucket's state in the state store: a log of pieces, each with what a micro-batch changed, and from time to time a
  * full one in place of all before it. So what a micro-batch writes goes with its events, not with the state.
  *
  * Beside the log stands what it was written for. It is compared before anything else is read: Spark itself does not
  * notice that another query is started over an old checkpoint.
  */
final class BucketLog(handle: StatefulProcessorHandle) {
  private val pieces: MapState[Long, Array[Byte]] =
    handle.getMapState[Long, Array[Byte]]("pieces", Encoders.scalaLong, Encoders.BINARY, TTLConfig.NONE)
  private val about: ValueState[LogAbout] =
    handle.getValueState[LogAbout]("about", Encoders.product[LogAbout], TTLConfig.NONE)

  /** Where the log ends. Throws, in words, if it was written for something else. */
  def open(now: LogAbout): LogHead = Option(about.get()).fold(LogHead.Empty) { written =>
    written.mustFit(now)
    LogHead(written.piece, written.nonce)
  }

  /** All pieces, oldest first. */
  def read(): Vector[Array[Byte]] = pieces.iterator().toVector.sortBy(_._1).map(_._2)

  /** Writes the piece after `head`; a full one takes the place of all others. Returns the new head. */
  def append(piece: Array[Byte], full: Boolean, head: LogHead, now: LogAbout): LogHead = {
    val next = LogHead(head.piece + 1, java.util.concurrent.ThreadLocalRandom.current().nextLong())
    if (full) pieces.keys().toVector.foreach(pieces.removeKey)
    pieces.updateValue(next.piece, piece)
    about.update(now.copy(piece = next.piece, nonce = next.nonce))
    next
  }

  /** Forgets the bucket. */
  def clear(): Unit = {
    pieces.clear()
    about.clear()
  }
}

/** What a log was written for, and where it ends. */
final case class LogAbout(format: Int, query: String, events: String, time: String, piece: Long, nonce: Long) {

  def mustFit(now: LogAbout): Unit = {
    def refuse(problem: String, advice: String) =
      throw new CerRuntimeException("CER_STATE_MISMATCH", s"$problem $advice")
    val fresh = "Start with a new checkpointLocation, or go back to what it was."
    if (format > now.format)
      refuse(
        s"The checkpoint was written in format $format by a newer spark-cer, and this one reads formats up to ${now.format}.",
        "Use that newer version."
      )
    if (query != now.query)
      refuse(s"The checkpoint was written by another query.\nThen: $query\nNow:  ${now.query}\n", fresh)
    if (events != now.events)
      refuse(
        s"The events have other columns than when the checkpoint was written.\nThen: $events\nNow:  ${now.events}\n",
        fresh
      )
    if (time != now.time)
      refuse(
        s"The events are ordered otherwise than when the checkpoint was written.\nThen: $time\nNow:  ${now.time}\n",
        fresh
      )
  }
}

object LogAbout {
  def of(plan: Plan): LogAbout = LogAbout(Frame.Version, plan.asked, plan.schema.event.toDDL, plan.ordering, 0, 0)
}
