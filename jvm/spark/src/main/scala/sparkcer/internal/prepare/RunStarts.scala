package sparkcer.internal.prepare

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext

/** Tells the first micro-batch of each run of a stream. It is used on the driver, and is the same in all micro-batches.
  */
final class RunStarts extends Serializable {
  @transient private lazy val first = new ConcurrentHashMap[String, String]

  /** Also if the plan of that micro-batch runs several times, as it may in `foreachBatch`. */
  def isFirst(spark: SparkContext): Boolean = {
    val (run, batch) = (spark.getLocalProperty(RunStarts.Run), spark.getLocalProperty(RunStarts.Batch))
    run == null || batch == null || first.computeIfAbsent(run, _ => batch) == batch
  }
}

object RunStarts {

  /** Spark runs the jobs of a stream in a group that has the id of the run. */
  private val Run = "spark.jobGroup.id"
  private val Batch = "streaming.sql.batchId"
}
