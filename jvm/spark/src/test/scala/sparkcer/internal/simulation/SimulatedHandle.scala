package sparkcer.internal.simulation

import java.lang.reflect.{InvocationHandler, Method, Proxy}
import java.util.UUID

import org.apache.spark.sql.streaming.{MapState, QueryInfo, StatefulProcessorHandle}

/** One version of the state store of a partition: the logs of its buckets, and their timers. It and its bytes do not
  * change.
  */
final case class Version(logs: Map[Int, Map[Long, Array[Byte]]], timers: Map[Int, Set[Long]])

object Version {
  val Empty: Version = Version(Map.empty, Map.empty)
}

/** Ends an attempt of a task before one of the things that it does with the state store. */
final class Crash extends RuntimeException("the simulated task was killed")

/** Counts what an attempt does with the state store, and ends it when nothing is left. */
final class Fuse(private var left: Int) {
  def burn(): Unit = if (left == 0) throw new Crash else left -= 1
}

object Fuse {
  def none: Fuse = new Fuse(Int.MaxValue)
}

/** Spark's state for one attempt of a task: it starts from a version, and what the attempt writes is seen by nobody
  * else before it is committed.
  *
  * Spark's interface is implemented by a proxy, because each version of Spark has other methods that nobody calls here.
  *
  * @param bug
  *   a planted bug, see [[Bug]]
  */
final class SimulatedHandle(base: Version, run: UUID, fuse: Fuse, bug: Bug) extends InvocationHandler {
  private var now = base

  /** The bucket that Spark works on. Between two buckets there is none, and no state. */
  var bucket: Option[Int] = None

  val spark: StatefulProcessorHandle = Proxy
    .newProxyInstance(getClass.getClassLoader, Array[Class[_]](classOf[StatefulProcessorHandle]), this)
    .asInstanceOf[StatefulProcessorHandle]

  def commit(): Version = { fuse.burn(); now }

  /** All timers, the earliest first. */
  def timers: Vector[(Long, Int)] = now.timers.toVector.flatMap { case (b, all) => all.map(_ -> b) }.sorted

  private def current: Int = bucket.getOrElse(throw new IllegalStateException("state is used outside of a group"))

  private def myTimers: Set[Long] = now.timers.getOrElse(current, Set.empty)

  private def setTimers(all: Set[Long]): Unit = now = now.copy(timers = now.timers.updated(current, all))

  override def invoke(proxy: Any, method: Method, arguments: Array[AnyRef]): AnyRef = {
    def time = arguments(0).asInstanceOf[Long]
    method.getName match {
      case "getMapState"   => fuse.burn(); Log
      case "getQueryInfo"  => Info
      case "listTimers"    => fuse.burn(); myTimers.toVector.sorted.iterator
      case "deleteTimer"   => fuse.burn(); delete(time); null
      case "registerTimer" =>
        fuse.burn()
        require(!myTimers(time), s"the timer $time is set twice, of which Spark warns")
        if (!bug.losesTimer()) setTimers(myTimers + time)
        null
      case other => throw new UnsupportedOperationException(other)
    }
  }

  private def delete(time: Long): Unit = {
    require(myTimers(time), s"the timer $time is deleted and not set, of which Spark warns")
    setTimers(myTimers - time)
  }

  /** Removes the timer that fired. */
  def fired(time: Long): Unit = {
    require(myTimers(time), s"the timer $time fired and is gone"); setTimers(myTimers - time)
  }

  private object Info extends QueryInfo {
    override def getQueryId: UUID = new UUID(0, 0)
    override def getRunId: UUID = run
    override def getBatchId: Long = 0
    override def toString: String = s"run $run"
  }

  private object Log extends MapState[Long, Array[Byte]] {
    private def all: Map[Long, Array[Byte]] = now.logs.getOrElse(current, Map.empty)
    private def set(all: Map[Long, Array[Byte]]): Unit = now = now.copy(logs = now.logs.updated(current, all))

    override def exists(): Boolean = { fuse.burn(); all.nonEmpty }
    override def containsKey(key: Long): Boolean = { fuse.burn(); all.contains(key) }
    override def getValue(key: Long): Array[Byte] = { fuse.burn(); all.get(key).map(_.clone()).orNull }
    override def iterator(): Iterator[(Long, Array[Byte])] = {
      fuse.burn()
      all.toVector.sortBy(_._1).map { case (k, v) => (k, v.clone()) }.iterator
    }
    override def keys(): Iterator[Long] = iterator().map(_._1)
    override def values(): Iterator[Array[Byte]] = iterator().map(_._2)
    override def updateValue(key: Long, value: Array[Byte]): Unit = {
      fuse.burn()
      if (!bug.losesPiece(key)) set(all.updated(key, value.clone()))
    }
    override def removeKey(key: Long): Unit = { fuse.burn(); set(all - key) }
    override def clear(): Unit = { fuse.burn(); set(Map.empty) }
  }
}
