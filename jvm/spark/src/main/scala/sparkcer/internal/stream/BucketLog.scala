package sparkcer.internal.stream

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}

/** Where a bucket's log ends: its last piece, and a random number that no other attempt to write that piece has. */
final case class LogHead(piece: Long, nonce: Long)

object LogHead {
  val Empty: LogHead = LogHead(-1, 0)
}

/** A bucket's state in the state store: a log of pieces, each with what a micro-batch changed, and from time to time a
  * full one in place of all before it. So what a micro-batch writes goes with its events, not with the state.
  *
  * Beside the log, under a number that no piece has, stands what it was written for ([[LogAbout]]). It is compared
  * before anything else is read: Spark itself does not notice that another query is started over an old checkpoint. All
  * is bytes in one map, because each state variable and each encoder of a class costs a task some milliseconds.
  *
  * @param now
  *   what is written for now, and `first` what format 1 was
  */
final class BucketLog(handle: StatefulProcessorHandle, now: LogAbout, first: FirstFormat) {
  private val pieces: MapState[Long, Array[Byte]] =
    handle.getMapState[Long, Array[Byte]]("log", BucketLog.numbers, BucketLog.bytes, TTLConfig.NONE)

  /** Throws, in words, if the log was written for something else. */
  private def written: Option[LogAbout] = Option(pieces.getValue(BucketLog.About)).map { bytes =>
    val about = LogAbout.read(bytes)
    about.mustFit(now, first)
    about
  }

  /** Where the log ends. */
  def open(): LogHead = written.fold(LogHead.Empty)(_.head)

  /** Where there is nothing else to write: says what the log is written for, if it does not say so yet. */
  def begin(): Unit = {
    val before = written
    if (!before.exists(_.meaning.isDefined)) end(before.fold(LogHead.Empty)(_.head))
  }

  /** All pieces, oldest first. */
  def read(): Vector[Array[Byte]] =
    pieces.iterator().filter(_._1 != BucketLog.About).toVector.sortBy(_._1).map(_._2)

  /** Writes the piece after `head`; a full one takes the place of all others. Returns the new head. */
  def append(piece: Array[Byte], full: Boolean, head: LogHead): LogHead = {
    val next = LogHead(head.piece + 1, java.util.concurrent.ThreadLocalRandom.current().nextLong())
    if (full) pieces.clear()
    pieces.updateValue(next.piece, piece)
    end(next)
    next
  }

  private def end(head: LogHead): Unit =
    pieces.updateValue(BucketLog.About, now.copy(piece = head.piece, nonce = head.nonce).bytes)

  /** Forgets the bucket. */
  def clear(): Unit = pieces.clear()
}

private[sparkcer] object BucketLog {
  val About = -1L
  private val numbers = Encoders.scalaLong
  private val bytes = Encoders.BINARY
}
