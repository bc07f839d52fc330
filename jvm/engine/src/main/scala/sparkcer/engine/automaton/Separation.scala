package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq

/** Splits states that wait for different next events with different registers: after `x` in `x ; (y OR z)` with
  * `x.a = y.a AND x.b = z.b`, one copy waits for y and keeps `x.a`, the other waits for z and keeps `x.b`. A run goes
  * to both, and each copy can be looked up by its own value. A match goes through one copy only, which its next label
  * decides, so no match is found twice.
  */
private[automaton] object Separation {

  def apply(cea: Cea): Cea = {
    val registers = Registers(cea)
    val copies = ArraySeq.tabulate(cea.states)(q => if (q == 0) Vector(cea.outgoing(0)) else apart(cea, registers, q))
    if (copies.forall(_.length == 1)) cea
    else {
      // The first copy keeps the number of the state.
      val numbers = copies.scanLeft(cea.states)((n, c) => n + c.length - 1)
      def copiesOf(q: Int): Seq[Int] = q +: (numbers(q) until numbers(q + 1))
      val transitions = for {
        q <- 0 until cea.states
        (from, own) <- copiesOf(q).zip(copies(q))
        t <- own
        to <- if (waits(t)) Seq(from) else copiesOf(t.to)
      } yield t.copy(from = from, to = to)
      new Cea(
        numbers.last,
        cea.conditions,
        cea.labels,
        transitions.to(ArraySeq),
        cea.finals.flatMap(copiesOf),
        cea.comparisons,
        cea.endings,
        cea.endingOf.flatMap { case (q, e) => copiesOf(q).map(_ -> e) },
        cea.absentBefore
      )
    }
  }

  private def waits(t: Cea.Transition): Boolean =
    t.label == 0 && t.from == t.to && t.uses.isEmpty && t.resets.isEmpty

  /** The transitions of each copy. */
  private def apart(cea: Cea, registers: Registers, q: Int): Vector[ArraySeq[Cea.Transition]] = {
    val (waiting, moving) = cea.outgoing(q).partition(waits)
    def needed(ts: ArraySeq[Cea.Transition]): Set[Int] =
      ts.flatMap(t => t.uses.flatMap(registers.reads) ++ registers.live(t.to).filter(!registers.fails(t, _)))
        .filter(r => registers.live(q).contains(r))
        .toSet
    val groups = moving.groupBy(_.label).values.groupBy(needed).values.map(_.flatten.to(ArraySeq)).toVector
    if (waiting.isEmpty || moving.exists(_.label == 0) || groups.length < 2) Vector(cea.outgoing(q))
    else groups.sortBy(g => g.map(_.label).min).map(waiting ++ _)
  }
}
