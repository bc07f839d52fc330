package sparkcer.peers

import scala.collection.mutable

/** Orders in three steps, A, B and C, among other events: as many events again and more that are of no use. Each C ends
  * one match, of the three events with its `ref`.
  */
final class LiveEvents {
  private val rng = new java.util.SplittableRandom(1)
  private val paid, sent = mutable.Queue.empty[Long]
  private var id = -1L
  private var last = 0L

  /** The next event as JSON, with the time now in microseconds, which is another one for each event. */
  def next(): String = {
    id += 1
    last = math.max(last + 1, LiveEvents.now())
    rng.nextInt(5) match {
      case 0                  => paid += id; json("A", id)
      case 1 if paid.nonEmpty => val ref = paid.dequeue(); sent += ref; json("B", ref)
      case 2 if sent.nonEmpty => json("C", sent.dequeue())
      case _                  => json("X", id)
    }
  }

  private def json(kind: String, ref: Long) =
    s"""{"type":"$kind","id":$id,"key":${ref % LiveEvents.Keys},"ref":"r$ref","ts":$last}"""
}

object LiveEvents {
  private val Keys = 1000

  def now(): Long = {
    val t = java.time.Instant.now()
    t.getEpochSecond * 1000000L + t.getNano / 1000
  }

  private val Json = """\{"type":"(\w)","id":(\d+),"key":(\d+),"ref":"(\w+)","ts":(\d+)\}""".r

  def parse(json: String): Event = json match {
    case Json(kind, id, key, ref, ts) =>
      val e = new Event
      e.kind = kind
      e.id = id.toLong
      e.key = key.toLong
      e.x = ref
      e.ts = ts.toLong
      e
    case other => throw new IllegalArgumentException(other)
  }
}
