package sparkcer.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform

import sparkcer.engine.state.{WireReader, WireWriter}

/** Tells identical events of one time apart by a number, so that each match has an identity of its own. Costs nothing
  * while times differ.
  */
final class Ties {
  private var seen = false
  private var last = 0L
  private var first: Array[Byte] = _
  private val copies = new mutable.LongMap[Long]

  /** The time of the last event, if there was one. */
  def lastTime: Option[Long] = if (seen) Some(last) else None

  /** Was there an event after this time? */
  def isAfter(time: Long): Boolean = seen && last > time

  /** How many identical events of the same time came before. Events come in time order. */
  def next(time: Long, payload: Array[Byte]): Long =
    if (!seen || time != last) {
      seen = true
      last = time
      first = payload
      copies.clear()
      0
    } else {
      if (first != null) { copies(Ties.hash(first)) = 1; first = null }
      val h = Ties.hash(payload)
      val n = copies.getOrElse(h, 0L)
      copies(h) = n + 1
      n
    }

  def save(): Array[Byte] = {
    val out = new WireWriter
    if (first != null) { copies(Ties.hash(first)) = 1; first = null }
    out.byte(if (seen) 1 else 0)
    out.long(last)
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
      (0 until in.int()).foreach(_ => ties.copies(in.long()) = in.long())
    }
    ties
  }

  /** Of the row alone. */
  private def hash(p: Array[Byte]): Long =
    XXH64.hashUnsafeBytes(p, Platform.BYTE_ARRAY_OFFSET + Payload.Head, p.length - Payload.Head, 42L)
}
