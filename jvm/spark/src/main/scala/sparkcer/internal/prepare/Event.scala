package sparkcer.internal.prepare

import org.apache.spark.unsafe.Platform

/** An event as the evaluator takes it, with the columns of the output as opaque bytes.
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
  *   the conditions it passes; `more` has the words after the first
  * @param payload
  *   see [[Payload]]
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
    payload: Array[Byte]
) {

  /** The slice of time that it is read for, see [[Slices]]. */
  var slice: Long = 0L
}

/** The bytes that the engine keeps for an event: its time, which of several identical events it is, and its row. */
object Payload {
  val Head = 16

  def time(p: Array[Byte]): Long = Platform.getLong(p, Platform.BYTE_ARRAY_OFFSET)

  def setTime(p: Array[Byte], time: Long): Unit = Platform.putLong(p, Platform.BYTE_ARRAY_OFFSET, time)

  /** Identical events (same time, same row) are told apart by a number from 0. */
  def setCopy(p: Array[Byte], n: Long): Unit = Platform.putLong(p, Platform.BYTE_ARRAY_OFFSET + 8, n)
}
