package sparkcer.engine.evaluate

import scala.collection.mutable

import sparkcer.engine.compare.{Cell, Content}
import sparkcer.engine.state.{WireReader, WireWriter}

/** The matches of a substream that wait for a deadline, all for the same time after their last event. The matches with
  * the same last event wait together, as the heads that [[Cursor]] enumerates them from; under COUNT(*), as their
  * number.
  *
  * Times never decrease, so deadlines do not either, and what waits is a queue: an event adds at its end, time takes
  * from its beginning, and an α clears it. Each costs O(1), and what waits is not listed before its deadline. An α that
  * is compared with the events of a match removes from the middle: what it finds with the `index` (null in other
  * queries).
  *
  * What waits is numbered as events are.
  */
final private[evaluate] class Pending(index: PendingIndex) {
  import Pending._

  private var items = new Array[Item](Initial)
  private var mask = Initial - 1

  /** The first that waits, and one past the last. Some between them may be over. */
  private var base = 0
  private var top = 0

  def isEmpty: Boolean = top == base

  /** The one with the first deadline. Those behind it need no event that is older than its `start`. */
  def first: Item = items(base & mask)

  /** How many wait, and about how many bytes they take: kept up to date, because what waits may be very much. */
  def size: Int = waiting
  private var waiting = 0
  private var itemBytes = 0L

  private def all: Iterator[Item] = Iterator.iterate(base)(_ + 1).take(top - base).map(i => items(i & mask))

  def add(item: Item): Unit = {
    if (top - base == mask + 1) resize(2 * (mask + 1))
    items(top & mask) = item
    item.number = top
    top += 1
    if (!item.isOver) waiting += 1
    itemBytes += item.bytes
    if (index != null) index.add(item, top - base)
  }

  def removeFirst(): Unit = {
    removeOne()
    skip()
  }

  def clear(): Unit = while (!isEmpty) removeOne()

  private def removeOne(): Unit = {
    if (!first.isOver) waiting -= 1
    itemBytes -= first.bytes
    first.end()
    items(base & mask) = null
    base += 1
  }

  private def skip(): Unit = while (!isEmpty && first.isOver) removeOne()

  /** Removes the matches for which the current event, which meets these conditions, is an α by its values. Says whether
    * there were any.
    */
  def removeCompared(meets: Int => Boolean): Boolean = {
    val some = index.remove(
      meets,
      item => {
        if (item.isOver) waiting -= 1
        if (savedTop - item.number > 0) changed += item
      }
    )
    skip()
    some
  }

  private def resize(capacity: Int): Unit = {
    if (capacity <= 0) throw Tecs.tooLarge
    val wider = new Array[Item](capacity)
    var i = base
    while (i != top) { wider(i & (capacity - 1)) = items(i & mask); i += 1 }
    items = wider
    mask = capacity - 1
  }

  /** The first number that is not saved yet, and what has changed since it was saved. */
  private var savedTop = 0
  private val changed = mutable.LinkedHashSet.empty[Item]

  /** Writes what is new or has changed, or everything if `full`, and the number of the first that waits. Events and
    * nodes are written as distances from the newest.
    */
  def save(out: WireWriter, full: Boolean, topEvent: Int, topNode: Int): Unit = {
    val from = if (full || savedTop - base < 0) base else savedTop
    out.int(base)
    out.int(from)
    out.int(top - from)
    var before = 0L
    all.drop(from - base).foreach { item =>
      out.long(item.deadline - before)
      before = item.deadline
      out.long(item.owner)
      out.long(item.count)
      out.int(topEvent - item.event)
      out.int(topEvent - item.start)
      saveHeads(out, item, topNode)
    }
    if (index != null) {
      val old = changed.filter(item => item.number - base >= 0 && item.number - from < 0)
      out.int(old.size)
      old.foreach { item =>
        out.int(item.number - base)
        saveHeads(out, item, topNode)
      }
    }
    markSaved()
  }

  private def saveHeads(out: WireWriter, item: Item, topNode: Int): Unit = {
    out.int(item.heads.length / 2)
    item.foreachHead { (node, label) =>
      out.int(if (node == 0) 0 else topNode - node)
      out.int(label)
    }
    if (index != null) item.ends.foreach { cells =>
      out.int(cells.length)
      cells.foreach(Cell.write(out, _))
    }
  }

  private def markSaved(): Unit = {
    savedTop = top
    changed.clear()
  }

  /** Appends what waits in the next piece, and returns the largest number of an owner in it. */
  def restore(in: WireReader, topEvent: Int, topNode: Int): Long = {
    val newBase = in.int()
    val from = in.int()
    while (!isEmpty && newBase - base > 0) removeOne()
    if (isEmpty) { base = from; top = from }
    var before = 0L
    var last = -1L
    (0 until in.int()).foreach { _ =>
      before += in.long()
      last = in.long()
      val (count, event, start) = (in.long(), topEvent - in.int(), topEvent - in.int())
      val (heads, ends) = readHeads(in, topNode)
      add(new Item(before, last, count, event, start, heads, ends))
    }
    if (index != null) (0 until in.int()).foreach { _ =>
      val item = items((base + in.int()) & mask)
      val (heads, ends) = readHeads(in, topNode)
      if (!item.isOver && heads.isEmpty) waiting -= 1
      item.keep(heads, ends)
    }
    skip()
    markSaved()
    last
  }

  private def readHeads(in: WireReader, topNode: Int): (Array[Int], Array[Array[Cell]]) = {
    val heads = new Array[Int](2 * in.int())
    heads.indices.by(2).foreach { i =>
      val distance = in.int()
      heads(i) = if (distance == 0) 0 else topNode - distance
      heads(i + 1) = in.int()
    }
    (heads, if (index == null) null else Array.fill(heads.length / 2)(Array.fill(in.int())(Cell.read(in))))
  }

  def bytes: Long = 4L * (mask + 1) + itemBytes + (if (index == null) 0L else index.bytes)

  /** For tests: throws if something that waits breaks an invariant. */
  def checkInvariants(tecs: Tecs, events: Events): Unit = {
    require(isEmpty || !first.isOver, "the first does not wait")
    require(waiting == all.count(!_.isOver) && itemBytes == all.map(_.bytes).sum, "what waits is counted wrongly")
    all.sliding(2).foreach {
      case Seq(a, b) =>
        require(a.deadline <= b.deadline, "deadlines decrease")
        require(a.owner < b.owner, "owners are not in order")
        require(a.start - b.start <= 0, "the oldest start goes back in time")
      case _ => ()
    }
    all.filterNot(_.isOver).foreach { item =>
      if (item.count == 0) {
        require(item.event - events.base >= 0 && item.event - events.top < 0, "the last event of a match is gone")
        require(item.start - events.base >= 0, "the events of a match that waits are gone")
      }
      item.foreachHead { (node, _) =>
        require(node == 0 || tecs.startsFrom(node, item.start), s"node $node waits and has no match")
      }
      if (index != null)
        require(
          item.ends.length == item.heads.length / 2 && item.ends.forall(_.length > 0),
          "a match waits without a run"
        )
    }
  }
}

