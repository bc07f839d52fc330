package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.automaton.Determinized.NoState
import sparkcer.engine.state.{WireReader, WireWriter}

/** A substream of a query that compares no events: an *entry* for each active state of the determinized automaton,
  * which is the node of its partial matches.
  *
  * An event costs the states it moves, and for each a few writes, or a logarithm of the window at most. States that its
  * class leaves as they are cost nothing: they are skipped 64 at a time.
  */
final private[evaluate] class PlainSubstream(evaluator: Evaluator, number: Int) extends Substream(evaluator, number) {
  import PlainSubstream.NotKept

  /** The nodes of the active states. The initial state has none. */
  private var entries: Array[Int] = _
  begin()

  /** Under LIMIT the order of matches must not depend on how states are numbered, because the numbers depend on
    * restarts and on the events of other keys.
    */
  private val inOrder = evaluator.program.limit.isDefined

  private[evaluate] def step(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean = {
    val automaton = evaluator.automaton
    val untouched = automaton.untouched(cls)
    var event = NotKept
    var adds = 0
    val cursor = evaluator.cursor
    var word = active.length - 1
    while (word >= 0) {
      var touched = active(word) & ~(if (word < untouched.length) untouched(word) else 0L)
      while (touched != 0) {
        val bit = 63 - java.lang.Long.numberOfLeadingZeros(touched)
        touched ^= 1L << bit
        val state = (word << 6) + bit
        val moves = automaton.moves(state, cls)
        if ((moves ne Determinized.Untouched) && (state != 0 || timed)) {
          if (event == NotKept) {
            event = keep(time, bound, payload)
            cursor.reset(tecs, event)
          }
          adds = move(state, moves, event, adds, timed)
        }
      }
      word -= 1
    }
    if (event == NotKept) false
    else {
      if (inOrder) {
        evaluator.sortNotes(adds)
        cursor.sortHeads(automaton)
      }
      if (adds > 0) writeNoted(adds, event)
      kept(used = tecs.top != events.firstNode(event))
    }
  }

  /** Reads one entry and adds to those it moves to. An entry must not be read after it was written, or the event would
    * be used twice. So states are visited from the last to the first, and what goes to an earlier state is noted until
    * all are read.
    */
  private def move(state: Int, moves: Determinized.Moves, event: Int, noted: Int, timed: Boolean): Int = {
    var adds = noted
    val node = if (state == 0) 0 else entries(state)
    if (state != 0 && !tecs.live(node)) remove(state)
    else {
      if (state != 0 && !moves.stays) remove(state)
      var i = 0
      while (i < moves.length) {
        val label = moves.label(i)
        val target = moves.target(i)
        if (moves.accepts(i) && timed) evaluator.cursor.addHead(node, label, state)
        if (target >= state && !inOrder) add(target, node, event, label)
        else if (target != NoState) adds = evaluator.note(adds, target, node, label, state)
        i += 1
      }
    }
    adds
  }

  private def writeNoted(adds: Int, event: Int): Unit = {
    var i = 0
    while (i < adds) {
      add(evaluator.noteState(i), evaluator.noteNode(i), event, evaluator.noteLabel(i))
      i += 1
    }
  }

  /** Adds to an entry the partial matches of a node (0: the one that starts now), with the event marked if there is a
    * label.
    */
  private def add(state: Int, node: Int, event: Int, label: Int): Unit = {
    if (state >= entries.length) grow(state)
    val bit = 1L << state
    val there = if ((active(state >> 6) & bit) == 0) 0 else entries(state)
    active(state >> 6) |= bit
    entries(state) =
      if (node == 0) tecs.start(event, label, there)
      else if (label != 0) tecs.extend(node, event, label, there)
      else tecs.union(node, there)
  }

  private def grow(state: Int): Unit = {
    entries = java.util.Arrays.copyOf(entries, math.max(state + 1, 2 * entries.length))
    active = java.util.Arrays.copyOf(active, (entries.length + 63) >> 6)
  }

  private def remove(state: Int): Unit = active(state >> 6) &= ~(1L << state)

  private[evaluate] def clear(): Unit = {
    java.util.Arrays.fill(active, 0L)
    active(0) = 1L
  }

  private[evaluate] def sweep(): Unit = states.foreach(s => if (!tecs.live(entries(s))) remove(s))

  /** The active states that have an entry. */
  private def states: Iterator[Int] =
    active.indices.iterator.flatMap { w =>
      val word = if (w == 0) active(0) & ~1L else active(w)
      Iterator
        .iterate(word)(b => b & (b - 1))
        .takeWhile(_ != 0)
        .map(b => (w << 6) + java.lang.Long.numberOfTrailingZeros(b))
    }

  private[evaluate] def renumber(old: Determinized): Unit = {
    val before = states.map(s => (evaluator.automaton.intern(old.configuration(s)), entries(s))).toVector
    begin()
    before.foreach { case (s, node) => add(s, node, 0, label = 0) }
  }

  private def begin(): Unit = {
    active = Array(1L)
    entries = new Array[Int](4)
  }

  private[evaluate] def write(out: WireWriter, full: Boolean): Unit = {
    savedNodes.save(out, full)
    val live = states.filter(s => tecs.live(entries(s))).toVector
    out.int(live.length)
    live.foreach { s =>
      out.words(evaluator.automaton.configuration(s))
      out.int(tecs.top - entries(s))
    }
  }

  private[evaluate] def readBack(in: WireReader): Unit = {
    savedNodes.restore(in)
    begin()
    (0 until in.int()).foreach { _ =>
      val state = evaluator.automaton.intern(in.words())
      add(state, tecs.top - in.int(), 0, label = 0)
    }
  }

  override def bytes: Long = super.bytes + 4L * entries.length

  override def checkInvariants(): Unit = {
    super.checkInvariants()
    states.foreach { s =>
      val n = entries(s)
      if (tecs.live(n)) require(n - tecs.top < 0, s"state $s has a node that does not exist")
    }
  }
}

private[evaluate] object PlainSubstream {
  private val NotKept = Int.MinValue
}
