package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform

import sparkcer.engine.evaluate.{Matches, Substream}

/** The `match_id`: a hash of the query, the key, the start and end events, and each bound event with its variables. It
  * is the same in a batch and in a stream, however the stream is cut into micro-batches. It has 128 bits, from two
  * independent hashes of 64 bits.
  *
  * The bytes of an event are hashed once, not once for each match that the event is part of.
  */
final private[sparkcer] class MatchIdentity(fingerprint: Long, view: View = View.Whole) {
  import MatchIdentity._

  private val payloads = new Array[Array[Byte]](Slots)
  private val highs = new Array[Long](Slots)
  private val lows = new Array[Long](Slots)

  private var key: Array[Byte] = _
  private var keyHigh = 0L
  private var keyLow = 0L

  private val digits = new Array[Byte](32)
  private var high = 0L
  private var low = 0L

  /** 32 hexadecimal digits. The next call overwrites the array.
    *
    * @param deadline
    *   when the match ends, if a match with the same events can end at another time; otherwise [[MatchIdentity.None]]
    */
  def apply(k: Array[Byte], substream: Substream, m: Matches, deadline: Long): Array[Byte] = {
    if (key ne k) {
      key = k
      keyHigh = hash(k, fingerprint)
      keyLow = hash(k, ~fingerprint)
    }
    high = keyHigh
    low = keyLow
    add(m.start, 0L, substream)
    add(m.end, 0L, substream)
    var i = m.length - 1
    while (i >= 0) {
      add(m.event(i), m.label(i).toLong, substream)
      i -= 1
    }
    if (deadline != MatchIdentity.None) {
      high = XXH64.hashLong(deadline, high)
      low = XXH64.hashLong(deadline, low)
    }
    write(high, 0)
    write(low, 16)
    digits
  }

  /** Adds an event. The hash so far is the seed, so the order of events matters. */
  private def add(event: Int, label: Long, substream: Substream): Unit = {
    val slot = event & (Slots - 1)
    val p = substream.payload(event)
    if (payloads(slot) ne p) {
      payloads(slot) = p
      val seen = view(p)
      highs(slot) = hash(seen, fingerprint)
      lows(slot) = hash(seen, ~fingerprint)
    }
    high = XXH64.hashLong(highs(slot) + label, high)
    low = XXH64.hashLong(lows(slot) + label, low)
  }

  private def hash(bytes: Array[Byte], seed: Long): Long =
    XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, seed)

  private def write(n: Long, at: Int): Unit = {
    var i = 0
    while (i < 16) {
      digits(at + i) = Digits(((n >>> (60 - 4 * i)) & 15).toInt)
      i += 1
    }
  }
}

private[sparkcer] object MatchIdentity {

  val None: Long = Long.MinValue

  /** How many events have their hashes cached, by event number. */
  private val Slots = 4096
  private val Digits = "0123456789abcdef".getBytes
}
