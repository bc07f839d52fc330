package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq

/** Merges states that cannot be told apart: both final or both not, with the same transitions.
  *
  * The construction leaves such twins behind: after `A` in `A ; B` a run is in a state that either reads B or goes to
  * wait for B, and the state that waits does the same. Apart, the two cost one more step for every event that moves
  * something, and a second entry for the same matches.
  *
  * What is merged has the same future on every event, so matches, labels and strategies are the same. State 0 stays
  * alone: it is never entered. Merging makes further twins, backwards; past some rounds the rest is left, which only
  * costs speed.
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
      (q == 0, cea.finals(q), cea.outgoing(q).iterator.map(_.copy(from = 0)).toSet)
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
        cea.comparisons
      )
    }
  }
}
