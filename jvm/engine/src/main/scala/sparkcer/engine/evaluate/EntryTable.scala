package sparkcer.engine.evaluate

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.compare.{Configuration, Machine, Now, Shape}
import sparkcer.engine.state.{StateException, WireReader, WireWriter}

/** The entries of a substream whose events are compared, by configuration, and in groups by shape. It knows which of
  * them have changed since they were last saved.
  */
final private[evaluate] class EntryTable(machine: Machine, tecs: Tecs, now: Now) {
  import EntryTable._

  private val entries = new java.util.HashMap[Configuration, Entry]
  private val byShape = new java.util.HashMap[Shape, Group]
  private var groupList = new Array[Group](0)

  /** How many entries the last sweep has left. */
  private var swept = 0

  /** In the order in which their shapes were met. A group may be empty. The array is not changed in place. */
  def groups: Array[Group] = groupList

  /** The entry of a configuration, which is added if it is not there. */
  def entry(c: Configuration): Entry = {
    val there = entries.get(c)
    if (there != null) there
    else {
      val e = new Entry(c)
      entries.put(c, e)
      val shape = machine.shapes.of(c)
      var g = byShape.get(shape)
      if (g == null) {
        g = new Group(shape, tecs, now)
        byShape.put(shape, g)
        groupList = groupList :+ g
      }
      e.group = g
      g.add(e)
      e
    }
  }

  /** The entry has a new node. */
  def touch(e: Entry): Unit = {
    e.group.changed(e)
    if (!e.dirty) { e.dirty = true; touched += e }
  }

  /** Removes an entry whose partial matches have all moved. */
  def remove(e: Entry): Unit = {
    if (e.saved) removed += e.configuration
    drop(e)
  }

  /** Removes an entry that has left the window: whoever loads the saved state sees that by itself. */
  def drop(e: Entry): Unit = {
    entries.remove(e.configuration)
    e.group.remove(e)
  }

  /** Keeps memory in proportion to what is in the window: to be called after each event. */
  def trim(): Unit = {
    if (entries.size > 2 * swept + Slack) sweep()
    // Where state is never saved, the list of what is to be saved must not grow forever.
    if (touched.length > 2 * entries.size + Slack) touched.filterInPlace(isThere)
  }

  /** Drops the entries that have left the window, and groups that are empty. */
  def sweep(): Unit = {
    val dead = ArrayBuffer.empty[Entry]
    entries.values.forEach(e => if (!tecs.live(e.node)) dead += e)
    dead.foreach(drop)
    if (groupList.exists(_.size == 0)) {
      groupList.foreach(g => if (g.size == 0) byShape.remove(g.shape): Unit)
      groupList = groupList.filter(_.size > 0)
    }
    swept = entries.size
  }

  def clear(): Unit = {
    entries.clear()
    byShape.clear()
    groupList = new Array[Group](0)
    touched.clear()
    removed.clear()
    swept = 0
  }

  // Saved state: what has changed since the last time.
  private val touched = ArrayBuffer.empty[Entry]
  private val removed = ArrayBuffer.empty[Configuration]

  private val isThere: Entry => Boolean = e => entries.get(e.configuration) eq e

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
      if (gone != null) drop(gone)
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

private[evaluate] object EntryTable {

  /** Raise it when the bytes change their meaning. */
  private val Format = 1

  /** This many dead entries never matter. */
  private val Slack = 64
}
