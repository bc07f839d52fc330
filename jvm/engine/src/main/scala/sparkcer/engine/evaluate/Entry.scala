package sparkcer.engine.evaluate

import sparkcer.engine.compare.{Cell, Configuration}

/** The partial matches in one configuration, as a node. */
final private[evaluate] class Entry(val configuration: Configuration) {
  var node = 0

  /** Its one cell, where it has one. */
  def cell: Cell = configuration.parts(0)(0)

  var group: Group = _
  var place = 0
  var visited = 0L
  var dirty = false
  var saved = false
}

/** Entries that change places when one goes. */
final private[evaluate] class EntryList {
  private var list = new Array[Entry](1)
  var size = 0
  def entry(i: Int): Entry = list(i)

  def add(e: Entry): Unit = {
    if (size == list.length) list = java.util.Arrays.copyOf(list, 2 * size)
    list(size) = e
    size += 1
  }

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
