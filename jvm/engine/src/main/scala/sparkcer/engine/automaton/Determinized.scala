package sparkcer.engine.automaton

import scala.collection.mutable

/** The determinized automaton, computed on demand and cached. States and classes of events are numbered in the order in
  * which they are met; state 0 is initial.
  *
  * The cache is bounded: with more than `maxStates` states or about `maxBytes` bytes it is [[full]], and its owner
  * starts a new one with the states in use. Nothing is evicted, so a number is valid as long as the object.
  */
final class Determinized(construction: Construction, private var maxStates: Int, private var maxBytes: Long) {
  import Determinized._

  private val ids = mutable.HashMap.empty[Words, Int]
  private var configurations = new Array[Array[Long]](16)
  private var stateCount = 0
  private var bytes = 0L

  /** `table(class)(state)`, null where not computed yet. */
  private var table = new Array[Array[Moves]](16)

  /** `skips(class)` has a bit for each state that the class is known to leave untouched. */
  private var skips = new Array[Array[Long]](16)
  private var classMasks = new Array[Array[Long]](16)
  private var movedBy = new Array[Array[Int]](16)
  private var lookingBack = new Array[Boolean](16)
  private var endingWaits = new Array[Boolean](16)
  private var classCount = 0
  private val classIds = mutable.HashMap.empty[Words, Int]

  /** With few conditions the mask itself is an index into an array. */
  private val small =
    if (construction.cea.bits <= SmallBits) Array.fill(1 << construction.cea.bits)(-1)
    else null
  private val byMask = new LongTable

  /** By class and what came before. */
  private val laterClasses = new LongTable

  intern(construction.initial)

  def states: Int = stateCount

  /** Is it time to start a new cache? */
  def full: Boolean = isFull
  private var isFull = false
  private def updateFull(): Unit = isFull = stateCount > maxStates || bytes > maxBytes

  /** Raises the limits to at least twice what is here, so that a cache which the states in use fill can still grow. */
  def relax(): Unit = {
    maxStates = math.max(maxStates, 2 * stateCount)
    maxBytes = math.max(maxBytes, 2 * bytes)
    updateFull()
  }

  def configuration(state: Int): Array[Long] = configurations(state)

  /** An order of states that does not depend on their numbers, and so not on the order in which they were met. */
  def compare(a: Int, b: Int): Int = java.util.Arrays.compare(configurations(a), configurations(b))

  /** The number of a state that is given as sets of CEA states. */
  def intern(configuration: Array[Long]): Int = {
    val key = new Words(configuration)
    ids.getOrElse(
      key, {
        if (stateCount == configurations.length)
          configurations = java.util.Arrays.copyOf(configurations, 2 * stateCount)
        configurations(stateCount) = configuration
        ids(key) = stateCount
        stateCount += 1
        bytes += 96 + 8 * configuration.length
        updateFull()
        stateCount - 1
      }
    )
  }

  /** The class of a mask of at most 64 conditions. */
  def classOf(mask: Long): Int =
    if (small != null) {
      val c = small(mask.toInt)
      if (c >= 0) c else { val n = newClass(Array(mask)); small(mask.toInt) = n; n }
    } else {
      val c = byMask(mask)
      if (c >= 0) c else { val n = newClass(Array(mask)); byMask(mask) = n; n }
    }

  /** The class of a mask of any length, in as few words as hold a bit for each condition, but at least one. */
  def classOf(mask: Array[Long]): Int =
    if (mask.length == 1) classOf(mask(0))
    else
      classIds.getOrElse(
        new Words(mask),
        { val own = mask.clone(); val n = newClass(own); classIds(new Words(own)) = n; n }
      )

  /** The class of the same events, where events of some [[AbsentBefore]] came before, which are given as bits. */
  def after(cls: Int, came: Int): Int =
    if (came == 0) cls
    else {
      val key = cls.toLong << 32 | came
      val known = laterClasses(key)
      if (known >= 0) known
      else {
        val cea = construction.cea
        val mask = classMasks(cls).clone()
        cea.absentBefore.indices.foreach(i => if ((came >>> i & 1) != 0) Bits.set(mask, cea.conditions.length + i))
        val n = classOf(mask)
        laterClasses(key) = n
        n
      }
    }

  /** Does it matter what came before events of the class, or that they came? Most events neither start a match nor keep
    * one from starting.
    */
  def looksBack(cls: Int): Boolean = lookingBack(cls)

  /** In a query that ends with `NO α FOR d`: is an event of the class an α, if all comparisons hold? */
  def absentAfter(cls: Int): Boolean = endingWaits(cls)

  private def endsWaits(mask: Array[Long]): Boolean =
    construction.cea.endings.exists(_.absent.exists(unless => meets(mask, unless.condition)))

  private def mattersBefore(mask: Array[Long]): Boolean = {
    val cea = construction.cea
    cea.absentBefore.nonEmpty &&
    (cea.absentBefore.exists(_.conditions.exists(meets(mask, _))) || cea.outgoing(0).exists(_.passes(meets(mask, _))))
  }

  private def meets(mask: Array[Long], condition: Int): Boolean = (mask(condition >> 6) >>> condition & 1L) != 0

