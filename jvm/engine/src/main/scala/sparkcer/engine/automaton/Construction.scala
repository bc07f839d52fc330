package sparkcer.engine.automaton

import sparkcer.engine.automaton.StrategyRules.{Found, Sets, Successors}
import sparkcer.engine.ceql.Strategy

/** What follows from a determinized state on an event: for each label at most one state, or none, and whether a match
  * ends.
  */
final case class Move(label: Int, target: Option[Array[Long]], accepts: Boolean)

/** The subset construction over a CEA that compares no events, see [[StrategyRules]]. A determinized state is an array
  * of words, which is saved as it is: a set of CEA states as bits; under STRICT a word with the flag after it; under
  * NEXT, LAST and MAX three sets, one after the other.
  *
  * It keeps nothing: [[Determinized]] remembers the moves that were asked for.
  */
final class Construction(val cea: Cea, strategy: Strategy) {
  private[engine] val rules = StrategyRules(cea, strategy)
  private val words = cea.words

  /** Only strategies with threats take runs away from each other. */
  private lazy val sets = new BitSets(if (rules.threatened) new Simulation(cea, _ => Nil).asBits else null)

  def initial: Array[Long] = {
    val start = new Array[Long](words)
    Bits.set(start, 0)
    if (rules.threatened) start ++ start ++ new Array[Long](words) else flagged(start, 0)
  }

  private def flagged(set: Array[Long], flag: Int): Array[Long] = if (rules.flagged) set :+ flag.toLong else set

  /** @param passes whether the event meets the condition */
  def moves(state: Array[Long], passes: Int => Boolean): Vector[Move] = {
    val all = Vector.newBuilder[Move]
    def add(label: Int, accepts: Boolean, runs: Array[Long], target: => Array[Long]): Unit =
      if (Bits.nonEmpty(runs)) all += Move(label, Some(target), accepts)
      else if (accepts) all += Move(label, None, accepts)
    val found = new Found[Array[Long]] {
      def next(label: Int, accepts: Boolean, runs: Array[Long], flag: Int): Unit =
        add(label, accepts, runs, flagged(runs, flag))
      def threatened(label: Int, ends: Array[Long], p: Array[Long], e: Array[Long], b: Array[Long]): Unit =
        add(label, Bits.nonEmpty(ends), p, p ++ e ++ b)
    }
    def successors(set: Int) =
      if (set == 0 || rules.threatened) new BitSuccessors(cea, sets, state, set * words, passes) else null
    val flag = if (rules.flagged) state(words).toInt else 0
    rules.step(successors(0), successors(1), successors(2), flag, found)
    all.result()
  }
}

/** The successors of the set of states that stands at `offset` in a determinized state. */
final private[automaton] class BitSuccessors(
    cea: Cea,
    val sets: Sets[Array[Long]],
    state: Array[Long],
    offset: Int,
    passes: Int => Boolean
) extends Successors[Array[Long]] {
  private val targets = new Array[Array[Long]](cea.labels.length)
  private val finals = new Array[Array[Long]](cea.labels.length)

  Bits.foreach(state, offset, cea.words) { q =>
    cea.outgoing(q).foreach { t =>
      if (t.passes(passes)) {
        if (!takes(t.label)) {
          targets(t.label) = new Array[Long](cea.words)
          finals(t.label) = new Array[Long](cea.words)
        }
        if (cea.outgoing(t.to).nonEmpty) Bits.set(targets(t.label), t.to)
        if (cea.finals(t.to)) Bits.set(finals(t.label), t.to)
      }
    }
  }

  def labels: Int = targets.length
  def takes(label: Int): Boolean = targets(label) != null
  def set(label: Int): Array[Long] = targets(label)
  def accepts(label: Int): Boolean = takes(label) && Bits.nonEmpty(finals(label))

  def union(chosen: Int => Boolean): Array[Long] = united(targets, chosen)
  def ended(chosen: Int => Boolean): Array[Long] = united(finals, chosen)

  private def united(byLabel: Array[Array[Long]], chosen: Int => Boolean): Array[Long] =
    (0 until labels).iterator
      .filter(l => chosen(l) && takes(l))
      .map(byLabel(_))
      .foldLeft(new Array[Long](cea.words))(sets.union)
}

/** Sets of states as bits.
  *
  * @param simulated
  *   for each state those that it simulates
  */
final private[automaton] class BitSets(simulated: Array[Array[Long]]) extends Sets[Array[Long]] {
  def union(a: Array[Long], b: Array[Long]): Array[Long] = Array.tabulate(a.length)(i => a(i) | b(i))

  def without(a: Array[Long], b: Array[Long]): Array[Long] = {
    val left = a.clone()
    Bits.foreach(b, 0, b.length)(q => left.indices.foreach(i => left(i) &= ~simulated(q)(i)))
    left
  }

  /** All runs end in the same way, or `compare.Machine` would run the query. */
  def unbeaten(ends: Array[Long], better: Array[Long]): Array[Long] =
    if (Bits.nonEmpty(better)) new Array[Long](ends.length) else ends
}

/** Sets of small numbers as bits in words. */
private[engine] object Bits {
  def set(s: Array[Long], i: Int): Unit = s(i >> 6) |= 1L << i
  def nonEmpty(s: Array[Long]): Boolean = s.exists(_ != 0)

  def foreach(s: Array[Long], offset: Int, words: Int)(f: Int => Unit): Unit = {
    var i = 0
    while (i < words) {
      var w = s(offset + i)
      while (w != 0) {
        f((i << 6) + java.lang.Long.numberOfTrailingZeros(w))
        w &= w - 1
      }
      i += 1
    }
  }
}
