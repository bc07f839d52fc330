package sparkcer.engine.compare

import sparkcer.engine.automaton.{Cea, ComparisonUse, Registers}

/** A transition of the automaton that moves cells.
  *
  * @param from
  *   the live registers of the state that it leaves; `to` are those of the state that it enters
  * @param kills
  *   the comparisons that events of the class must not fulfil, see [[under]]
  */
final private[engine] class Arc(
    val transition: Cea.Transition,
    val accepts: Boolean,
    val goesOn: Boolean,
    comparers: Array[Comparer],
    from: Array[Int],
    to: Array[Int],
    resets: Array[Int],
    registers: Registers,
    kills: Array[Array[ComparisonUse]] = Array.empty
) {
  private val uses = transition.uses.toArray
  private val scratch = new Array[AnyRef](registers.count)

  val label: Int = transition.label

  /** Does the run stay as it is, if it can take the arc, and no match ends? */
  val stays: Boolean =
    label == 0 && transition.to == transition.from && uses.isEmpty && resets.isEmpty && !accepts

  /** Does it only wait: the run stays as it is, whatever the values of the event are? */
  val waits: Boolean = stays && kills.isEmpty

  /** Do all registers stay as they are? */
  private val copies = uses.isEmpty && resets.isEmpty && transition.to == transition.from

  /** The arc for events that meet these conditions: what it forbids is that which such an event may be. */
  def under(conditions: Int => Boolean): Arc = {
    val possible = transition.unless.iterator.filter(u => conditions(u.condition)).map(_.uses.toArray).toArray
    if (possible.isEmpty) this
    else new Arc(transition, accepts, goesOn, comparers, from, to, resets, registers, possible)
  }

  /** Is the event one that the arc forbids to the run? */
  private def killed(cell: Cell, now: Now): Boolean = {
    var k = 0
    while (k < kills.length) {
      // What the comparisons write is not kept.
      load(cell)
      val asked = kills(k)
      var i = 0
      while (i < asked.length && comparers(asked(i).comparison).holds(scratch, asked(i).roles, now)) i += 1
      if (i == asked.length) return true
      k += 1
    }
    false
  }

  /** What the run remembers, after what it forgets. */
  private def load(cell: Cell): Unit = {
    java.util.Arrays.fill(scratch, null)
    var i = 0
    while (i < from.length) { scratch(from(i)) = cell.registers(i); i += 1 }
    i = 0
    while (i < resets.length) { scratch(resets(i)) = null; i += 1 }
  }

  /** Where the run of a cell goes with the current event, or null if a comparison does not let it. */
  def follow(cell: Cell, now: Now): Cell =
    if (kills.length > 0 && killed(cell, now)) null
    else if (copies) cell
    else {
      load(cell)
      var i = 0
      while (i < uses.length) {
        val c = uses(i)
        if (comparers(c.comparison).holds(scratch, c.roles, now) != c.holds) return null
        i += 1
      }
      val kept = new Array[AnyRef](to.length)
      i = 0
      while (i < to.length) { kept(i) = scratch(to(i)); i += 1 }
      new Cell(transition.to, kept)
    }

  /** The registers that must hold the values of certain terms of the event for a cell to take the arc, given the kinds
    * of contents of the cell: pairs of the place in the cell and the term. None if no value lets the cell take the arc.
    */
  def needs(kinds: Array[Int]): Option[Seq[(Int, Int)]] = needs(uses.toSeq.filter(_.holds), kinds)

  /** The same for each way in which the event can be one that the arc forbids. */
  def fatal(kinds: Array[Int]): Seq[Option[Seq[(Int, Int)]]] = kills.toSeq.map(uses => needs(uses.toSeq, kinds))

  private def needs(all: Seq[ComparisonUse], kinds: Array[Int]): Option[Seq[(Int, Int)]] = {
    val asked = all.flatMap { c =>
      comparers(c.comparison).equalities(c.roles).filterNot { case (r, _) => resets.contains(r) }
    }
    val places = asked.map { case (r, term) => (from.indexOf(r), term) }.filter(_._1 >= 0)
    if (places.exists { case (at, _) => kinds(at) == Content.Spoiled }) None
    else Some(places.filter { case (at, _) => kinds(at) == Content.Value }.distinct)
  }

  /** Does it compare the event with earlier ones? */
  def reads(comparison: Int): Boolean =
    uses.exists(c =>
      c.comparison == comparison && registers.reads(c).exists(r => from.contains(r) && !resets.contains(r))
    )

  /** Describes the cells that can take the arc as a range, if they differ in one value only, that value must be on one
    * side of a value of the event, and the arc leads all of them to the same cell: the pairs of place and term that
    * must be equal, the place of that value, and its bound. It assumes that all registers hold values.
    */
  def range: Option[(Seq[(Int, Int)], Int, Bound)] = {
    val kept = uses.toSeq.map(c => (c, registers.reads(c).filter(r => from.contains(r) && !resets.contains(r))))
    val reading = kept.filter(_._2.nonEmpty)
    val equal = reading.flatMap { case (c, _) =>
      comparers(c.comparison).equalities(c.roles).filter(x => from.contains(x._1))
    }
    val bounded = reading.flatMap { case (c, read) =>
      comparers(c.comparison).bound(c.roles).filter(b => read == Seq(b.register)).map(b => (c, b))
    }
    bounded match {
      case Seq((c, b))
          if label != 0 && reading.forall(_._1.holds) && resets.forall(!from.contains(_)) &&
            reading.flatMap(_._2).toSet == equal.map(_._1).toSet + b.register &&
            from.toSet == equal.map(_._1).toSet + b.register &&
            (!to.contains(b.register) || comparers(c.comparison).isInstanceOf[Consecutive]) =>
        Some((equal.map { case (r, term) => (from.indexOf(r), term) }.distinct, from.indexOf(b.register), b))
      case _ => None
    }
  }
}
