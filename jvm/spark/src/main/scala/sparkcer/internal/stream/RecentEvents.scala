package sparkcer.internal.stream

import scala.collection.mutable

import sparkcer.engine.state.{WireReader, WireWriter}
import sparkcer.internal.prepare.Event

/** What a [[Snapshot]] needs: the events of the last two windows that were read, in order, and those before them that
  * must not have come before a match.
  *
  * @param needed
  *   the time of the first event that is needed, by the time of the last one
  */
final private[stream] class RecentEvents(needed: Long => Long) {
  private val events = mutable.ArrayDeque.empty[Event]

  /** Those that the last piece does not have. */
  private val unsaved = mutable.ArrayBuffer.empty[Event]
  private var lastTime = Long.MinValue

  /** About what they take in memory. */
  var bytes = 0L

  def isEmpty: Boolean = events.isEmpty
  def toVector: Vector[Event] = events.toVector

  def add(e: Event): Unit = {
    remember(e)
    unsaved += e
  }

  private def remember(e: Event): Unit = {
    events += e
    bytes += Event.bytes(e)
    lastTime = math.max(lastTime, e.time)
  }

  /** Forgets the events that are not needed any more. */
  def expire(): Unit = if (events.nonEmpty) {
    val from = needed(lastTime)
    while (events.head.time < from) bytes -= Event.bytes(events.removeHead())
  }

  def save(out: WireWriter, full: Boolean): Unit = {
    val saved = if (full) events.toVector else unsaved.toVector
    out.int(saved.length)
    saved.foreach(_.write(out))
    unsaved.clear()
  }

  def restore(in: WireReader, full: Boolean): Unit = {
    if (full) { events.clear(); bytes = 0 }
    (0 until in.int()).foreach(_ => remember(Event.read(in)))
    expire()
  }
}