private[evaluate] object Pending {
  private val Initial = 4

  private val NoHeads = new Array[Int](0)
  private val NoEnds = new Array[Array[Cell]](0)

  /** The matches with one last event.
    *
    * @param owner
    *   its place among all that began to wait in the evaluator
    * @param count
    *   the number of matches where they are only counted, otherwise 0
    * @param start
    *   the oldest event at which one of them may start
    * @param heads
    *   the node and the label of each head, in turn
    * @param ends
    *   the cells that the runs of each head end in, if it depends on them what an α is. A match that several runs find
    *   waits until none of them is left
    */
  final class Item(
      val deadline: Long,
      val owner: Long,
      val count: Long,
      val event: Int,
      val start: Int,
      var heads: Array[Int],
      var ends: Array[Array[Cell]]
  ) {
    var number = 0
    private var ended = false

    /** Does it not wait any longer? */
    def isOver: Boolean = ended || count == 0 && heads.length == 0

    def end(): Unit = {
      ended = true
      keep(NoHeads, NoEnds)
    }

    def keep(headsLeft: Array[Int], endsLeft: Array[Array[Cell]]): Unit = {
      heads = headsLeft
      ends = endsLeft
    }

    def foreachHead(f: (Int, Int) => Unit): Unit = {
      var i = 0
      while (i < heads.length) { f(heads(i), heads(i + 1)); i += 2 }
    }

    /** Removes the runs that end in such cells, and says whether there were any. */
    def removeIf(dead: Cell => Boolean): Boolean = {
      val some = ends.exists(_.exists(dead))
      if (some) {
        val cells = ends.map(_.filterNot(dead))
        val left = cells.indices.filter(cells(_).length > 0).toArray
        keep(left.flatMap(h => Array(heads(2 * h), heads(2 * h + 1))), left.map(cells(_)))
      }
      some
    }

    /** About what it took at first. */
    val bytes: Long = {
      val cells =
        if (ends == null) 0L else ends.iterator.flatten.map(c => c.registers.iterator.map(Content.bytes).sum + 48).sum
      80L + 4L * heads.length + cells
    }
  }

  /** Matches that are only counted. */
  def counted(deadline: Long, owner: Long, count: Long): Item =
    new Item(deadline, owner, count, 0, 0, NoHeads, null)
}
