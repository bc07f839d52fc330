package sparkcer.internal.prepare

import java.util.Comparator

import org.apache.spark.unsafe.Platform

import sparkcer.engine.state.{WireReader, WireWriter}

/** An event as the evaluator reads it. The columns that are kept of it are bytes, which only Spark understands.
  *
  * @param key
  *   the PARTITION BY columns as the bytes of a row
  * @param time
  *   the time column as a long
  * @param clock
  *   the column that WITHIN limits, as a long; no value if it is NULL (`timed` is false)
  * @param order
  *   the value of the `order` column, or 0
  * @param arrival
  *   input partition and row in it; a stream numbers events anew
  * @param mask
  *   the conditions it meets; `more` has the words after the first
  * @param payload
  *   see [[Payload]]
  * @param tally
  *   null; or the numbers of a [[Tally]], in a row that is no event and has nothing else
  */
final case class Event(
    key: Array[Byte],
    time: Long,
    clock: Long,
    timed: Boolean,
    order: Long,
    var arrival: Long,
    mask: Long,
    more: Array[Long],
    payload: Array[Byte],
    tally: Array[Long] = null
) {

  /** The slice of time that it is read for, see [[Slices]]. */
  var slice: Long = 0L

  def write(out: WireWriter): Unit = {
    out.array(key)
    out.long(time)
    out.long(clock)
    out.byte(if (timed) 1 else 0)
    out.long(order)
    out.long(arrival)
    out.words(mask +: Option(more).getOrElse(Array.empty[Long]))
    out.shared(payload)
  }
}

object Event {
  def read(in: WireReader): Event = {
    val key = in.array()
    val (time, clock, timed, order, arrival) = (in.long(), in.long(), in.byte() == 1, in.long(), in.long())
    val masks = in.words()
    val more = if (masks.length > 1) masks.tail else null
    Event(key, time, clock, timed, order, arrival, masks.head, more, in.shared())
  }

  /** The order in which events are read: by time, the `order` column, and arrival. */
  val InOrder: Comparator[Event] = (a, b) => {
    val byTime = java.lang.Long.compare(a.time, b.time)
    val byOrder = if (byTime != 0) byTime else java.lang.Long.compare(a.order, b.order)
    if (byOrder != 0) byOrder else java.lang.Long.compare(a.arrival, b.arrival)
  }

  /** About what an event takes in memory. */
  def bytes(e: Event): Long = 120L + e.payload.length + e.key.length
}

/** The bytes that the engine keeps for an event: its time, which of several identical events it is, and its row. */
object Payload {
  val Head = 16

  def time(p: Array[Byte]): Long = Platform.getLong(p, Platform.BYTE_ARRAY_OFFSET)

  def setTime(p: Array[Byte], time: Long): Unit = Platform.putLong(p, Platform.BYTE_ARRAY_OFFSET, time)

  /** Identical events (same time, same row) are told apart by a number from 0. The bytes may be shared, so others are
    * returned.
    */
  def withCopy(p: Array[Byte], n: Long): Array[Byte] = {
    val other = p.clone()
    Platform.putLong(other, Platform.BYTE_ARRAY_OFFSET + 8, n)
    other
  }
}
