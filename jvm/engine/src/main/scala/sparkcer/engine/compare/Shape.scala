package sparkcer.engine.compare

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.state.Bytes

/** What configurations have in common whose registers differ in their values only: the states of their cells, and of
  * which kind each content is. For each class of events it is known once for the whole shape which of its
  * configurations an event can move at all.
  *
  * @param repeats
  *   whether several cells of a configuration are of one kind
  */
final private[engine] class Shape(flag: Int, val cells: ArraySeq[Shape.Kind], repeats: Boolean, machine: Machine) {
  import Shape._

  private var verdicts = new Array[Verdict](16)

  /** How configurations of this shape can be looked up, in order of discovery. */
  val keys = ArrayBuffer.empty[Key]

  /** How they can be found in order. */
  val ranks = ArrayBuffer.empty[Rank]

  def verdict(cls: Int, maskOf: Int => Array[Long]): Verdict = {
    if (cls >= verdicts.length) verdicts = java.util.Arrays.copyOf(verdicts, math.max(cls + 1, 2 * verdicts.length))
    if (verdicts(cls) == null) verdicts(cls) = decide(cls, maskOf)
    verdicts(cls)
  }

  def forgetClasses(): Unit = verdicts = new Array[Verdict](16)

  /** An event leaves a configuration as it is when each of its cells can wait and none can do anything else. What else
    * it may do needs certain values in certain registers, or it may do it whatever they are.
    */
  private def decide(cls: Int, maskOf: Int => Array[Long]): Verdict =
    if (machine.changesAlways(flag)) Scan
    else {
      val probes = mutable.LinkedHashSet.empty[(Int, ArraySeq[Int], ArraySeq[Int])]
      val always = cells.indices.exists { i =>
        val arcs = machine.arcs(cells(i).state, cls, maskOf)
        val (waiting, moving) = arcs.partition(_.waits)
        waiting.isEmpty || moving.exists { arc =>
          arc.needs(cells(i).kinds.toArray) match {
            case None                         => false
            case Some(needs) if needs.isEmpty => true
            case Some(needs)                  =>
              probes += ((i, needs.map(_._1).to(ArraySeq), needs.map(_._2).to(ArraySeq)))
              false
          }
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

  /** All that moves can be moved together, if it can. */
  private def ranges(cls: Int, maskOf: Int => Array[Long]): Option[Verdict] = {
    val (waiting, moving) = machine.arcs(cells(0).state, cls, maskOf).partition(_.waits)
    val ranged = moving.map(arc => arc.range.map { case (equal, place, bound) => (arc, equal, place, bound) })
    val single = cells.length == 1 && !repeats && cells(0).kinds.forall(_ == Content.Value)
    val apart = moving.combinations(2).forall(pair => machine.independent(pair(0), pair(1)))
    val may = machine.together(flag) && single && apart && waiting.nonEmpty
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

  /** A state, and the kinds of its contents. */
  final case class Kind(state: Int, kinds: ArraySeq[Int]) {
    def is(c: Cell): Boolean =
      c.state == state && kinds.indices.forall(i => Content.kind(c.registers(i)) == kinds(i))
  }

  /** The contents of some places in a cell, as what a configuration is looked up by. */
  final case class Key(cell: Int, places: ArraySeq[Int]) {
    def of(c: Cell): AnyRef = contents(c, places)
  }

  /** Those with one content in some places, in the order of the value in another. */
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

  /** Which configurations of a shape an event may move. */
  sealed trait Verdict
  case object Skip extends Verdict
  case object Scan extends Verdict
  final class Probes(val probes: Array[Probe]) extends Verdict

  /** All of them by an arc, those on one side of a value. */
  final class Ranges(val ranges: Array[Range]) extends Verdict

  final class Range(val arc: Arc, val rank: Int, terms: Array[Int], val bound: Bound) {
    def key(now: Now): AnyRef = values(terms, now)
  }

  /** Those found under the values of some terms of the event. */
  final class Probe(val key: Int, terms: Array[Int]) {
    def of(now: Now): AnyRef = values(terms, now)
  }

  /** null if one of them is NULL, which is equal to nothing. */
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

/** The shapes met so far. */
final private[engine] class Shapes(machine: Machine) {
  private val known = mutable.HashMap.empty[(Int, ArraySeq[Shape.Kind], Boolean), Shape]

  /** By state, the shape of one cell with values in all registers. */
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
