package sparkcer.engine.compare

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.{Cea, ComparisonUse, Registers, Simulation, StrategyRules}
import sparkcer.engine.ceql.Strategy
import sparkcer.engine.state.StateException

/** The automaton of a query that compares events: [[StrategyRules]] on configurations, with cells in place of states. A
  * step depends on the values of the event, so it is done for each event anew. What depends on the class of the event
  * alone is remembered.
  *
  * @param inOrder
  *   whether the order of matches must not depend on how they were found
  */
final private[engine] class Machine(
    val cea: Cea,
    strategy: Strategy,
    distinct: Boolean,
    inOrder: Boolean,
    numbering: Numbering
) {
  import Machine._

  private[compare] val registers = Registers(cea)
  private[compare] val comparers =
    cea.comparisons.indices.map(i => Comparer(cea.comparisons(i), registers.first(i), numbering)).toArray

  /** The arcs of each state. */
  private[compare] val outgoing: Array[Array[Arc]] = Array.tabulate(cea.states)(q =>
    cea
      .outgoing(q)
      .map { t =>
        val resets = (0 until registers.count).filter(r => t.resets(registers.comparisonOf(r))).toArray
        val (from, to) = (registers.live(t.from), registers.live(t.to))
        new Arc(t, cea.finals(t.to), cea.outgoing(t.to).nonEmpty, comparers, from, to, resets, registers)
      }
      .toArray
  )

  private[compare] val rules = StrategyRules(cea, strategy)
  private val all = rules == StrategyRules.Subsets

  /** Under DISTINCT, runs that have marked nothing yet are compared by their start alone, see [[Bare]]. */
  private[compare] val bares = distinct && all

  val initial: Configuration = {
    val cell = Array(new Cell(0, new Array[AnyRef](registers.live(0).length)))
    if (rules.threatened) new Configuration(Array(cell, cell, Cell.none), 0)
    else new Configuration(Array(cell), if (bares) Bare else 0)
  }

  /** May many entries be moved at once? Not where a strategy compares their runs, nor where their order counts. */
  def together(flag: Int): Boolean = all && flag == 0 && !inOrder

  /** Does every event change a configuration with this flag? */
  def changesAlways(flag: Int): Boolean = rules.changesAlways(flag)

  // By class of event.

  private var enabled = new Array[Array[Array[Arc]]](16)

  /** The arcs of a state whose conditions events of the class meet. */
  def arcs(state: Int, cls: Int, maskOf: Int => Array[Long]): Array[Arc] = {
    if (cls >= enabled.length) enabled = java.util.Arrays.copyOf(enabled, math.max(cls + 1, 2 * enabled.length))
    if (enabled(cls) == null) enabled(cls) = new Array[Array[Arc]](cea.states)
    if (enabled(cls)(state) == null) {
      val mask = maskOf(cls)
      def meets(g: Int) = (mask(g >> 6) >>> g & 1L) != 0
      enabled(cls)(state) = outgoing(state).filter(_.transition.passes(meets)).map(_.under(meets))
    }
    enabled(cls)(state)
  }

  // 1 for yes, -1 for no, 0 where not yet asked.
  private var idleClasses = new Array[Byte](16)

  /** Do events of the class leave every configuration as it is, and start nothing? */
  def idle(cls: Int, maskOf: Int => Array[Long]): Boolean = {
    if (cls >= idleClasses.length) idleClasses = java.util.Arrays.copyOf(idleClasses, math.max(cls + 1, 2 * cls))
    if (idleClasses(cls) == 0) {
      val still = !rules.flagged && (0 until cea.states).forall { q =>
        val choice = arcs(q, cls, maskOf)
        if (q == 0 || outgoing(q).isEmpty) choice.isEmpty else choice.nonEmpty && choice.forall(_.waits)
      }
      idleClasses(cls) = if (still) 1 else -1
    }
    idleClasses(cls) > 0
  }

  val shapes = new Shapes(this)

  /** Invalidates what is remembered by class, after classes are renumbered. */
  def forgetClasses(): Unit = {
    enabled = new Array[Array[Array[Arc]]](16)
    idleClasses = new Array[Byte](16)
    shapes.forgetClasses()
  }

  /** For each state the labels that runs in it may take next; 0 if a match may end without one. */
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

  /** Can runs in both states take the same next label? */
  private def overlap(p: Int, q: Int): Boolean = p == q || nextLabels(p).exists(nextLabels(q))

  /** Is there no match that runs through both arcs find with one event? */
  def independent(a: Arc, b: Arc): Boolean =
    a.label != b.label || !(a.accepts && b.accepts) && !overlap(a.transition.to, b.transition.to)

  /** Tells `found` where the runs of a configuration go with the current event. */
  def moves(c: Configuration, cls: Int, maskOf: Int => Array[Long], now: Now, found: Found): Unit =
    if (!(all && c.parts(0).length == 1 && c.flag == 0 && single(c, cls, maskOf, now, found)))
      several(c, cls, maskOf, now, found)

  /** Where a match ends that `found` is told of: the cells of its runs, if what comes after depends on them. */
  var accepted: Array[Cell] = Cell.none

  private val scratch = new Array[AnyRef](registers.count)

  /** Does the current event fulfil the comparisons with the run of a cell? */
  def holds(uses: Vector[ComparisonUse], cell: Cell, now: Now): Boolean = {
    java.util.Arrays.fill(scratch, null)
    val live = registers.live(cell.state)
    live.indices.foreach(i => scratch(live(i)) = cell.registers(i))
    uses.forall(c => comparers(c.comparison).holds(scratch, c.roles, now))
  }

  /** The register that must hold the value of a term of the event for the comparisons to hold, if it holds anything:
    * the first such pair of register and term.
    */
  def equality(uses: Vector[ComparisonUse]): Option[(Int, Int)] =
    uses.flatMap(c => comparers(c.comparison).equalities(c.roles)).headOption

  /** What a register of the run of a cell holds. */
  def content(cell: Cell, register: Int): AnyRef = {
    val at = java.util.Arrays.binarySearch(registers.live(cell.state), register)
    if (at < 0) null else cell.registers(at)
  }

  /** For each state, the number of the ending of the matches that end in it, or -1 if they end at once. */
  private[engine] val endingOf: Array[Int] = Array.tabulate(cea.states)(cea.endingOf.getOrElse(_, -1))

  /** For each ending, the registers that an α is compared with. */
  private val readAfter: Array[Array[Int]] =
    cea.endings.iterator.map(_.absent.iterator.flatMap(_.uses).flatMap(registers.reads).distinct.toArray).toArray

  /** Are the matches of runs that end in these cells taken away by the same events? */
  private def endsLike(a: Cell, b: Cell): Boolean = {
    val ending = endingOf(a.state)
    ending == endingOf(b.state) &&
    (ending < 0 || readAfter(ending).forall(r => java.util.Objects.equals(content(a, r), content(b, r))))
  }

  /** For each state, the endings of the matches of runs in it, and the registers that these runs may still change. */
  private lazy val endingsFrom: Array[Set[Int]] =
    reachable(t => if (cea.finals(t.to)) Set(endingOf(t.to)) else Set.empty)
  private lazy val changes: Array[Set[Int]] = reachable { t =>
    t.uses.filter(_.holds).flatMap(registers.writes).toSet ++
      (0 until registers.count).filter(r => t.resets(registers.comparisonOf(r)))
  }

  /** For each state, what all transitions have that can follow. */
  private def reachable(of: Cea.Transition => Set[Int]): Array[Set[Int]] = {
    val found = Array.fill(cea.states)(Set.empty[Int])
    var changed = true
    while (changed) {
      changed = false
      cea.transitions.foreach { t =>
        val all = found(t.from) ++ of(t) ++ found(t.to)
        if (all.size > found(t.from).size) { found(t.from) = all; changed = true }
      }
    }
    found
  }

  /** Those that may end as one of the runs of `p` does. No other can beat them: it would be compared with other values
    * by then, or wait for something else.
    */
  private def rivals(p: Array[Cell], others: Array[Cell]): Array[Cell] =
    if (!cea.keepsEnds) others else others.filter(c => p.exists(mayEndAlike(_, c)))

  private def mayEndAlike(a: Cell, b: Cell): Boolean = {
    val (atA, atB) = (changes(a.state), changes(b.state))
    endingsFrom(a.state).exists { e =>
      endingsFrom(b.state)(e) && (e < 0 || readAfter(e)
        .forall(r => atA(r) || atB(r) || java.util.Objects.equals(content(a, r), content(b, r))))
    }
  }

  // What the arcs of one cell lead to.
  private val led = new Array[Cell](MaxLed)
  private val ledBy = new Array[Arc](MaxLed)

  /** The usual case, without sets: one cell, whose run takes at most one arc for each label. In any other case it
    * returns false and has told `found` nothing.
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
      if (arc.accepts) {
        if (cea.keepsEnds) accepted = Array(led(i))
        found.ends(arc.label)
      }
      if (arc.goesOn) found.goesTo(arc.label, if (led(i) eq cell) c else new Configuration(Array(Array(led(i))), 0))
      i += 1
    }
    true
  }

  /** The successors of each set of a configuration. They are reused. */
  private val successors = {
    val simulation = if (rules.threatened) new Simulation(cea, registers.live(_).toSeq) else null
    val sets = new CellSets((b, p) => simulation(b, p), endsLike)
    Array.fill(3)(new CellSuccessors(cea.labels.length, sets))
  }

  private def several(c: Configuration, cls: Int, maskOf: Int => Array[Long], now: Now, found: Found): Unit = {
    var i = 0
    while (i < c.parts.length) { successors(i).fill(c.parts(i), this, cls, maskOf, now); i += 1 }
    val told = new StrategyRules.Found[Array[Cell]] {
      def next(label: Int, accepts: Boolean, runs: Array[Cell], flag: Int): Unit = {
        if (accepts) {
          if (cea.keepsEnds) accepted = successors(0).ended(_ == label)
          found.ends(label)
        }
        apart(runs, flag).foreach(found.goesTo(label, _))
      }
      def threatened(label: Int, ends: Array[Cell], p: Array[Cell], e: Array[Cell], b: Array[Cell]): Unit = {
        accepted = ends
        if (ends.length > 0) found.ends(label)
        if (p.length > 0) {
          val parts = Array(p, rivals(p, e), rivals(p, b))
          if (cea.comparesAfter && parts.exists(_.length > MaxRuns)) throw tooManyRuns
          found.goesTo(label, new Configuration(parts, 0))
        }
      }
    }
    rules.step(successors(0), successors(1), successors(2), c.flag, told)
  }

  /** Divides cells into those whose next labels overlap. Runs of different parts can never find the same match, so each
    * part is a configuration of its own and is found by its own registers. A bare configuration has one cell.
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
}

private[engine] object Machine {

  /** The flag of a configuration with nothing marked yet, under DISTINCT. Of two such runs in one cell only the one
    * that starts later matters: it can go on in every way that the other can, and starts later (the dynamic evaluation
    * paper, Algorithm 1). STRICT, whose flags are smaller, has no such runs.
    */
  val Bare = 4

  private val none = new Array[Configuration](0)

  /** So many runs of one start may a strategy have to keep apart, because what comes after a match is compared with
    * different values of them. Comparing them takes time in the square of their number.
    */
  private val MaxRuns = 1000

  private def tooManyRuns = new StateException("CER_TOO_MANY_RUNS", "most" -> MaxRuns.toString)

  /** More arcs than this at once are unusual. */
  private val MaxLed = 4

  /** Is told where runs go: by label, that a match ends, and what follows. */
  trait Found {
    def ends(label: Int): Unit
    def goesTo(label: Int, next: Configuration): Unit
  }
}
