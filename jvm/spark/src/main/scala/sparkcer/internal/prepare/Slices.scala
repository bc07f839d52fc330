package sparkcer.internal.prepare

import sparkcer.internal.bind.Plan

/** Slices of time, which make a batch without PARTITION BY parallel. A slice reports the matches that end in it. It
  * reads the events from one window before its start, inclusive, because no match that ends in it starts earlier. So an
  * event is read for its own slice, and also for the next one if it lies in the last window before that.
  *
  * Slices have a fixed length in windows and are counted from time 0. They depend on the query and the data, never on
  * the number of tasks, so that LIMIT picks the same matches everywhere.
  */
final case class Slices(window: Long) {
  val length: Long = math.max(Slices.Shortest, Slices.Windows * window)

  /** The slices that read an event: from its own to the last one. */
  def of(time: Long): Long = Math.floorDiv(time, length)
  def last(time: Long): Long = if (time > Long.MaxValue - window) of(time) else of(time + window)

  def start(slice: Long): Long = slice * length
}

object Slices {

  /** The length of a slice in windows: about one event in so many is read twice. */
  private val Windows = 16L
  private val Shortest = 1024L

  /** The slices of a plan, if its matches can be found slice by slice: WITHIN limits the time, and nothing is consumed.
    */
  def of(plan: Plan, consumes: Boolean): Option[Slices] =
    plan.window.size
      .filter(w => plan.window.ofTime && !consumes && plan.clock.isWhole && w <= Long.MaxValue / Windows / 2)
      .map(w => Slices(w.toLong))
}
