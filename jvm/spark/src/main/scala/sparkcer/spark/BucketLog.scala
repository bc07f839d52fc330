package sparkcer.spark

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}

import sparkcer.engine.state.{Frame, WireReader, WireWriter}

/** Where a bucket's log ends: its last piece, and a random number that no other attempt to write that piece has. */
final case class LogHead(piece: Long, nonce: Long)

object LogHead {
  val Empty: LogHead = LogHead(-1, 0)
}

/** A bucket's state in the state store: a log of pieces, each with what a micro-batch changed, and from time to time a
  * full one in place of all before it. So what a micro-batch writes goes with its events, not with the state.
  *
  * Beside the log, under a number that no piece has, stands what it was written for. It is compared before anything
  * else is read: Spark itself does not notice that another query is started over an old checkpoint. All is bytes in one
  * map, because each state variable and each encoder of a class costs a task some milliseconds.
  */
final class BucketLog(handle: StatefulProcessorHandle) {
  private val pieces: MapState[Long, Array[Byte]] =
    handle.getMapState[Long, Array[Byte]]("log", BucketLog.numbers, BucketLog.bytes, TTLConfig.NONE)

  /** Where the log ends. Throws, in words, if it was written for something else. */
  def open(now: LogAbout): LogHead = Option(pieces.getValue(BucketLog.About)).fold(LogHead.Empty) { bytes =>
    val written = LogAbout.read(bytes)
    written.mustFit(now)
    LogHead(written.piece, written.nonce)
  }

  /** All pieces, oldest first. */
  def read(): Vector[Array[Byte]] =
    pieces.iterator().filter(_._1 != BucketLog.About).toVector.sortBy(_._1).map(_._2)

  /** Writes the piece after `head`; a full one takes the place of all others. Returns the new head. */
  def append(piece: Array[Byte], full: Boolean, head: LogHead, now: LogAbout): LogHead = {
    val next = LogHead(head.piece + 1, java.util.concurrent.ThreadLocalRandom.current().nextLong())
    if (full) pieces.clear()
    pieces.updateValue(next.piece, piece)
    pieces.updateValue(BucketLog.About, now.copy(piece = next.piece, nonce = next.nonce).bytes)
    next
  }

  /** Forgets the bucket. */
  def clear(): Unit = pieces.clear()
}

private object BucketLog {
  val About = -1L
  private val numbers = Encoders.scalaLong
  private val bytes = Encoders.BINARY
}

/** What a log was written for, and where it ends. */
final case class LogAbout(format: Int, query: String, events: String, time: String, piece: Long, nonce: Long) {

  def bytes: Array[Byte] = {
    val out = new WireWriter
    out.int(format)
    out.long(piece)
    out.long(nonce)
    Seq(query, events, time).foreach(t => out.array(t.getBytes(UTF_8)))
    out.result()
  }

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

  /** The format comes first, so that a newer one is told whatever follows it. */
  def read(bytes: Array[Byte]): LogAbout = {
    val in = new WireReader(bytes, 0, bytes.length)
    val format = in.int()
    if (format > Frame.Version) LogAbout(format, "", "", "", 0, 0)
    else {
      val (piece, nonce) = (in.long(), in.long())
      def text() = new String(in.array(), UTF_8)
      LogAbout(format, text(), text(), text(), piece, nonce)
    }
  }

  def of(plan: Plan): LogAbout = LogAbout(
    Frame.Version,
    plan.asked + (if (plan.snapshots) "\nwith snapshots" else ""),
    plan.schema.event.toDDL,
    plan.ordering,
    0,
    0
  )
}
