package sparkcer.engine.evaluate

import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.automaton.Unless
import sparkcer.engine.compare.{Cell, Machine, Now}
import sparkcer.engine.evaluate.Pending.Item
import sparkcer.engine.state.Bytes

/** Finds the matches that wait and that an α takes away: those that end in its way, and by the values that it is
  * compared with. For each way in which an event can be an α, the first equality is looked up, so an α looks at the
  * last events that have a match with its value, however many others wait. Without an equality it looks at all.
  *
  * What does not wait any longer is removed from here when it is met, or when there is much of it.
  */
final private[evaluate] class PendingIndex(machine: Machine, now: Now) {
  private val endingOf = machine.endingOf
  private val ways =
    for ((ending, i) <- machine.cea.endings.toArray.zipWithIndex; unless <- ending.absent) yield new Way(unless, i)

  /** How many places it holds. */
  private var held = 0

  /** @param ending the number of the ending that it belongs to */
  final private class Way(val unless: Unless[Int], ending: Int) {
    private val equality = machine.equality(unless.uses)
    private val byValue = new java.util.HashMap[Bytes, ArrayBuffer[Item]]

    /** What is to be looked at for every value: the matches that are compared with nothing, or by no equality. */
    private val others = ArrayBuffer.empty[Item]

    def add(item: Item): Unit = for (cells <- item.ends; cell <- cells if endingOf(cell.state) == ending)
      equality match {
        case None                => put(others, item)
        case Some((register, _)) =>
          machine.content(cell, register) match {
            case null     => put(others, item)
            case v: Bytes => put(byValue.computeIfAbsent(v, _ => new ArrayBuffer[Item](1)), item)
            case _        => () // no value is equal to it
          }
      }

    private def put(list: ArrayBuffer[Item], item: Item): Unit =
      if (list.isEmpty || (list.last ne item)) { list += item; held += 1 }

    /** Removes the matches for which the current event is an α in this way. */
    def remove(changed: Item => Unit): Boolean = {
      val dead: Cell => Boolean = cell => endingOf(cell.state) == ending && machine.holds(unless.uses, cell, now)
      def from(list: ArrayBuffer[Item]): Boolean = {
        var some = false
        list.foreach(item => if (!item.isOver && item.removeIf(dead)) { some = true; changed(item) })
        // An event that is compared with nothing has taken away all that can be taken away in this way.
        if (unless.uses.isEmpty) { held -= list.length; list.clear() }
        else forgetOver(list)
        some
      }
      val compared = equality.flatMap { case (_, term) => Option(now.value(term)) }
      val same = compared.exists { v =>
        val list = byValue.get(v)
        list != null && {
          val some = from(list)
          if (list.isEmpty) byValue.remove(v)
          some
        }
      }
      from(others) || same
    }

    def forgetOver(): Unit = {
      forgetOver(others)
      byValue.values.forEach(forgetOver(_))
      byValue.values.removeIf(_.isEmpty): Unit
    }

    private def forgetOver(list: ArrayBuffer[Item]): Unit = {
      val before = list.length
      list.filterInPlace(!_.isOver)
      held -= before - list.length
    }
  }

  /** @param waiting how many wait, those included that are over */
  def add(item: Item, waiting: Int): Unit = {
    ways.foreach(_.add(item))
    if (held > PendingIndex.Slack + 2L * ways.length * waiting * math.max(1, item.ends.length))
      ways.foreach(_.forgetOver())
  }

  /** @param changed is told what has fewer matches than before */
  def remove(meets: Int => Boolean, changed: Item => Unit): Boolean = {
    var some = false
    ways.foreach(w => if (meets(w.unless.condition) && w.remove(changed)) some = true)
    some
  }

  def bytes: Long = 16L * held
}

private[evaluate] object PendingIndex {

  /** This many places of what is over never matter. */
  private val Slack = 64
}
