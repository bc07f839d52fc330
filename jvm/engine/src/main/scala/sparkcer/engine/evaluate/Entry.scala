package sparkcer.engine.evaluate

import sparkcer.engine.compare.{Cell, Configuration}

/** The partial matches in one configuration. */
final private[evaluate] class Entry(val configuration: Configuration) {

  /** The node that stands for them. */
  var node = 0

  /** Its cell, if it has only one. */
  def cell: Cell = configuration.parts(0)(0)

  /** The group that it belongs to, and its index there. */
  var group: Group = _
  var place = 0

  /** The stamp of the last event that visited it. */
  var visited = 0L

  /** Has its node changed since it was last saved, and was it saved at all? */
  var dirty = false
  var saved = false
}

/** A list of entries without an order: the last one takes the place of one that is removed. */
final private[evaluate] class EntryList {
  private var list = new Array[Entry](1)
  var size = 0
  def entry(i: Int): Entry = list(i)

  def add(e: Entry): Unit = {
    if (size == list.length) list = java.util.Arrays.copyOf(list, 2 * size)
    list(size) = e
    size += 1
  }

  /** Returns the entry that took its place, or null. */
  def removeAt(i: Int): Entry = {
    size -= 1
    list(i) = list(size)
    list(size) = null
    if (i < size) list(i) else null
  }

  def remove(e: Entry): Unit = {
    var i = 0
    while (list(i) ne e) i += 1
    removeAt(i): Unit
  }
}
