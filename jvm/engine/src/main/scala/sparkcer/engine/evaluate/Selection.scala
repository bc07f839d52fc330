package sparkcer.engine.evaluate

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.ceql.Strategy

/** The second half of NEXT, LAST and MAX. The automaton has found candidates: for each start in the window, the matches
  * that no other match of the same start beats. This class selects those that no candidate of any start beats. Then it
  * applies DISTINCT: of matches that differ in their start only, it keeps the one that starts last.
  *
  * The cost is linear in the candidates for NEXT and LAST. MAX compares each candidate with the longer ones it keeps.
  * The selected matches are held in memory: for NEXT and LAST they share one set of events, for MAX and DISTINCT there
  * may be many.
  */
final private[evaluate] class Selection(cursor: Cursor, strategy: Strategy, distinct: Boolean) extends Matches {
  private var kept = Vector.empty[Selection.Match]
  private var at = -1

  /** Reads all candidates. */
  def select(): Unit = {
    kept = strategy match {
      case Strategy.Next => best((a, b) => Selection.earlier(a, b))
      case Strategy.Last => best((a, b) => Selection.later(a, b))
      case Strategy.Max  => maximal(all())
      case _             => all().toVector
    }
    if (distinct) kept = latestStarts(kept)
    at = -1
  }

  private def all(): ArrayBuffer[Selection.Match] = {
    val matches = ArrayBuffer.empty[Selection.Match]
    while (cursor.next()) matches += current()
    matches
  }

  private def best(order: (Matches, Selection.Match) => Int): Vector[Selection.Match] = {
    val ties = ArrayBuffer.empty[Selection.Match]
    while (cursor.next()) {
      val o = if (ties.isEmpty) 1 else order(cursor, ties.head)
      if (o > 0) ties.clear()
      if (o >= 0) ties += current()
    }
    ties.toVector
  }

  private def maximal(candidates: ArrayBuffer[Selection.Match]): Vector[Selection.Match] = {
    // A proper superset is longer, so it comes before its subsets.
    val keptSets = ArrayBuffer.empty[Array[Int]]
    // Sets of one length stay in the order of the candidates, which LIMIT relies on: it does not depend on how events
    // are numbered, as that of a hash table would.
    val byEvents = mutable.LinkedHashMap.empty[Seq[Int], ArrayBuffer[Selection.Match]]
    candidates.foreach(m => byEvents.getOrElseUpdate(m.events.toSeq, ArrayBuffer.empty) += m)
    byEvents.toVector
      .sortBy(-_._1.length)
      .iterator
      .filter { case (_, same) =>
        val events = same.head.events
        val beaten = keptSets.exists(k => k.length > events.length && Selection.contains(k, events))
        if (!beaten) keptSets += events
        !beaten
      }
      .flatMap(_._2)
      .toVector
  }

  private def latestStarts(matches: Vector[Selection.Match]): Vector[Selection.Match] = {
    val latest = mutable.LinkedHashMap.empty[(Seq[Int], Seq[Int]), Selection.Match]
    matches.foreach { m =>
      latest.updateWith((m.events.toSeq, m.labels.toSeq)) {
        case Some(other) if other.start - m.start >= 0 => Some(other)
        case _                                         => Some(m)
      }
    }
    latest.values.toVector
  }

  private def current(): Selection.Match = {
    val n = cursor.length
    new Selection.Match(cursor.start, Array.tabulate(n)(cursor.event), Array.tabulate(n)(cursor.label))
  }

  def next(): Boolean = { at += 1; at < kept.length }
  def start: Int = kept(at).start
  def end: Int = cursor.end
  def length: Int = kept(at).events.length
  def event(i: Int): Int = kept(at).events(i)
  def label(i: Int): Int = kept(at).labels(i)
}

private[evaluate] object Selection {

  /** Events from the last to the first, as in [[Matches]]. */
  final class Match(val start: Int, val events: Array[Int], val labels: Array[Int])

  /** Positive if the first event that only one of the two has is an event of `a`. */
  private def earlier(a: Matches, b: Match): Int = {
    var i = 1
    while (i <= a.length && i <= b.events.length) {
      val d = b.events(b.events.length - i) - a.event(a.length - i)
      if (d != 0) return d
      i += 1
    }
    a.length - b.events.length
  }

  /** Positive if the last event that only one of the two has is an event of `a`. */
  private def later(a: Matches, b: Match): Int = {
    var i = 0
    while (i < a.length && i < b.events.length) {
      val d = a.event(i) - b.events(i)
      if (d != 0) return d
      i += 1
    }
    a.length - b.events.length
  }

  /** Does `large` contain all of `small`? Both are in descending order. */
  private def contains(large: Array[Int], small: Array[Int]): Boolean = {
    var i = 0
    var j = 0
    while (i < large.length && j < small.length) {
      if (large(i) == small(j)) j += 1
      i += 1
    }
    j == small.length
  }
}
