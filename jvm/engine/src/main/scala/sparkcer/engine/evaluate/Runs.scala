package sparkcer.engine.evaluate

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.compare._
import sparkcer.engine.state.{StateException, WireReader, WireWriter}

/** The partial matches of one substream of a query that compares events: for each configuration a node of the tECS.
  *
  * Configurations of one [[Shape]] are a group. Of a group an event visits those that it can move: all of them, none,
  * or those that an index finds by the values of the event. A configuration that is not visited would only have waited,
  * so what is found never depends on the indexes. With equality alone an event costs one probe for each shape, and what
  * it moves, whatever the window holds. Those on one side of a value are moved together ([[Ranking]]).
  */
final private[evaluate] class Runs(evaluator: Evaluator, events: Events, tecs: Tecs) {
  import Runs._

  private val machine = evaluator.machine
  private val now = evaluator.now
  private val maskOf: Int => Array[Long] = cls => evaluator.automaton.maskOf(cls)
  private val payloadOf: Int => Array[Byte] = events.payload(_)

  private val entries = new java.util.HashMap[Configuration, Entry]
  private val groups = new java.util.HashMap[Shape, Group]
  private var groupList = new Array[Group](0)

  /** The entries that the event at hand visits. */
  private var visited = new Array[Entry](16)
  private var visits = 0
  private var stamp = 0L

  /** Groups of which it moves many entries at once. */
  private val ranged = ArrayBuffer.empty[Group]
  private val ranges = ArrayBuffer.empty[Shape.Ranges]

  /** How many entries were alive when they were last looked at. */
  private var swept = 0

  def size: Int = entries.size

  /** How many entries events have looked at, ever. */
  var looks = 0L

  /** Can an event of the class move nothing, whatever is here? */
  def idle(cls: Int): Boolean = machine.idle(cls, maskOf)

  /** Finds out what the event may move, and says whether there is anything. */
  def find(cls: Int, payload: Array[Byte], timed: Boolean): Boolean = {
    now.begin(payload, payloadOf)
    visits = 0
    ranged.clear()
    ranges.clear()
    stamp += 1
    var i = 0
    while (i < groupList.length) {
      val g = groupList(i)
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
    visits > 0 || ranged.nonEmpty || timed && machine.arcs(0, cls, maskOf).length > 0
  }

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

  // What the event adds: written when everything has been read, or the event would be used twice.
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

  /** Moves what was found with the event, and says whether anything is different now. */
  def step(cls: Int, event: Int, timed: Boolean): Boolean = {
    now.event = event
    looks += visits
    // Under LIMIT the order in which matches come must not depend on the order of a hash table.
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
      if (!tecs.live(e.node)) remove(e) // nothing of it is in the window, now or later
      else if (move(e, cls, timed)) changed = true
      i += 1
    }
    i = 0
    while (i < ranged.length) { ranges(i).ranges.foreach(moveTogether(ranged(i), _, timed)); i += 1 }
    if (timed && machine.arcs(0, cls, maskOf).length > 0) machine.moves(machine.initial, cls, maskOf, now, starting)
    i = 0
    while (i < noteTargets.length) { add(noteTargets(i), noteNodes(i), event, noteLabels(i)); i += 1 }
    changed |= noteTargets.nonEmpty
    noteTargets.clear()
    if (entries.size > 2 * swept + Slack) sweep()
    // Where nothing is ever saved, what is gone must not be kept for it.
    if (touched.length > 2 * entries.size + Slack) touched.filterInPlace(isThere)
    changed
  }

  /** A match starts with the event. */
  private val starting = new Machine.Found {
    def ends(label: Int): Unit = evaluator.cursor.addHead(0, label, 0)
    def goesTo(label: Int, next: Configuration): Unit = note(next, 0, label)
  }

  /** The matches of an entry go on. */
  private object going extends Machine.Found {
    var entry: Entry = _
    var timed = false
    var stays = false

    def ends(label: Int): Unit = if (timed) evaluator.cursor.addHead(entry.node, label, 0)
    def goesTo(label: Int, next: Configuration): Unit =
      if (label == 0 && next == entry.configuration) stays = true else note(next, entry.node, label)
  }

  private def move(e: Entry, cls: Int, timed: Boolean): Boolean = {
    going.entry = e
    going.timed = timed
    going.stays = false
    machine.moves(e.configuration, cls, maskOf, now, going)
    if (!going.stays) {
      if (e.saved) removed += e.configuration
      remove(e)
    }
    !going.stays
  }

  /** All entries of a range take the arc; they wait as well. It leads all of them to the same cell. */
  private def moveTogether(g: Group, r: Shape.Range, timed: Boolean): Unit = {
    val key = r.key(now)
    val value = now.value(r.bound.term)
    val ranking = if (key == null || value == null) null else g.ranking(r.rank, key)
    if (ranking != null) {
      val node = ranking.select(r.bound.operator, value)
      if (tecs.live(node)) {
        val to = r.arc.follow(ranking.example.cell, now)
        if (to != null) {
          if (r.arc.accepts && timed) evaluator.cursor.addHead(node, r.arc.label, 0)
          if (r.arc.goesOn) note(new Configuration(Array(Array(to)), 0), node, r.arc.label)
        }
      }
    }
  }

  /** Adds to an entry the matches of a node (0: the one that starts now) with the event, marked if there is a label. */
  private def add(target: Configuration, node: Int, event: Int, label: Int): Unit = {
    val e = entry(target)
    if (target.flag == Machine.Bare) {
      if (node == 0 || !tecs.live(e.node) || tecs.maxStart(node) - tecs.maxStart(e.node) > 0) {
        e.node = if (node == 0) tecs.start(event, 0, 0) else node
        touch(e)
      }
    } else {
      e.node =
        if (node == 0) tecs.start(event, label, e.node)
        else if (label != 0) tecs.extend(node, event, label, e.node)
        else tecs.union(node, e.node)
      touch(e)
    }
  }

  private def entry(c: Configuration): Entry = {
    val there = entries.get(c)
    if (there != null) there
    else {
      val e = new Entry(c)
      entries.put(c, e)
      val shape = machine.shapes.of(c)
      var g = groups.get(shape)
      if (g == null) {
        g = new Group(shape, tecs, now)
        groups.put(shape, g)
        groupList = groupList :+ g
      }
      e.group = g
      g.add(e)
      e
    }
  }

  private def remove(e: Entry): Unit = {
    entries.remove(e.configuration)
    e.group.remove(e)
  }

  /** Lets go of what has left the window. */
  def sweep(): Unit = {
    val dead = ArrayBuffer.empty[Entry]
    entries.values.forEach(e => if (!tecs.live(e.node)) dead += e)
    dead.foreach(remove)
    if (groupList.exists(_.size == 0)) {
      groupList.foreach(g => if (g.size == 0) groups.remove(g.shape): Unit)
      groupList = groupList.filter(_.size > 0)
    }
    swept = entries.size
  }

  def clear(): Unit = {
    entries.clear()
    groups.clear()
    groupList = new Array[Group](0)
    touched.clear()
    removed.clear()
    swept = 0
  }

  // State: what changed since it was saved. Entries that have left the window need no word.
  private val touched = ArrayBuffer.empty[Entry]
  private val removed = ArrayBuffer.empty[Configuration]

  private val isThere: Entry => Boolean = e => entries.get(e.configuration) eq e

  private def touch(e: Entry): Unit = {
    e.group.changed(e)
    if (!e.dirty) { e.dirty = true; touched += e }
  }

  def save(out: WireWriter, full: Boolean): Unit = {
    out.byte(Format)
    if (full) {
      sweep()
      out.int(0)
      out.int(entries.size)
      entries.values.forEach(write(out, _))
    } else {
      out.int(removed.length)
      removed.foreach(_.write(out))
      val live = touched.filter(e => isThere(e) && tecs.live(e.node))
      out.int(live.length)
      live.foreach(write(out, _))
    }
    markSaved()
  }

  private def write(out: WireWriter, e: Entry): Unit = {
    e.configuration.write(out)
    out.int(tecs.top - e.node)
  }

  private def markSaved(): Unit = {
    touched.foreach { e => e.dirty = false; e.saved = true }
    touched.clear()
    removed.clear()
  }

  def restore(in: WireReader): Unit = {
    val format = in.byte()
    if (format > Format)
      throw new StateException(
        "CER_STATE_MISMATCH.NEWER_COMPARISONS",
        "format" -> format.toString,
        "most" -> Format.toString
      )
    (0 until in.int()).foreach { _ =>
      val gone = entries.get(Configuration.read(in))
      if (gone != null) remove(gone)
    }
    (0 until in.int()).foreach { _ =>
      val e = entry(Configuration.read(in))
      e.node = tecs.top - in.int()
      touch(e)
    }
    sweep()
    markSaved()
  }

  def bytes: Long = {
    var sum = 64L + 8L * touched.length
    entries.values.forEach(e => sum += 96 + e.configuration.bytes + 40L * e.group.indexes)
    sum
  }

  /** For tests. */
  def checkInvariants(): Unit = {
    var grouped = 0
    groupList.foreach { g => grouped += g.size; g.checkInvariants() }
    require(grouped == entries.size, s"${entries.size} configurations, $grouped in groups")
    entries.forEach { (c, e) =>
      require(e.configuration == c && (machine.shapes.of(c) eq e.group.shape), "a configuration is in the wrong group")
      if (tecs.live(e.node)) require(e.node - tecs.top < 0, "an entry has a node that does not exist")
    }
  }
}

private[evaluate] object Runs {

  /** Raise it when the bytes change their meaning. */
  private val Format = 1

  /** So many dead entries never matter. */
  private val Slack = 64
}
