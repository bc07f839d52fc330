package sparkcer.internal.output

import java.util.PriorityQueue

import sparkcer.engine.evaluate.Substream

/** The substreams in which matches wait for their deadline, by the first one of each: what `NO … FOR` at the end of a
  * query needs where many keys are read in the order of time.
  *
  * An entry is out of date as soon as its substream has another first deadline, or none; it is left out when it comes
  * first, or when there are many such. So an event costs the logarithm of the substreams that wait, and nothing if it
  * does not change the first deadline, and there are never many more entries than substreams that wait.
  */
final class Deadlines {
  private val entries = new PriorityQueue[Deadlines.Entry]

  /** Notes the first deadline of a substream, if it is new.
    *
    * @param of
    *   what [[poll]] returns for it
    */
  def note(of: Deadlines.Waiting): Unit = {
    val s = of.substream
    val due = s.deadline
    if (due != Long.MaxValue && (of.noted != s.owner || of.notedAt != due)) {
      of.noted = s.owner
      of.notedAt = due
      entries.add(new Deadlines.Entry(due, s.owner, of)): Unit
      if (entries.size > 2 * current + Deadlines.Slack) {
        entries.removeIf(!_.isCurrent): Unit
        current = entries.size
      }
    }
  }

  /** How many entries were not out of date when this was last asked of all. */
  private var current = 0

  /** How many entries there are, those included that are out of date, and about how many bytes they take. */
  def size: Int = entries.size
  def bytes: Long = 40L * entries.size

  /** The first of all deadlines, and `Long.MaxValue` if there is none. */
  def first: Long = {
    while (!entries.isEmpty && !entries.peek.isCurrent) entries.poll(): Unit
    if (entries.isEmpty) Long.MaxValue else entries.peek.deadline
  }

  /** Takes out what has the first deadline, of which there must be one. */
  def poll(): Deadlines.Waiting = entries.poll().of
}

object Deadlines {

  /** This many entries that are out of date never matter. */
  private val Slack = 64

  /** The owner of a substream whose first deadline is noted. */
  trait Waiting {
    def key: Array[Byte]
    def substream: Substream

    /** The deadline that was noted last, and its owner. An event has several where matches end in different ways. */
    private[output] var notedAt = 0L
    private[output] var noted = -1L
  }

  final private class Entry(val deadline: Long, val owner: Long, val of: Waiting) extends Comparable[Entry] {
    def isCurrent: Boolean = of.substream.deadline == deadline && of.substream.owner == owner

    def compareTo(other: Entry): Int = {
      val byTime = java.lang.Long.compare(deadline, other.deadline)
      if (byTime != 0) byTime else java.lang.Long.compare(owner, other.owner)
    }
  }
}
