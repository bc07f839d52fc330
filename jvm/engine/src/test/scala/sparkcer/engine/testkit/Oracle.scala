package sparkcer.engine.testkit

import sparkcer.engine.ceql._
import sparkcer.engine.ceql.Quantity.Number

/** The matches of a query by definition: every step below is a sentence of the language's definition, none looks at an
  * automaton.
  *
  *   1. PARTITION BY cuts the stream; an event with a NULL key is in no substream.
  *   1. WHERE gives the valuations of each substream ([[Valuations]]), SELECT projects them.
  *   1. WITHIN keeps those whose ends are near; an event whose window attribute is NULL starts and ends none. A match
  *      with a deadline ends there. Deadlines after `until` are not decided, and such matches do not come out.
  *   1. The strategy compares the marked positions of what is left and closes at the same point.
  *   1. DISTINCT shows matches that differ in their start only once, with the latest start.
  *   1. CONSUME BY: when a match closes, later ones start after that point.
  */
object Oracle {

  def matches(query: Query, stream: IndexedSeq[Event]): Set[Match] = matches(query, stream, lastTime(stream))

  /** @param until
    *   the time up to which all events are known
    */
  def matches(query: Query, stream: IndexedSeq[Event], until: BigDecimal): Set[Match] = {
    // By closing point, in the order of the whole stream: what closes may consume what others began.
    val closings = for {
      (key, positions) <- partition(query, stream).toVector
      events = positions.map(stream)
      all = new Valuations(events, query.within).of(query.where).map(_.project(selected(query)))
      near = all.filter(v => inWindow(query, events)(v) && v.deadline.forall(_ <= until))
      (point, closed) <- near.groupBy(v => closing(stream, positions(v.end), v.deadline))
    } yield (point, key, positions, closed)
    closings
      .sortBy(_._1)
      .foldLeft(State(Map.empty, Set.empty)) { case (state, (point, key, positions, closed)) =>
        val scope = if (query.consumeBy == Consume.Any) Vector.empty else key
        val fresh = closed.filter(v => positions(v.start) > state.consumed.getOrElse(scope, -1))
        val kept = distinct(query, strategy(query.select.strategy, fresh))
        val consumed =
          if (kept.nonEmpty && query.consumeBy != Consume.None) state.consumed + (scope -> point.after)
          else state.consumed
        State(consumed, state.found ++ kept.map(atInput(key, positions, _)))
      }
      .found
  }

  /** The largest time of all events. */
  private def lastTime(stream: IndexedSeq[Event]): BigDecimal =
    stream.map(_("t")).collect { case Value.Num(n) => n }.maxOption.getOrElse(0)

  /** A match closes at its last event, or at its deadline: a deadline comes after all events at that time or before,
    * and equal ones are in the order of the last events.
    *
    * @param after
    *   the last event that is not after it
    */
  final private case class Closing(after: Int, deadline: Option[BigDecimal], end: Int)

  implicit private val inOrder: Ordering[Closing] = Ordering.by(c => (c.after, c.deadline, c.end))

  private def closing(stream: IndexedSeq[Event], end: Int, deadline: Option[BigDecimal]): Closing = {
    def isBy(i: Int, deadline: BigDecimal) = stream(i)("t") match {
      case Value.Num(n) => n <= deadline
      case _            => false
    }
    Closing(deadline.fold(end)(d => stream.indices.filter(isBy(_, d)).max), deadline, end)
  }

  /** `SELECT COUNT(*)`: how many matches each event closes that closes any. */
  def counts(matches: Set[Match]): Map[Int, Long] =
    matches.groupBy(_.end).map { case (end, closed) => end -> closed.size.toLong }

  /** @param consumed
    *   by substream (one for all under ANY), the last event before a match closed, or the one that closed it
    */
  final private case class State(consumed: Map[Vector[Value], Int], found: Set[Match])

  /** The positions of each substream. */
  private def partition(query: Query, stream: IndexedSeq[Event]): Map[Vector[Value], Vector[Int]] = {
    def key(i: Int) = query.partitionBy.map(a => stream(i)(a.value))
    stream.indices.toVector.filterNot(i => key(i).contains(Value.Null)).groupBy(key)
  }

