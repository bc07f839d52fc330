package sparkcer.internal.testkit

import org.apache.spark.sql.execution.streaming.runtime

/** Spark moved its stream for tests. */
object Memory {
  type MemoryStream[A] = runtime.MemoryStream[A]
  val MemoryStream: runtime.MemoryStream.type = runtime.MemoryStream
}
