package sparkcer.spark

import org.apache.spark.sql.{Column, Dataset, Encoders}
import org.apache.spark.sql.functions._

/** Slices of time, by which a batch without PARTITION BY is parallel. A slice reports the matches that end in it, and
  * reads the events from one window before it, bound included: no match that ends in it starts earlier. So an event is
  * read for its own slice, and also for the next one if it is in the last window before that.
  *
  * A slice is so many windows long, counted from time 0: it depends on the query and the data, never on how many tasks
  * there are, so that LIMIT picks the same matches everywhere.
  */
final case class Slices(window: Long) {
  val length: Long = math.max(Slices.Shortest, Slices.Windows * window)

  def start(slice: Long): Long = slice * length

  /** The events, once for each slice that reads them. */
  def cut(events: Dataset[Event]): Dataset[Event] = {
    def slice(time: String): Column = expr(s"($time - pmod($time, ${length}L)) div ${length}L")
    val own = slice("time")
    val next = slice(s"(time + ${window}L)")
    val alone = col("time") > lit(Long.MaxValue - window) || own === next
    val both = when(alone, array(own)).otherwise(array(own, next))
    events.toDF().withColumn("slice", explode(both)).as[Event](Encoders.product[Event])
  }
}

object Slices {

  /** One event in so many is read twice. */
  private val Windows = 16L
  private val Shortest = 1024L

  /** The slices of a plan, if its matches can be found slice by slice: a window of time, and nothing that is consumed.
    */
  def of(plan: Plan, consumes: Boolean): Option[Slices] =
    plan.windowSize
      .filter(w => plan.windowIsTime && !consumes && plan.clock.isWhole && w <= Long.MaxValue / Windows / 2)
      .map(w => Slices(w.toLong))
}
