package sparkcer.internal.prepare

import sparkcer.internal.bind.Plan

/** Slices of time, which make a batch without PARTITION BY parallel. A slice reports the matches that end in it. It
  * reads the events from one window before its start, inclusive, because no match that ends in it starts earlier; and
  * before that, those that must not have come before a match (`NO … FOR` at the beginning of a query). So an event is
  * read for its own slice, and also for the next one if that reaches back to it.
  *
  * Slices have a fixed length and are counted from time 0. They depend on the query and the data, never on the number
  * of tasks, so that LIMIT picks the same matches everywhere.
  *
  * @param reach
  *   how far a slice reaches back
  */
final case class Slices(reach: Long) {
  val length: Long = math.max(Slices.Shortest, Slices.Reaches * reach)

  /** The slices that read an event: from its own to the last one. */
  def of(time: Long): Long = Math.floorDiv(time, length)
  def last(time: Long): Long = if (time > Long.MaxValue - reach) of(time) else of(time + reach)

  def start(slice: Long): Long = slice * length
}

object Slices {

  /** How often a slice is longer than what it reaches back: about one event in so many is read twice. */
  private val Reaches = 16L
  private val Shortest = 1024L

  /** The slices of a plan, if its matches can be found slice by slice: WITHIN limits the time, and nothing is consumed.
    */
  def of(plan: Plan, consumes: Boolean): Option[Slices] =
    plan.window.reach
      .filter(r => plan.window.ofTime && !consumes && plan.clock.isWhole && r <= Long.MaxValue / Reaches / 2)
      .map(r => Slices(r.toLong))
}
