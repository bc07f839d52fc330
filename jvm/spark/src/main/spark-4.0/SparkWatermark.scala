package sparkcer.internal.prepare

import org.apache.spark.sql.execution.streaming.EventTimeWatermarkExec

/** Where this Spark has its operator for watermarks. */
private[prepare] object SparkWatermark {
  type Exec = EventTimeWatermarkExec
}
