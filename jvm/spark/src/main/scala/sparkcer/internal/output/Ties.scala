package sparkcer.internal.output

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.apache.spark.unsafe.Platform

import sparkcer.engine.state.{WireReader, WireWriter}
import sparkcer.internal.prepare.{Event, Payload}

/** What a substream must know of its last event: whether the next one follows it, and which of several identical events
  * of one time that is, so that each match has an identity of its own. Costs little while times differ.
  */
final class Ties {
  private var seen = false
  private var last = Long.MinValue
  private var clock = Long.MinValue
  private var first: Array[Byte] = _
  private val copies = new mutable.LongMap[Long]

  /** The time of the last event, or the smallest there is. */
  def lastTime: Long = last

  /** Does the event come after the last one, by its time and by the column that WITHIN limits? */
  def precede(e: Event): Boolean = e.time >= last && (!e.timed || e.clock >= clock)

  /** Events are in time order, so it can only be the other column that falls. */
  def mustPrecede(e: Event, plan: Plan): Unit =
    if (!precede(e))
      throw new CerRuntimeException(
        "CER_WINDOW_DECREASES",
        s"The column of WITHIN must not decrease along the stream: it is ${plan.windowClock.show(clock)} " +
          s"in an event at ${plan.clock.show(last)}, and ${plan.windowClock.show(e.clock)} in a later one at ${plan.clock.show(e.time)}. " +
          "Order the events by that column (time=...), or limit the window by the time column."
      )

  /** How many identical events of the same time came before. Events come in time order. */
  def next(e: Event): Long = {
    if (e.timed) clock = e.clock
    if (!seen || e.time != last) {
      seen = true
      last = e.time
      if (first == null) copies.clear() // which is not free, even if there are none
      first = e.payload
      0
    } else {
      if (first != null) { copies(Ties.hash(first)) = 1; first = null }
      val h = Ties.hash(e.payload)
      val n = copies.getOrElse(h, 0L)
      copies(h) = n + 1
      n
    }
  }

  def save(): Array[Byte] = {
    val out = new WireWriter
    if (first != null) { copies(Ties.hash(first)) = 1; first = null }
    out.byte(if (seen) 1 else 0)
    out.long(last)
    out.long(clock)
    out.int(copies.size)
    copies.foreach { case (h, n) => out.long(h); out.long(n) }
    out.result()
  }
}

object Ties {
  def load(bytes: Array[Byte]): Ties = {
    val ties = new Ties
    if (bytes != null) {
      val in = new WireReader(bytes, 0, bytes.length)
      ties.seen = in.byte() == 1
      ties.last = in.long()
      ties.clock = in.long()
      (0 until in.int()).foreach(_ => ties.copies(in.long()) = in.long())
    }
    ties
  }

  /** Of the row alone. */
  private def hash(p: Array[Byte]): Long =
    XXH64.hashUnsafeBytes(p, Platform.BYTE_ARRAY_OFFSET + Payload.Head, p.length - Payload.Head, 42L)
}