  private def newClass(met: Array[Long]): Int = {
    val mask = java.util.Arrays.copyOf(met, construction.cea.maskWords)
    if (classCount == table.length) {
      table = java.util.Arrays.copyOf(table, 2 * classCount)
      skips = java.util.Arrays.copyOf(skips, 2 * classCount)
      classMasks = java.util.Arrays.copyOf(classMasks, 2 * classCount)
      movedBy = java.util.Arrays.copyOf(movedBy, 2 * classCount)
      lookingBack = java.util.Arrays.copyOf(lookingBack, 2 * classCount)
      endingWaits = java.util.Arrays.copyOf(endingWaits, 2 * classCount)
    }
    table(classCount) = new Array[Moves](16)
    skips(classCount) = new Array[Long](1)
    classMasks(classCount) = mask
    lookingBack(classCount) = mattersBefore(mask)
    endingWaits(classCount) = endsWaits(mask)
    classCount += 1
    bytes += 256
    updateFull()
    classCount - 1
  }

  /** Is the class known to leave all these states as they are? This is asked for every event. */
  def leaves(active: Array[Long], cls: Int): Boolean =
    if (active.length == 1) (active(0) & ~skips(cls)(0)) == 0 else leavesAll(active, skips(cls))

  private def leavesAll(active: Array[Long], untouched: Array[Long]): Boolean = {
    var w = 0
    while (w < active.length && (active(w) & ~(if (w < untouched.length) untouched(w) else 0L)) == 0) w += 1
    w == active.length
  }

  /** The states that the class is known to leave as they are: bit s of word s/64. */
  def untouched(cls: Int): Array[Long] = skips(cls)

  /** What an event of the class does to a state. The first call computes it, later ones take constant time. */
  def moves(state: Int, cls: Int): Moves = {
    val row = table(cls)
    if (state < row.length) {
      val known = row(state)
      if (known != null) return known
    }
    compute(state, cls)
  }

  /** The states that the class is known to move, smallest first. */
  def moved(cls: Int): Array[Int] = {
    if (movedBy(cls) == null)
      movedBy(cls) = table(cls).indices.filter(s => table(cls)(s) != null && (table(cls)(s) ne Untouched)).toArray
    movedBy(cls)
  }

  /** Is the class known to move a state to one with a smaller number? */
  def movesBack(cls: Int): Boolean =
    moved(cls).exists(s => {
      val m = table(cls)(s); (0 until m.length).exists(i => m.target(i) != NoState && m.target(i) < s)
    })

  /** The mask of a class. */
  def maskOf(cls: Int): Array[Long] = classMasks(cls)

  private def compute(state: Int, cls: Int): Moves = {
    val mask = classMasks(cls)
    val found = construction.moves(configurations(state), meets(mask, _))
    val targets = found.map(_.target.fold(NoState)(intern)).toArray
    val stays = found.indexWhere(m => m.label == 0 && m.target.isDefined && targets(found.indexOf(m)) == state)
    // The initial state is always active: without a move nothing starts, and nothing is removed.
    val result =
      if (found.length == 1 && stays == 0 && !found.head.accepts || found.isEmpty && state == 0) Untouched
      else {
        // An unmarked step to the same state is no move: the entry stays as it is. But it may accept.
        val moving = found.indices.filter(i => i != stays || found(i).accepts)
        val steps = moving.flatMap { i =>
          Seq(if (i == stays) NoState else targets(i), found(i).label << 1 | (if (found(i).accepts) 1 else 0))
        }
        new Moves(stays >= 0, steps.toArray)
      }
    remember(state, cls, result)
    result
  }

  private def remember(state: Int, cls: Int, result: Moves): Unit = {
    if (state >= table(cls).length) {
      bytes += 8L * table(cls).length
      table(cls) = java.util.Arrays.copyOf(table(cls), math.max(state + 1, 2 * table(cls).length))
    }
    table(cls)(state) = result
    if (result eq Untouched) {
      if ((state >> 6) >= skips(cls).length) skips(cls) = java.util.Arrays.copyOf(skips(cls), (state >> 6) + 1)
      Bits.set(skips(cls), state)
    } else {
      bytes += 48 + 8 * result.length
      movedBy(cls) = null
    }
    updateFull()
  }
}

object Determinized {
  val NoState: Int = -1

  private val SmallBits = 12

  /** What a class does to a state.
    *
    * @param stays
    *   whether the entry also stays as it is (an unmarked step to the same state)
    * @param steps
    *   two numbers for each move, next to each other because they are read together: the target, and the label with a
    *   bit that says whether a match ends
    */
  final class Moves(val stays: Boolean, steps: Array[Int]) {
    def length: Int = steps.length >> 1

    /** The next state, or [[NoState]] for a match that ends and does not go on. */
    def target(i: Int): Int = steps(2 * i)
    def label(i: Int): Int = steps(2 * i + 1) >> 1
    def accepts(i: Int): Boolean = (steps(2 * i + 1) & 1) != 0
  }

  /** Nothing changes: the entry stays as it is and no match ends. */
  val Untouched: Moves = new Moves(true, Array.empty)

  /** An array that compares by content. */
  final private class Words(val words: Array[Long]) {
    override val hashCode: Int = java.util.Arrays.hashCode(words)
    override def equals(other: Any): Boolean = other match {
      case w: Words => java.util.Arrays.equals(words, w.words)
      case _        => false
    }
  }
}
