package sparkcer.engine.automaton

import scala.collection.mutable

import sparkcer.engine.ceql.Strategy

/** What follows from a determinized state on an event: for each label at most one state, or none, and whether a match
  * ends.
  */
final case class Move(label: Int, target: Option[Array[Long]], accepts: Boolean)

/** A subset construction over a CEA. Its states are sets of CEA states as bits, several sets one after the other where
  * a strategy needs them, so that they can be stored as they are.
  *
  * It is deterministic on labels: a start and a sequence of (event, label) lead to one state. So different matches are
  * different paths, and none is found twice.
  */
sealed abstract class Construction(val cea: Cea) {
  protected val words: Int = cea.words

  def initial: Array[Long]

  /** @param passes whether the event passes the condition */
  def moves(state: Array[Long], passes: Int => Boolean): Vector[Move]

  /** One set's successors by label; `accepting` are the labels on which a match ends. */
  final protected class Successors(state: Array[Long], offset: Int, passes: Int => Boolean) {
    val targets = mutable.TreeMap.empty[Int, Array[Long]]
    val accepting = mutable.Set.empty[Int]
    Bits.foreach(state, offset, words) { q =>
      cea.outgoing(q).foreach { t =>
        if (t.passes(passes)) {
          val set = targets.getOrElseUpdate(t.label, new Array[Long](words))
          if (cea.outgoing(t.to).nonEmpty) Bits.set(set, t.to)
          if (cea.finals(t.to)) accepting += t.label
        }
      }
    }

    /** The union over the labels chosen, and whether one of them accepts. */
    def union(chosen: Int => Boolean): (Array[Long], Boolean) = {
      val all = new Array[Long](words)
      targets.foreach { case (label, set) => if (chosen(label)) Bits.or(all, set) }
      (all, accepting.exists(chosen))
    }
  }

  final protected def move(label: Int, target: Array[Long], alive: Boolean, accepts: Boolean): Option[Move] =
    if (alive || accepts) Some(Move(label, if (alive) Some(target) else None, accepts)) else None
}

object Construction {
  def apply(cea: Cea, strategy: Strategy): Construction = strategy match {
    case Strategy.All    => new Subsets(cea)
    case Strategy.Strict => new Strict(cea)
    // All matches of one length: none is a proper superset of another.
    case Strategy.Max if cea.fixedLength => new Subsets(cea)
    case better                          => new Threats(cea, better)
  }
}

/** Every match (strategy ALL). */
final class Subsets(cea: Cea) extends Construction(cea) {
  def initial: Array[Long] = { val s = new Array[Long](words); Bits.set(s, 0); s }

  def moves(state: Array[Long], passes: Int => Boolean): Vector[Move] = {
    val next = new Successors(state, 0, passes)
    next.targets.iterator.flatMap { case (label, set) =>
      move(label, set, Bits.nonEmpty(set), next.accepting(label))
    }.toVector
  }
}

/** Matches whose marked events have no gap (STRICT): after the set stands whether nothing is marked yet, the last event
  * was marked, or a gap has begun, after which nothing may be marked any more.
  */
final class Strict(cea: Cea) extends Construction(cea) {
  private val Nothing = 0L
  private val Adjacent = 1L
  private val Gap = 2L

  def initial: Array[Long] = { val s = new Array[Long](words + 1); Bits.set(s, 0); s }

  def moves(state: Array[Long], passes: Int => Boolean): Vector[Move] = {
    val flag = state(words)
    val next = new Successors(state, 0, passes)
    next.targets.iterator.flatMap { case (label, set) =>
      if (label != 0 && flag == Gap) None
      else {
        val target = java.util.Arrays.copyOf(set, words + 1)
        target(words) = if (label != 0) Adjacent else if (flag == Nothing) Nothing else Gap
        move(label, target, Bits.nonEmpty(set), next.accepting(label))
      }
    }.toVector
  }
}

/** NEXT, LAST and MAX: of the matches with one start, those whose set of marked events no other beats. The matches of
  * different starts are compared when an event closes them, because the window decides which starts count.
  *
  * Beside P, the states reached with exactly these labels, a state holds the threats: B, reached by runs of the same
  * start whose marked events beat these so far, and E, reached with equal marked events (for LAST: all reached, R,
  * because there any run may still turn better). A match is kept when P accepts and B does not. What is in B is taken
  * out of P and E: whatever it goes on to, B goes on to as well.
  */
final class Threats(cea: Cea, strategy: Strategy) extends Construction(cea) {
  private val last = strategy == Strategy.Last
  private val max = strategy == Strategy.Max

  def initial: Array[Long] = {
    val s = new Array[Long](3 * words)
    Bits.set(s, 0)
    Bits.set(s, 64 * words)
    s
  }

  private val marked: Int => Boolean = _ != 0
  private val unmarked: Int => Boolean = _ == 0
  private val any: Int => Boolean = _ => true

  def moves(state: Array[Long], passes: Int => Boolean): Vector[Move] = {
    val p = new Successors(state, 0, passes)
    val e = new Successors(state, words, passes)
    val b = new Successors(state, 2 * words, passes)
    // What the threats become on a marked and on an unmarked event.
    val equal = Map(
      true -> e.union(if (last) any else marked)._1,
      false -> e.union(if (last) any else unmarked)._1
    )
    val better = Map(true -> b.union(if (last || max) marked else any), false -> b.union(if (last) unmarked else any))
    val overtaking = e.union(marked)
    p.targets.iterator.flatMap { case (label, set) =>
      val isMarked = label != 0
      val (threat, threatAccepts) = better(isMarked)
      val beats = threat.clone()
      var beatsAccept = threatAccepts
      if (!isMarked) {
        Bits.or(beats, overtaking._1)
        beatsAccept |= overtaking._2
      }
      Bits.andNot(set, beats)
      val equals = equal(isMarked).clone()
      if (!last) Bits.andNot(equals, beats)
      val target = set ++ equals ++ beats
      move(label, target, Bits.nonEmpty(set), p.accepting(label) && !beatsAccept)
    }.toVector
  }
}

/** Sets of small numbers in words. */
private[engine] object Bits {
  def set(s: Array[Long], i: Int): Unit = s(i >> 6) |= 1L << i
  def or(into: Array[Long], s: Array[Long]): Unit = { var i = 0; while (i < s.length) { into(i) |= s(i); i += 1 } }
  def andNot(from: Array[Long], s: Array[Long]): Unit = { var i = 0; while (i < s.length) { from(i) &= ~s(i); i += 1 } }
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
