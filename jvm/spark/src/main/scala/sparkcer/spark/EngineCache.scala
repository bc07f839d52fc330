package sparkcer.spark

import java.util.UUID

import scala.collection.mutable

/** The buckets whose engines are alive on this executor, so that a micro-batch need not load what the last one left.
  *
  * It cannot give a wrong answer. A bucket is taken out while a task works on it, so no two tasks see the same one; and
  * the head of its log, which has a random part, is compared with the head in the state store, so that an engine which
  * worked for an attempt that never committed (a retry, a speculative twin, a task thought dead) is found out and let
  * go.
  */
object EngineCache {

  /** One bucket of one operator of one run of a query. */
  final case class Key(run: UUID, operator: String, bucket: Int)

  final private class Entry(val bucket: Bucket, val bytes: Long)

  private val entries = mutable.LinkedHashMap.empty[Key, Entry]
  private var total = 0L

  /** Takes the bucket out, if it is there and its log ends with `head`. */
  def take(key: Key, head: LogHead): Option[Bucket] = synchronized {
    entries.remove(key).flatMap { e =>
      total -= e.bytes
      if (e.bucket.head == head) Some(e.bucket) else None
    }
  }

  /** Puts a bucket in after its changes are written; the ones used longest ago make room for it. */
  def put(key: Key, bucket: Bucket, limit: Long): Unit = synchronized {
    entries.remove(key).foreach(e => total -= e.bytes)
    val entry = new Entry(bucket, bucket.bytes)
    entries(key) = entry
    total += entry.bytes
    while (total > limit && entries.nonEmpty) {
      val (oldest, e) = entries.head
      entries.remove(oldest)
      total -= e.bytes
    }
  }

  /** For tests and metrics. */
  def size: Int = synchronized(entries.size)
  def bytes: Long = synchronized(total)
  def clear(): Unit = synchronized { entries.clear(); total = 0 }
}
