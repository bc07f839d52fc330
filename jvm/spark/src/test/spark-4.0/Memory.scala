package sparkcer.internal.testkit

import org.apache.spark.sql.execution.streaming

/** Spark moved its stream for tests. */
object Memory {
  type MemoryStream[A] = streaming.MemoryStream[A]
  val MemoryStream: streaming.MemoryStream.type = streaming.MemoryStream
}
