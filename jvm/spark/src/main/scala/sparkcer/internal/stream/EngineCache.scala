package sparkcer.internal.stream

import java.util.UUID
import java.util.concurrent.{Executors, TimeUnit}

import scala.collection.mutable

import org.apache.spark.sql.streaming.StreamingQueryListener

/** The buckets that this executor keeps in memory, so that a micro-batch need not load the state that the last one
  * left.
  *
  * It cannot give a wrong answer. A bucket is taken out while a task works on it, so no two tasks see the same one. The
  * head of its log, which has a random part, is compared with the head in the state store: a bucket that worked for an
  * attempt which never committed (a retry, a speculative task, a task thought dead) does not fit, and is dropped.
  *
  * An executor does not learn that a query has ended. So buckets that no task has asked for in a while are dropped:
  * those of a query that has ended or moved to another executor, and those of a query whose micro-batches are far
  * apart, which are then loaded again. In local mode [[Ended]] drops them at once.
  *
  * @param idleMillis
  *   how long an engine may wait for its next micro-batch
  * @param nanos
  *   the clock
  */
class EngineCache(idleMillis: Long, nanos: () => Long = () => System.nanoTime()) {
  import EngineCache.Key

  final private class Entry(val bucket: LiveBucket[_], val bytes: Long) {
    val since: Long = nanos()
  }

  /** The one put back longest ago comes first. */
  private val entries = mutable.LinkedHashMap.empty[Key, Entry]
  private var total = 0L

  /** Takes the bucket out, if it is here and its log ends with `head`. */
  def take(key: Key, head: LogHead): Option[LiveBucket[_]] = synchronized {
    remove(key).map(_.bucket).filter(fits(_, head))
  }

  protected def fits(bucket: LiveBucket[_], head: LogHead): Boolean = bucket.head == head

  /** Puts a bucket in after its changes were written. The buckets used longest ago make room for it. */
  def put(key: Key, bucket: LiveBucket[_], limit: Long): Unit = synchronized {
    remove(key): Unit
    val entry = new Entry(bucket, bucket.bytes)
    entries(key) = entry
    total += entry.bytes
    while (total > limit && entries.nonEmpty) remove(entries.head._1): Unit
  }

  /** Drops the engines of a run. */
  def drop(run: UUID): Unit = synchronized(entries.keys.filter(_.run == run).toVector.foreach(remove))

  /** Removes the engines that were idle for too long. */
  private[sparkcer] def sweep(): Unit = synchronized {
    val now = nanos()
    val idle = entries.iterator.takeWhile(now - _._2.since > idleMillis * 1000000L).map(_._1).toVector
    idle.foreach(remove)
  }

  private def remove(key: Key): Option[Entry] = {
    val entry = entries.remove(key)
    entry.foreach(total -= _.bytes)
    entry
  }

  /** For tests and metrics. */
  def size: Int = synchronized(entries.size)
  def bytes: Long = synchronized(total)
  def clear(): Unit = synchronized { entries.clear(); total = 0 }
  def runs: Set[UUID] = synchronized(entries.keysIterator.map(_.run).toSet)
}

object EngineCache {

  /** One bucket of one operator of one run of a query. */
  final case class Key(run: UUID, operator: String, bucket: Int)

  private val IdleMillis = TimeUnit.MINUTES.toMillis(10)

  /** Of this executor. A thread removes idle engines now and then. */
  lazy val here: EngineCache = {
    val cache = new EngineCache(IdleMillis)
    val timer = Executors.newSingleThreadScheduledExecutor { (body: Runnable) =>
      val thread = new Thread(body, "spark-cer-engine-cache")
      thread.setDaemon(true)
      thread
    }
    timer.scheduleWithFixedDelay(() => cache.sweep(), IdleMillis / 2, IdleMillis / 2, TimeUnit.MILLISECONDS): Unit
    cache
  }

  /** How many bytes the engines of an executor may take: what the session says, or a quarter of the executor's own
    * heap.
    */
  def limit(set: Option[Long]): Long = set.getOrElse(Runtime.getRuntime.maxMemory / 4)

  /** Where the driver is the executor, drops the engines of a query when it ends. */
  object Ended extends StreamingQueryListener {
    override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()
    override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit = ()
    override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = here.drop(event.runId)
  }
}