  private def atInput(key: Vector[Value], positions: Vector[Int], v: Valuation): Match =
    Match(key, positions(v.start), positions(v.end), v.bound.map { case (x, at) => x -> at.map(positions) }, v.deadline)

  /** `*` is every AS variable, and every event type that occurs outside any AS. What NOT or a projection hides is no
    * variable of the formula.
    */
  def selected(query: Query): Set[String] = {
    def starred(f: Formula, inAs: Boolean): Set[String] = f match {
      case a: Formula.Atom             => if (inAs) Set.empty else Set(a.variable)
      case Formula.As(body, x)         => starred(body, inAs = true) + x.value
      case Formula.Not(_)              => Set.empty
      case _: Formula.Absent           => Set.empty
      case Formula.Project(body, kept) => starred(body, inAs) & kept
      case other                       => other.children.flatMap(starred(_, inAs)).toSet
    }
    query.select.list match {
      case SelectList.All | SelectList.Count => starred(query.where, inAs = false)
      case SelectList.NoVariables            => Set.empty
      case SelectList.Variables(items)       => items.map(_.variable.value).toSet
      case _: SelectList.Columns             => SelectedVariables(query).toSet
    }
  }

  /** `V(end) - V(start) <= ε`, inclusive. */
  private def inWindow(query: Query, events: IndexedSeq[Event])(v: Valuation): Boolean = {
    def difference(attribute: String): Option[BigDecimal] =
      (events(v.start)(attribute), events(v.end)(attribute)) match {
        case (Value.Num(from), Value.Num(to)) => Some(to - from)
        case _                                => None
      }
    def untilDeadline(deadline: BigDecimal) = events(v.start)("t") match {
      case Value.Num(from) => query.within.forall(w => deadline - from <= Valuations.sizeOf(w)._2)
      case _               => false
    }
    if (v.deadline.isDefined) untilDeadline(v.deadline.get)
    else
      query.within match {
        // Deadlines are about times: an event without one starts and ends nothing.
        case None                                 => AbsenceAfter.of(query.where).isEmpty || difference("t").isDefined
        case Some(Window.Events(Number(n)))       => v.end - v.start <= n
        case Some(Window.Attribute(Number(n), a)) => difference(a.value).exists(_ <= n)
        case Some(Window.Duration(micros))        => difference("t").exists(_ * 1000000 <= micros)
        case Some(other) => throw new IllegalArgumentException(s"$other needs the value of its parameter")
      }
  }

  /** `C` is the set of marked positions. All given close at the same point of the same substream.
    *
    * | strategy     | keeps `C` when                          |
    * |:-------------|:----------------------------------------|
    * | `ALL`, `ANY` | always                                  |
    * | `STRICT`     | `C` has no gap                          |
    * | `NEXT`       | for every other `C'`: `min(C △ C') ∈ C` |
    * | `LAST`       | for every other `C'`: `max(C △ C') ∈ C` |
    * | `MAX`        | no `C'` is a proper superset            |
    */
  private def strategy(s: Strategy, all: Set[Valuation]): Set[Valuation] = {
    val sets = all.map(_.marked)
    def keeps(c: Set[Int]): Boolean = s match {
      case Strategy.All    => true
      case Strategy.Strict => c.isEmpty || c.max - c.min + 1 == c.size
      case Strategy.Next   => (sets - c).forall(other => c(difference(c, other).min))
      case Strategy.Last   => (sets - c).forall(other => c(difference(c, other).max))
      case Strategy.Max    => !(sets - c).exists(c.subsetOf)
    }
    val kept = sets.filter(keeps)
    all.filter(v => kept(v.marked))
  }

  private def difference(c: Set[Int], d: Set[Int]): Set[Int] = (c | d) -- (c & d)

  private def distinct(query: Query, all: Set[Valuation]): Set[Valuation] =
    if (query.select.distinct) all.groupBy(_.bound).values.map(_.maxBy(_.start)).toSet else all
}
