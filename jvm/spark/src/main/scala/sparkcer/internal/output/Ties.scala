package sparkcer.internal.output

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.apache.spark.unsafe.Platform

import sparkcer.engine.state.{WireReader, WireWriter}
import sparkcer.internal.bind.Plan
import sparkcer.internal.prepare.{Event, Payload}

/** What a substream remembers of its last events: their time, to know whether the next event is late, and how many
  * identical events of that time there were, so that each match has its own `match_id`. Costs little while times
  * differ.
  */
final class Ties(view: View = View.Whole) {
  private var seen = false
  private var last = Long.MinValue
  private var clock = Long.MinValue
  private var first: Array[Byte] = _
  private val copies = new mutable.LongMap[Long]

  /** The time of the last event, or the smallest long if there was none. */
  def lastTime: Long = last

  /** Does the event come after the last one, by its time and by the column that WITHIN limits? */
  def precede(e: Event): Boolean = e.time >= last && (!e.timed || e.clock >= clock)

  /** Fails if the event does not come after the last one. Events are in time order here, so only the other column can
    * have decreased.
    */
  def mustPrecede(e: Event, plan: Plan): Unit =
    if (!precede(e))
      throw new CerRuntimeException(
        "CER_WINDOW_DECREASES",
        "before" -> plan.window.clock.show(clock),
        "beforeTime" -> plan.clock.show(last),
        "after" -> plan.window.clock.show(e.clock),
        "afterTime" -> plan.clock.show(e.time)
      )

  /** How many identical events of the same time came before this one. Events come in time order. */
  def next(e: Event): Long = {
    if (e.timed) clock = e.clock
    if (!seen || e.time != last) {
      seen = true
      last = e.time
      if (first == null) copies.clear() // which is not free, even if there are none
      first = e.payload
      0
    } else {
      if (first != null) { copies(hash(first)) = 1; first = null }
      val h = hash(e.payload)
      val n = copies.getOrElse(h, 0L)
      copies(h) = n + 1
      n
    }
  }

  private def hash(payload: Array[Byte]): Long = Ties.hash(view(payload))

  def save(): Array[Byte] = {
    val out = new WireWriter
    if (first != null) { copies(hash(first)) = 1; first = null }
    out.byte(if (seen) 1 else 0)
    out.long(last)
    out.long(clock)
    out.int(copies.size)
    copies.foreach { case (h, n) => out.long(h); out.long(n) }
    out.result()
  }
}

object Ties {
  def load(bytes: Array[Byte], view: View = View.Whole): Ties = {
    val ties = new Ties(view)
    if (bytes != null) {
      val in = new WireReader(bytes, 0, bytes.length)
      ties.seen = in.byte() == 1
      ties.last = in.long()
      ties.clock = in.long()
      (0 until in.int()).foreach(_ => ties.copies(in.long()) = in.long())
    }
    ties
  }

  /** Hashes the row, without the head of the payload. */
  private def hash(p: Array[Byte]): Long =
    XXH64.hashUnsafeBytes(p, Platform.BYTE_ARRAY_OFFSET + Payload.Head, p.length - Payload.Head, 42L)
}
