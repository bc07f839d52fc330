package sparkcer.internal.rules

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.cerbridge.Copies

/** What tasks read, sent once to each executor: with many rules it is large.
  *
  * Where the driver is the executor, Spark hands over the very object of the driver. If the jar was added to a running
  * session there, tasks have classes of their own with the same names, and need a copy made of these.
  */
final private[sparkcer] class ForTasks[A <: AnyRef](sent: Broadcast[AnyRef]) extends Serializable {
  def value: A = {
    val one = sent.value
    val mine = getClass.getClassLoader
    (if (one.getClass.getClassLoader eq mine) one else Copies.of(one, mine)).asInstanceOf[A]
  }
}

private[rules] object ForTasks {
  def apply[A <: AnyRef](spark: SparkContext, value: A): ForTasks[A] = new ForTasks(spark.broadcast[AnyRef](value))
}
