package sparkcer.engine.compare

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.StrategyRules.{Sets, Successors}

/** Where the runs of some cells go with the current event, by label. It is filled anew for each event and keeps its
  * buffers.
  */
final private[compare] class CellSuccessors(val labels: Int, val sets: Sets[Array[Cell]])
    extends Successors[Array[Cell]] {
  private val cells = Array.fill(labels)(new ArrayBuffer[Cell](2))
  private val taken = new Array[Boolean](labels)
  private val ends = Array.fill(labels)(new ArrayBuffer[Cell](2))

  def takes(label: Int): Boolean = taken(label)
  def accepts(label: Int): Boolean = ends(label).nonEmpty

  def fill(from: Array[Cell], machine: Machine, cls: Int, maskOf: Int => Array[Long], now: Now): Unit = {
    var l = 0
    while (l < labels) {
      if (taken(l)) { cells(l).clear(); ends(l).clear(); taken(l) = false }
      l += 1
    }
    var i = 0
    while (i < from.length) {
      val cell = from(i)
      val arcs = machine.arcs(cell.state, cls, maskOf)
      var k = 0
      while (k < arcs.length) {
        val arc = arcs(k)
        val to = arc.follow(cell, now)
        if (to != null) {
          taken(arc.label) = true
          if (arc.goesOn) cells(arc.label) += to
          if (arc.accepts) ends(arc.label) += to
        }
        k += 1
      }
      i += 1
    }
  }

  def set(label: Int): Array[Cell] = Cell.set(cells(label).toArray)

  def union(chosen: Int => Boolean): Array[Cell] = united(cells, chosen)
  def ended(chosen: Int => Boolean): Array[Cell] = united(ends, chosen)

  private def united(byLabel: Array[ArrayBuffer[Cell]], chosen: Int => Boolean): Array[Cell] =
    Cell.set((0 until labels).iterator.filter(l => taken(l) && chosen(l)).flatMap(byLabel(_)).toArray)
}

/** Sets of cells as arrays, see [[Cell.set]].
  *
  * @param simulates
  *   whether a state simulates another one, where both have the same registers
  * @param endsLike
  *   whether matches of both cells are taken away by the same events
  */
final private[compare] class CellSets(simulates: (Int, Int) => Boolean, endsLike: (Cell, Cell) => Boolean)
    extends Sets[Array[Cell]] {
  def union(a: Array[Cell], b: Array[Cell]): Array[Cell] = Cell.set(a ++ b)

  def without(a: Array[Cell], b: Array[Cell]): Array[Cell] =
    if (b.length == 0) a else a.filterNot(c => b.exists(d => simulates(d.state, c.state) && d.hasRegistersOf(c)))

  def unbeaten(ends: Array[Cell], better: Array[Cell]): Array[Cell] =
    if (better.length == 0) ends else ends.filterNot(c => better.exists(endsLike(_, c)))
}
