package sparkcer.internal.testkit

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{ForeachWriter, Row}

/** A sink of a stream in this process: the `match_id`s of its rows, under a name. */
final class CollectedIds(name: String) extends ForeachWriter[Row] {
  def open(partition: Long, epoch: Long): Boolean = true
  def process(row: Row): Unit = CollectedIds.of(name).add(row.getAs[String]("match_id")): Unit
  def close(error: Throwable): Unit = ()
}

object CollectedIds {
  private val all = new ConcurrentHashMap[String, ConcurrentLinkedQueue[String]]
  private def of(name: String) = all.computeIfAbsent(name, _ => new ConcurrentLinkedQueue[String])

  def apply(name: String): Seq[String] = of(name).asScala.toVector.sorted
}
