package sparkcer.internal.stream

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}

/** The end of a bucket's log: its last piece, and a random number that tells apart the attempts to write that piece. */
final case class LogHead(piece: Long, nonce: Long)

object LogHead {
  val Empty: LogHead = LogHead(-1, 0)
}

/** The state of a bucket in the state store: a log of pieces. Each piece has what one micro-batch changed, and from
  * time to time a full piece replaces all others. So a micro-batch writes an amount of bytes that grows with its
  * events, not with the state.
  *
  * The map also has, under a number that no piece has, what the log was written for ([[LogAbout]]). This is compared
  * before anything else is read, because Spark does not notice that another query is started on an old checkpoint. All
  * of it is bytes in one map, because each state variable and each encoder of a class costs a task some milliseconds.
  *
  * @param now
  *   what the log is written for by this query
  * @param first
  *   what a log of format 1 was written for
  */
final class BucketLog(handle: StatefulProcessorHandle, now: LogAbout, first: FirstFormat) {
  private val pieces: MapState[Long, Array[Byte]] =
    handle.getMapState[Long, Array[Byte]]("log", BucketLog.numbers, BucketLog.bytes, TTLConfig.NONE)

  /** Fails if the log was written for something else. */
  private def written: Option[LogAbout] = Option(pieces.getValue(BucketLog.About)).map { bytes =>
    val about = LogAbout.read(bytes)
    about.mustFit(now, first)
    about
  }

  /** The end of the log. */
  def open(): LogHead = written.fold(LogHead.Empty)(_.head)

  /** Writes what the log is written for, unless it is there already; for a bucket that has nothing else to write. */
  def begin(): Unit = {
    val before = written
    if (!before.exists(_.meaning.isDefined)) end(before.fold(LogHead.Empty)(_.head))
  }

  /** All pieces, oldest first. */
  def read(): Vector[Array[Byte]] =
    pieces.iterator().filter(_._1 != BucketLog.About).toVector.sortBy(_._1).map(_._2)

  /** Writes the piece after `head`; a full piece replaces all others. Returns the new head. */
  def append(piece: Array[Byte], full: Boolean, head: LogHead): LogHead = {
    val next = LogHead(head.piece + 1, java.util.concurrent.ThreadLocalRandom.current().nextLong())
    if (full) pieces.clear()
    pieces.updateValue(next.piece, piece)
    end(next)
    next
  }

  private def end(head: LogHead): Unit =
    pieces.updateValue(BucketLog.About, now.copy(piece = head.piece, nonce = head.nonce).bytes)

  /** Removes the log of the bucket. */
  def clear(): Unit = pieces.clear()
}

private[sparkcer] object BucketLog {
  val About = -1L
  private val numbers = Encoders.scalaLong
  private val bytes = Encoders.BINARY
}
