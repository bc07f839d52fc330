package sparkcer.engine.evaluate

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.compare._
import sparkcer.engine.state.{WireReader, WireWriter}

/** A substream of a query that compares events, or whose matches end in different ways: an [[Entry]] for each
  * configuration, which has the node of its partial matches.
  *
  * Configurations of one [[Shape]] form a [[Group]]. Of a group an event visits the entries that it can move: all of
  * them, none, or those that an index finds by the values of the event. A configuration that is not visited cannot
  * change on this event, so the matches never depend on the indexes. If all comparisons are equalities, an event costs
  * one lookup for each shape, and what it moves, however much the window holds. Entries on one side of a value are
  * moved together, see [[Ranking]].
  */
final private[evaluate] class ComparingSubstream(evaluator: Evaluator, number: Int)
    extends Substream(evaluator, number) {
  private val machine = evaluator.machine
  private val now = evaluator.now
  private val maskOf: Int => Array[Long] = cls => evaluator.automaton.maskOf(cls)
  private val payloadOf: Int => Array[Byte] = events.payload(_)
  private val table = new EntryTable(machine, tecs, now)

  /** The entries that the current event visits. */
  private var visited = new Array[Entry](16)
  private var visits = 0
  private var stamp = 0L

  /** The groups of which it moves many entries at once. */
  private val ranged = ArrayBuffer.empty[Group]
  private val ranges = ArrayBuffer.empty[Shape.Ranges]

  private var looked = 0L

  private[evaluate] def step(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean =
    if (machine.idle(cls, maskOf) || !find(cls, payload, timed)) false
    else {
      val event = keep(time, bound, payload)
      evaluator.cursor.reset(tecs, event)
      ends.clear()
      kept(used = move(cls, event, timed))
    }

  /** Finds what the event may move, and says whether there is anything. */
  private def find(cls: Int, payload: Array[Byte], timed: Boolean): Boolean = {
    now.begin(payload, payloadOf)
    visits = 0
    ranged.clear()
    ranges.clear()
    stamp += 1
    val groups = table.groups
    var i = 0
    while (i < groups.length) {
      val g = groups(i)
      if (g.size > 0) g.shape.verdict(cls, maskOf) match {
        case Shape.Skip      => ()
        case Shape.Scan      => visitAll(g)
        case p: Shape.Probes => probe(g, p)
        case r: Shape.Ranges =>
          ranged += g
          ranges += r
      }
      i += 1
    }
    visits > 0 || ranged.nonEmpty || timed && starts(cls)
  }

  private def starts(cls: Int): Boolean = machine.arcs(0, cls, maskOf).length > 0

  private def visitAll(g: Group): Unit = {
    var i = 0
    while (i < g.size) { visit(g.entry(i)); i += 1 }
  }

  private def probe(g: Group, p: Shape.Probes): Unit = {
    var i = 0
    while (i < p.probes.length) {
      val key = p.probes(i).of(now)
      if (key != null) {
        val bucket = g.index(p.probes(i).key).get(key)
        if (bucket != null) {
          var k = 0
          while (k < bucket.size) { visit(bucket.entry(k)); k += 1 }
        }
      }
      i += 1
    }
  }

  private def visit(e: Entry): Unit =
    if (e.visited != stamp) {
      e.visited = stamp
      if (visits == visited.length) visited = java.util.Arrays.copyOf(visited, 2 * visits)
      visited(visits) = e
      visits += 1
    }

  // What the event adds. It is written when all entries are read, or the event would be used twice.
  private val noteTargets = ArrayBuffer.empty[Configuration]
  private var noteNodes = new Array[Int](16)
  private var noteLabels = new Array[Int](16)

  private def note(target: Configuration, node: Int, label: Int): Unit = {
    val i = noteTargets.length
    if (i == noteNodes.length) {
      noteNodes = java.util.Arrays.copyOf(noteNodes, 2 * i)
      noteLabels = java.util.Arrays.copyOf(noteLabels, 2 * i)
    }
    noteTargets += target
    noteNodes(i) = node
    noteLabels(i) = label
  }

  /** Moves what was found, and says whether anything has changed. */
  private def move(cls: Int, event: Int, timed: Boolean): Boolean = {
    now.event = event
    looked += visits
    // Under LIMIT the order of matches must not depend on the order of a hash table.
    if (evaluator.program.limit.isDefined && visits > 1)
      java.util.Arrays.sort(
        visited,
        0,
        visits,
        (a: Entry, b: Entry) => Configuration.compare(a.configuration, b.configuration)
      )
    var changed = false
    var i = 0
    while (i < visits) {
      val e = visited(i)
      if (!tecs.live(e.node)) table.drop(e) // it has left the window for good
      else if (moveOne(e, cls, timed)) changed = true
      i += 1
    }
    i = 0
    while (i < ranged.length) { ranges(i).ranges.foreach(moveTogether(ranged(i), _, timed)); i += 1 }
    if (timed && starts(cls)) machine.moves(machine.initial, cls, maskOf, now, starting)
    i = 0
    while (i < noteTargets.length) { add(noteTargets(i), noteNodes(i), event, noteLabels(i)); i += 1 }
    changed |= noteTargets.nonEmpty
    noteTargets.clear()
    table.trim()
    changed
  }

  /** Where the matches of each head end, if what comes after depends on them. */
  private val ends = ArrayBuffer.empty[Array[Cell]]

  private def addHead(node: Int, label: Int, cells: => Array[Cell]): Unit = {
    evaluator.cursor.addHead(node, label, 0)
    if (machine.cea.keepsEnds) ends += cells
  }

  override private[evaluate] def endsOfHeads: Array[Array[Cell]] =
    if (machine.cea.keepsEnds) ends.toArray else null

  override private[evaluate] def dropPending(cls: Int, payload: Array[Byte]): Unit = {
    val mask = maskOf(cls)
    def meets(condition: Int) = (mask(condition >> 6) >>> condition & 1L) != 0
    def isForAll = machine.cea.endings.head.absent.exists(u => u.uses.isEmpty && meets(u.condition))
    if (!machine.cea.endsApart && isForAll) super.dropPending(cls, payload)
    else {
      // The event has no number yet, and may never have one.
      val number = events.top
      now.begin(payload, e => if (e == number) payload else events.payload(e))
      now.event = number
      if (pending.queues.removeCompared(meets)) touch()
    }
  }

  /** A match starts with the event. */
  private val starting = new Machine.Found {
    def ends(label: Int): Unit = addHead(0, label, machine.accepted)
    def goesTo(label: Int, next: Configuration): Unit = note(next, 0, label)
  }

  /** The partial matches of an entry go on. */
  private object going extends Machine.Found {
    var entry: Entry = _
    var timed = false
    var stays = false

    def ends(label: Int): Unit = if (timed) addHead(entry.node, label, machine.accepted)
    def goesTo(label: Int, next: Configuration): Unit =
      if (label == 0 && next == entry.configuration) stays = true else note(next, entry.node, label)
  }

  private def moveOne(e: Entry, cls: Int, timed: Boolean): Boolean = {
    going.entry = e
    going.timed = timed
    going.stays = false
    machine.moves(e.configuration, cls, maskOf, now, going)
    if (!going.stays) table.remove(e)
    !going.stays
  }

  /** All entries of a range take the arc, and also stay as they are. The arc leads all of them to the same cell. */
  private def moveTogether(g: Group, r: Shape.Range, timed: Boolean): Unit = {
    val key = r.key(now)
    val value = now.value(r.bound.term)
    val ranking = if (key == null || value == null) null else g.ranking(r.rank, key)
    if (ranking != null) {
      val node = ranking.select(r.bound.operator, value)
      if (tecs.live(node)) {
        val to = r.arc.follow(ranking.example.cell, now)
        if (to != null) {
          if (r.arc.accepts && timed) addHead(node, r.arc.label, Array(to))
          if (r.arc.goesOn) note(new Configuration(Array(Array(to)), 0), node, r.arc.label)
        }
      }
    }
  }

  /** Adds to an entry the partial matches of a node (0: the one that starts now), with the event marked if there is a
    * label.
    */
  private def add(target: Configuration, node: Int, event: Int, label: Int): Unit = {
    val e = table.entry(target)
    if (target.flag == Machine.Bare) {
      // Of bare runs only the one that starts last is kept.
      if (node == 0 || !tecs.live(e.node) || tecs.maxStart(node) - tecs.maxStart(e.node) > 0) {
        e.node = if (node == 0) tecs.start(event, 0, 0) else node
        table.touch(e)
      }
    } else {
      e.node =
        if (node == 0) tecs.start(event, label, e.node)
        else if (label != 0) tecs.extend(node, event, label, e.node)
        else tecs.union(node, e.node)
      table.touch(e)
    }
  }

  private[evaluate] def clear(): Unit = table.clear()
  private[evaluate] def sweep(): Unit = table.sweep()

  /** Configurations do not depend on the determinized automaton. */
  private[evaluate] def renumber(old: Determinized): Unit = ()

  // There are no entries by determinized state. The format of saved state has a place for them.

  private[evaluate] def write(out: WireWriter, full: Boolean): Unit = {
    savedNodes.save(out, full)
    out.int(0)
    table.save(out, full)
  }

  private[evaluate] def readBack(in: WireReader): Unit = {
    savedNodes.restore(in)
    in.int(): Unit
    table.restore(in)
  }

  override def looks: Long = looked
  override def bytes: Long = super.bytes + table.bytes

  override def checkInvariants(): Unit = {
    super.checkInvariants()
    table.checkInvariants()
  }
}
