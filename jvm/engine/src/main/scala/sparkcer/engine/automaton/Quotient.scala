package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq

/** Merges equivalent states: both final in the same way or both not, with the same transitions.
  *
  * The [[Compiler]] leaves such states: after `A` in `A ; B` a run is in a state that reads B or begins to wait for B,
  * and the state that waits does the same. Two states in place of one cost one more step for each event that moves
  * something, and a second entry for the same matches.
  *
  * Merged states have the same future on every event, so matches, labels and strategies stay the same. State 0 is not
  * merged, because no transition may enter it. Merging makes further states equivalent; after some rounds the rest is
  * left as it is, which only costs speed.
  */
private[automaton] object Quotient {
  private val MaxRounds = 20

  def apply(cea: Cea): Cea = {
    var before = cea
    var after = once(before)
    var round = 1
    while ((after ne before) && round < MaxRounds) {
      before = after
      after = once(before)
      round += 1
    }
    after
  }

  private def once(cea: Cea): Cea = {
    val futures = ArraySeq.tabulate(cea.states) { q =>
      (q == 0, cea.finals(q), cea.endingOf.get(q), cea.outgoing(q).iterator.map(_.copy(from = 0)).toSet)
    }
    val numbers = futures.distinct.zipWithIndex.toMap
    if (numbers.size == cea.states) cea
    else {
      val to = futures.map(numbers)
      new Cea(
        numbers.size,
        cea.conditions,
        cea.labels,
        cea.transitions.map(t => t.copy(from = to(t.from), to = to(t.to))).distinct,
        cea.finals.map(to),
        cea.comparisons,
        cea.endings,
        cea.endingOf.map { case (q, e) => to(q) -> e },
        cea.absentBefore
      )
    }
  }
}
