package sparkcer.engine.compare

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.state.Bytes

/** What configurations have in common if their registers differ in values only: the states of their cells, and the kind
  * of each content. For each class of events it decides once, for all configurations of the shape, which of them an
  * event can change, and how to find these.
  *
  * @param repeats
  *   whether several cells of a configuration are of one kind
  */
final private[engine] class Shape(flag: Int, val cells: ArraySeq[Shape.Kind], repeats: Boolean, machine: Machine) {
  import Shape._

  /** Has a configuration one cell? */
  val single: Boolean = cells.length == 1 && !repeats

  private var verdicts = new Array[Verdict](16)

  /** The keys by which configurations of this shape are looked up. A verdict refers to them by number. */
  val keys = ArrayBuffer.empty[Key]

  /** The orders in which configurations of this shape are searched. A verdict refers to them by number. */
  val ranks = ArrayBuffer.empty[Rank]

  def verdict(cls: Int, maskOf: Int => Array[Long]): Verdict = {
    if (cls >= verdicts.length) verdicts = java.util.Arrays.copyOf(verdicts, math.max(cls + 1, 2 * verdicts.length))
    if (verdicts(cls) == null) verdicts(cls) = decide(cls, maskOf)
    verdicts(cls)
  }

  def forgetClasses(): Unit = verdicts = new Array[Verdict](16)

  /** An event leaves a configuration as it is if each of its cells can wait and none can do anything else. What else a
    * cell can do either needs certain values in its registers, or is possible with all values.
    */
  private def decide(cls: Int, maskOf: Int => Array[Long]): Verdict =
    if (machine.changesAlways(flag)) Scan
    else {
      val probes = mutable.LinkedHashSet.empty[(Int, ArraySeq[Int], ArraySeq[Int])]
      val always = cells.indices.exists { i =>
        val arcs = machine.arcs(cells(i).state, cls, maskOf)
        val (waiting, moving) = arcs.partition(_.stays)
        val kinds = cells(i).kinds.toArray
        // A run that waits is only changed by an event that it must not pass over.
        waiting.isEmpty || (moving.iterator.map(_.needs(kinds)) ++ waiting.iterator.flatMap(_.fatal(kinds))).exists {
          case None                         => false
          case Some(needs) if needs.isEmpty => true
          case Some(needs)                  =>
            probes += ((i, needs.map(_._1).to(ArraySeq), needs.map(_._2).to(ArraySeq)))
            false
        }
      }
      def probed =
        new Probes(probes.iterator.map { case (cell, places, terms) =>
          val key = new Key(cell, places)
          if (!keys.contains(key)) keys += key
          new Probe(keys.indexOf(key), terms.toArray)
        }.toArray)
      if (!always && probes.isEmpty) Skip
      else ranges(cls, maskOf).getOrElse(if (always) Scan else probed)
    }

  /** The ranges of configurations that each arc moves, if all that moves can be moved in that way. */
  private def ranges(cls: Int, maskOf: Int => Array[Long]): Option[Verdict] = {
    val (waiting, moving) = machine.arcs(cells(0).state, cls, maskOf).partition(_.waits)
    val ranged = moving.map(arc => arc.range.map { case (equal, place, bound) => (arc, equal, place, bound) })
    val plain = single && cells(0).kinds.forall(_ == Content.Value)
    val apart = moving.combinations(2).forall(pair => machine.independent(pair(0), pair(1)))
    val may = machine.together(flag) && plain && apart && waiting.nonEmpty
    if (!may || ranged.contains(None)) None
    else
      Some(new Ranges(ranged.flatten.map { case (arc, equal, place, bound) =>
        val rank = Rank(equal.map(_._1).to(ArraySeq), place, bound.order)
        if (!ranks.contains(rank)) ranks += rank
        new Range(arc, ranks.indexOf(rank), equal.map(_._2).toArray, bound)
      }))
  }
}

