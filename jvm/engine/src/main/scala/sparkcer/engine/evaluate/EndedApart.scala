package sparkcer.engine.evaluate

import sparkcer.engine.compare.Cell

/** The matches that an event has found, in a query whose matches end in different ways.
  *
  * @param heads
  *   the node and the label of each head, in turn
  * @param ends
  *   the cells that the runs of each head end in
  * @param queueOf
  *   for each final state, which queue its matches wait in, or -1 if they end at once
  */
final private[evaluate] class EndedApart(heads: Array[Int], ends: Array[Array[Cell]], tecs: Tecs, queueOf: Array[Int]) {

  /** The heads that have a match with a start from an event on, and with a run that ends in one of these queues; and
    * the cells of these runs.
    */
  def select(start: Int, queues: Int => Boolean): (Array[Int], Array[Array[Cell]]) = {
    val cells = ends.map(_.filter(cell => queues(queueOf(cell.state))))
    val left = cells.indices.filter { h =>
      cells(h).length > 0 && (heads(2 * h) == 0 || tecs.startsFrom(heads(2 * h), start))
    }.toArray
    (left.flatMap(h => Array(heads(2 * h), heads(2 * h + 1))), left.map(cells(_)))
  }
}
