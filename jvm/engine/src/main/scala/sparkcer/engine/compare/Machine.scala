package sparkcer.engine.compare

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.{Cea, Registers}
import sparkcer.engine.ceql.Strategy

/** The automaton with its registers, run on configurations: the subset construction of `Construction`, with cells in
  * place of states. It depends on the values of the event, so it is done for each event anew; what depends on the class
  * of an event alone is remembered.
  *
  * @param inOrder
  *   whether matches must come in an order that does not depend on how they were found
  */
final private[engine] class Machine(
    val cea: Cea,
    strategy: Strategy,
    distinct: Boolean,
    inOrder: Boolean,
    numbering: Numbering
) {
  import Machine._

  private val registers = Registers(cea)
  private val comparers = cea.comparisons.indices.map(i => Comparer(cea.comparisons(i), registers.first(i), numbering)).toArray
  private val outgoing: Array[Array[Arc]] = Array.tabulate(cea.states)(q =>
    cea
      .outgoing(q)
      .map { t =>
        val resets = (0 until registers.count).filter(r => t.resets(registers.comparisonOf(r))).toArray
        val (from, to) = (registers.live(t.from), registers.live(t.to))
        new Arc(t, cea.finals(t.to), cea.outgoing(t.to).nonEmpty, comparers, from, to, resets, registers)
      }
      .toArray
  )

  private val all = strategy == Strategy.All || strategy == Strategy.Max && cea.fixedLength
  private val strict = strategy == Strategy.Strict
  private val last = strategy == Strategy.Last
  private val max = strategy == Strategy.Max

  /** Under DISTINCT, what starts without a mark is compared by its start alone, see [[Bare]]. */
  private val bares = distinct && all

  val initial: Configuration = {
    val cell = Array(new Cell(0, new Array[AnyRef](registers.live(0).length)))
    if (all || strict) new Configuration(Array(cell), if (bares) Bare else 0)
    else new Configuration(Array(cell, cell, Cell.none), 0)
  }

  /** May runs be moved together, many entries at once? Not where they are compared, nor where their order counts. */
  def together(flag: Int): Boolean = all && flag == 0 && !inOrder

  /** Does any event change a configuration with this flag? */
  def notices(flag: Int): Boolean = strict && flag == Adjacent

  // By class of event.

  private var enabled = new Array[Array[Array[Arc]]](16)

  /** The arcs of a state that events of a class may take, as far as their conditions go. */
  def arcs(state: Int, cls: Int, maskOf: Int => Array[Long]): Array[Arc] = {
    if (cls >= enabled.length) enabled = java.util.Arrays.copyOf(enabled, math.max(cls + 1, 2 * enabled.length))
    if (enabled(cls) == null) enabled(cls) = new Array[Array[Arc]](cea.states)
    if (enabled(cls)(state) == null) {
      val mask = maskOf(cls)
      enabled(cls)(state) = outgoing(state).filter(_.transition.passes(g => (mask(g >> 6) >>> g & 1L) != 0))
    }
    enabled(cls)(state)
  }

  // 1 for yes, -1 for no, 0 where not yet asked.
  private var idleClasses = new Array[Byte](16)

  /** Do events of the class leave every configuration as it is, and start nothing? */
  def idle(cls: Int, maskOf: Int => Array[Long]): Boolean = {
    if (cls >= idleClasses.length) idleClasses = java.util.Arrays.copyOf(idleClasses, math.max(cls + 1, 2 * cls))
    if (idleClasses(cls) == 0) {
      val still = !strict && (0 until cea.states).forall { q =>
        val choice = arcs(q, cls, maskOf)
        if (q == 0 || outgoing(q).isEmpty) choice.isEmpty else choice.nonEmpty && choice.forall(_.waits)
      }
      idleClasses(cls) = if (still) 1 else -1
    }
    idleClasses(cls) > 0
  }

  /** How events are joined by a comparison, for people: the worst of what its uses need. */
  def access(comparison: Int): Access = {
    val checking = for {
      q <- 1 until cea.states
      arc <- outgoing(q) if arc.transition.uses.exists(_.comparison == comparison)
    } yield {
      val values = Array.fill(registers.live(q).length)(Content.Value)
      val kept = registers.live(arc.transition.to).exists(registers.comparisonOf(_) == comparison)
      val hidden = kept && arc.label == 0 && !(bares && onlyBare(q))
      if (hidden || !(all || strict)) Access.PerRun
      // Where nothing waits there are the entries of the last event only.
      else if (!arc.reads(comparison) || !outgoing(q).exists(_.waits)) Access.Indexed
      else if (arc.range.isDefined && together(0)) if (asksEquality(arc, comparison)) Access.Indexed else Access.Ordered
      else if (arc.needs(values).forall(_.map(_._1).distinct.length == values.length)) Access.Indexed
      else if (comparers(comparison).isInstanceOf[Expression]) Access.PerRun
      else Access.PerValue
    }
    if (cea.comparisons(comparison).previous && !repeats(comparison)) Access.Always
    else if (checking.isEmpty) Access.Indexed
    else checking.maxBy(_.cost)
  }

  /** Can a run meet two events of the first variable of a comparison before the comparison begins anew? */
  private def repeats(comparison: Int): Boolean = {
    val seen = scala.collection.mutable.Set((0, 0))
    val work = scala.collection.mutable.Stack((0, 0))
    var twice = false
    while (work.nonEmpty && !twice) {
      val (q, before) = work.pop()
      cea.outgoing(q).foreach { t =>
        val met = t.uses.count(c => c.comparison == comparison && (c.roles & 1) != 0)
        val events = (if (t.resets(comparison)) 0 else before) + met
        if (events > 1) twice = true
        else if (seen.add((t.to, events))) work.push((t.to, events))
      }
    }
    twice
  }

  private def asksEquality(arc: Arc, comparison: Int): Boolean =
    arc.transition.uses.filter(_.comparison == comparison).forall(c => comparers(comparison).equalities(c.roles).nonEmpty)

  /** Is nothing marked on any way to the state? */
  private def onlyBare(state: Int): Boolean = {
    val reached = scala.collection.mutable.Set.empty[Int]
    val work = scala.collection.mutable.Stack.from(cea.transitions.filter(_.label != 0).map(_.to))
    while (work.nonEmpty) { val q = work.pop(); if (reached.add(q)) work.pushAll(cea.outgoing(q).map(_.to)) }
    !reached(state)
  }

  val shapes = new Shapes(this)

  /** Classes have got other numbers. */
  def forgetClasses(): Unit = {
    enabled = new Array[Array[Array[Arc]]](16)
    idleClasses = new Array[Byte](16)
    shapes.forgetClasses()
  }

  /** The labels that runs from each state may go on with next; 0 if a match may end without one. */
  private lazy val nextLabels: Array[Set[Int]] = {
    val next = Array.fill(cea.states)(Set.empty[Int])
    var changed = true
    while (changed) {
      changed = false
      cea.transitions.foreach { t =>
        val more = if (t.label != 0) Set(t.label) else next(t.to) ++ (if (cea.finals(t.to)) Set(0) else Set.empty)
        if (!more.subsetOf(next(t.from))) { next(t.from) ++= more; changed = true }
      }
    }
    next
  }

  /** Can runs from both states go on with the same next label? */
  private def overlap(p: Int, q: Int): Boolean = p == q || nextLabels(p).exists(nextLabels(q))

  /** Can a match never come through both arcs with one event? */
  def independent(a: Arc, b: Arc): Boolean =
    a.label != b.label || !(a.accepts && b.accepts) && !overlap(a.transition.to, b.transition.to)

  private val (p, e, b) =
    (new Successors(cea.labels.length), new Successors(cea.labels.length), new Successors(cea.labels.length))

  /** Tells where the runs of a configuration go with an event. */
  def moves(c: Configuration, cls: Int, maskOf: Int => Array[Long], now: Now, found: Found): Unit =
    if (!(all && c.parts(0).length == 1 && c.flag == 0 && single(c, cls, maskOf, now, found)))
      several(c, cls, maskOf, now, found)

  // What the arcs of one cell lead to.
  private val led = new Array[Cell](MaxLed)
  private val ledBy = new Array[Arc](MaxLed)

  /** The usual case, without sets: one cell, from which one arc at the most is taken for each label. Otherwise nothing
    * is told, and false.
    */
  private def single(c: Configuration, cls: Int, maskOf: Int => Array[Long], now: Now, found: Found): Boolean = {
    val cell = c.parts(0)(0)
    val choice = arcs(cell.state, cls, maskOf)
    var n = 0
    var i = 0
    while (i < choice.length) {
      val to = choice(i).follow(cell, now)
      if (to != null) {
        if (n == MaxLed) return false
        var k = 0
        while (k < n) { if (ledBy(k).label == choice(i).label) return false; k += 1 }
        led(n) = to
        ledBy(n) = choice(i)
        n += 1
      }
      i += 1
    }
    i = 0
    while (i < n) {
      val arc = ledBy(i)
      if (arc.accepts) found.ends(arc.label)
      if (arc.goesOn) found.goesTo(arc.label, if (led(i) eq cell) c else new Configuration(Array(Array(led(i))), 0))
      i += 1
    }
    true
  }

  private def several(c: Configuration, cls: Int, maskOf: Int => Array[Long], now: Now, found: Found): Unit = {
    p.fill(c.parts(0), this, cls, maskOf, now)
    if (all || strict) {
      var label = 0
      while (label < p.labels) {
        if (p.touched(label)) {
          val cells = p.set(label)
          if (strict && label != 0 && c.flag == Gap) ()
          else if (cells.length > 0 || p.accepts(label)) {
            val flag =
              if (!strict) { if (c.flag == Bare && label == 0) Bare else 0 }
              else if (label != 0) Adjacent
              else if (c.flag == Nothing) Nothing
              else Gap
            if (p.accepts(label)) found.ends(label)
            apart(cells, flag).foreach(found.goesTo(label, _))
          }
        }
        label += 1
      }
    } else threats(c, cls, maskOf, now, found)
  }

  /** Runs that can never give the same match go their own ways: cells whose next labels differ. Each then can be found
    * by its own registers alone. A bare configuration has one cell.
    */
  private def apart(cells: Array[Cell], flag: Int): Array[Configuration] =
    if (cells.length == 0) Machine.none
    else if (cells.length == 1) Array(new Configuration(Array(cells), flag))
    else if (bares && flag == Bare) cells.map(c => new Configuration(Array(Array(c)), flag))
    else {
      val groups = ArrayBuffer.empty[ArrayBuffer[Cell]]
      cells.foreach { c =>
        val (touching, others) = groups.partition(_.exists(d => overlap(c.state, d.state)))
        val joined = ArrayBuffer.empty[Cell]
        touching.foreach(joined ++= _)
        joined += c
        groups.clear()
        groups ++= others += joined
      }
      groups.iterator.map(g => new Configuration(Array(Cell.set(g.toArray)), flag)).toArray
    }

  /** NEXT, LAST and MAX, as `Threats` has it. */
  private def threats(
      c: Configuration,
      cls: Int,
      maskOf: Int => Array[Long],
      now: Now,
      found: Found
  ): Unit = {
    e.fill(c.parts(1), this, cls, maskOf, now)
    b.fill(c.parts(2), this, cls, maskOf, now)
    val marked: Int => Boolean = _ != 0
    val unmarked: Int => Boolean = _ == 0
    val any: Int => Boolean = _ => true
    var label = 0
    while (label < p.labels) {
      if (p.touched(label)) {
        val isMarked = label != 0
        val chosenE = if (last) any else if (isMarked) marked else unmarked
        val chosenB = if (isMarked) { if (last || max) marked else any }
        else if (last) unmarked
        else any
        var beats = b.union(chosenB)
        var beatsAccept = b.acceptsAny(chosenB)
        if (!isMarked) {
          beats = beats ++ e.union(marked)
          beatsAccept |= e.acceptsAny(marked)
        }
        beats = Cell.set(beats)
        val kept = without(p.set(label), beats)
        val equals = Cell.set(e.union(chosenE))
        if (p.accepts(label) && !beatsAccept) found.ends(label)
        if (kept.length > 0)
          found.goesTo(label, new Configuration(Array(kept, if (last) equals else without(equals, beats), beats), 0))
      }
      label += 1
    }
  }

  private def without(cells: Array[Cell], others: Array[Cell]): Array[Cell] =
    if (others.length == 0) cells else cells.filterNot(c => others.exists(_ == c))
}