private[engine] object Shape {

  /** The state of a cell, and the kinds of its contents. */
  final case class Kind(state: Int, kinds: ArraySeq[Int]) {
    def is(c: Cell): Boolean =
      c.state == state && kinds.indices.forall(i => Content.kind(c.registers(i)) == kinds(i))
  }

  /** A key by which configurations are looked up: the contents of some places in a cell. */
  final case class Key(cell: Int, places: ArraySeq[Int]) {
    private val only = if (places.length == 1) places(0) else -1
    def of(c: Cell): AnyRef = if (only >= 0) c.registers(only) else contents(c, places)
  }

  /** An order of configurations: those with the same contents in some places, by the value in another place. */
  final case class Rank(equal: ArraySeq[Int], place: Int, order: Int) {
    def key(c: Cell): AnyRef = contents(c, equal)
    def value(c: Cell): Bytes = c.registers(place).asInstanceOf[Bytes]
  }

  private def contents(c: Cell, places: ArraySeq[Int]): AnyRef =
    if (places.length == 1) c.registers(places(0)) else new Tuple(places.map(c.registers(_)).toArray)

  final class Tuple(val contents: Array[AnyRef]) {
    override val hashCode: Int = java.util.Arrays.hashCode(contents)
    override def equals(other: Any): Boolean = other match {
      case t: Tuple => java.util.Arrays.equals(contents, t.contents)
      case _        => false
    }
  }

  /** Which configurations of a shape an event may change: none, all, or those that are found by a key. */
  sealed trait Verdict
  case object Skip extends Verdict
  case object Scan extends Verdict
  final class Probes(val probes: Array[Probe]) extends Verdict

  /** For each arc, those on one side of a value, which are moved together. */
  final class Ranges(val ranges: Array[Range]) extends Verdict

  final class Range(val arc: Arc, val rank: Int, terms: Array[Int], val bound: Bound) {
    def key(now: Now): AnyRef = values(terms, now)
  }

  /** Looks up the values of some terms of the event by a key. */
  final class Probe(val key: Int, terms: Array[Int]) {
    def of(now: Now): AnyRef = values(terms, now)
  }

  /** The values of terms, or null if one of them is NULL, which equals nothing. */
  private def values(terms: Array[Int], now: Now): AnyRef =
    if (terms.length == 1) now.value(terms(0))
    else {
      val values = new Array[AnyRef](terms.length)
      var i = 0
      while (i < terms.length) {
        values(i) = now.value(terms(i))
        if (values(i) == null) return null
        i += 1
      }
      new Tuple(values)
    }
}

/** All shapes that were met. */
final private[engine] class Shapes(machine: Machine) {
  private val known = mutable.HashMap.empty[(Int, ArraySeq[Shape.Kind], Boolean), Shape]

  /** For each state the shape of one cell with values in all registers, which is the usual one. */
  private val simple = new Array[Shape](machine.cea.states)

  def of(c: Configuration): Shape =
    if (
      c.flag == 0 && c.parts.length == 1 && c
        .parts(0)
        .length == 1 && c.parts(0)(0).registers.forall(_.isInstanceOf[Bytes])
    ) {
      val state = c.parts(0)(0).state
      if (simple(state) == null) simple(state) = find(c)
      simple(state)
    } else find(c)

  private def find(c: Configuration): Shape = {
    val kinds = c.parts.iterator.flatten
      .map(cell => Shape.Kind(cell.state, cell.registers.iterator.map(Content.kind).to(ArraySeq)))
      .distinct
      .to(ArraySeq)
      .sortBy(k => (k.state, k.kinds.mkString))
    val repeats = c.parts.iterator.map(_.length).sum > kinds.length
    known.getOrElseUpdate((c.flag, kinds, repeats), new Shape(c.flag, kinds, repeats, machine))
  }

  def forgetClasses(): Unit = known.values.foreach(_.forgetClasses())
}
