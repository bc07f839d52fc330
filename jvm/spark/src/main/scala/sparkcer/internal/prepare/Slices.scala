package sparkcer.internal.prepare

import sparkcer.internal.output.Plan

/** Slices of time, by which a batch without PARTITION BY is parallel. A slice reports the matches that end in it, and
  * reads the events from one window before it, bound included: no match that ends in it starts earlier. So an event is
  * read for its own slice, and also for the next one if it is in the last window before that.
  *
  * A slice is so many windows long, counted from time 0: it depends on the query and the data, never on how many tasks
  * there are, so that LIMIT picks the same matches everywhere.
  */
final case class Slices(window: Long) {
  val length: Long = math.max(Slices.Shortest, Slices.Windows * window)

  /** The slices that read an event: its own, to the last. */
  def of(time: Long): Long = Math.floorDiv(time, length)
  def last(time: Long): Long = if (time > Long.MaxValue - window) of(time) else of(time + window)

  def start(slice: Long): Long = slice * length
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