private[engine] object Machine {

  /** Flags of configurations under STRICT: nothing is marked yet, the last event was, or a gap has begun. */
  private val Nothing = 0
  private val Adjacent = 1
  private val Gap = 2

  /** The flag of a configuration with nothing marked yet, under DISTINCT. Of two such runs in one cell only the one
    * that starts later matters: whatever the other goes on to, it does as well, with a later start (000, Algorithm 1).
    */
  val Bare = 4

  private val none = new Array[Configuration](0)

  /** More than so many arcs at once are not usual. */
  private val MaxLed = 4

  /** Who is told where runs go: by label, that a match ends, and what follows. */
  trait Found {
    def ends(label: Int): Unit
    def goesTo(label: Int, next: Configuration): Unit
  }

  /** Where the runs of some cells go, by label. */
  final private class Successors(val labels: Int) {
    private val cells = Array.fill(labels)(new ArrayBuffer[Cell](2))
    private val isTouched = new Array[Boolean](labels)
    private val accepting = new Array[Boolean](labels)

    def touched(label: Int): Boolean = isTouched(label)
    def accepts(label: Int): Boolean = accepting(label)

    def fill(from: Array[Cell], machine: Machine, cls: Int, maskOf: Int => Array[Long], now: Now): Unit = {
      var l = 0
      while (l < labels) {
        if (isTouched(l)) { cells(l).clear(); isTouched(l) = false; accepting(l) = false }
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
            isTouched(arc.label) = true
            if (arc.goesOn) cells(arc.label) += to
            if (arc.accepts) accepting(arc.label) = true
          }
          k += 1
        }
        i += 1
      }
    }

    /** As a set. */
    def set(label: Int): Array[Cell] = Cell.set(cells(label).toArray)

    def union(chosen: Int => Boolean): Array[Cell] =
      (0 until labels).iterator.filter(l => isTouched(l) && chosen(l)).flatMap(cells(_)).toArray

    def acceptsAny(chosen: Int => Boolean): Boolean = (0 until labels).exists(l => accepting(l) && chosen(l))
  }
}
