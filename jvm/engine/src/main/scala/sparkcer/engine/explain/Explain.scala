package sparkcer.engine.explain

import scala.collection.mutable

import sparkcer.engine.automaton.Cea
import sparkcer.engine.ceql._
import sparkcer.engine.evaluate.Program

/** What a query will do, in words: for the user who wants to know before it runs, or why it is slow. */
object Explain {

  def apply(p: Program): String = {
    val parts = Vector(
      "Pattern" -> (Printer.print(p.query.where) +: negations(p.query.where)),
      "Output" -> output(p),
      "Conditions, each asked of an event once, by Spark" -> p.conditions.zipWithIndex.map { case (g, i) =>
        s"$i  ${g.show}"
      }.toVector,
      "Automaton" -> (automaton(p.cea) ++ Diagram.after(p))
    ) ++ (if (p.comparisons.isEmpty) None
          else Some("Comparisons between events" -> p.access.map { case (l, a) => s"${l.show}  ${a.text}" })) ++ Vector(
      "Events" -> Vector(dropping(p)),
      "Cost" -> costs(p)
    )
    parts.map { case (title, lines) => (title +: lines.map("  " + _)).mkString("\n") }.mkString("\n\n")
  }

  /** What NOT is often taken for, and is not. `NOT(A):+`, which has nothing but other events, is what it seems to be.
    */
  private def negations(f: Formula): Vector[String] = f match {
    case Formula.Iterate(_: Formula.Not, contiguous) if contiguous   => Vector.empty
    case r @ Formula.Repeat(_: Formula.Not, _, _, _) if r.contiguous => Vector.empty
    case not: Formula.Not                                            => Vector(negation(not))
    case other                                                       => other.children.flatMap(negations).distinct
  }

  private def negation(not: Formula.Not): String = {
    val types = not.body match {
      case a: Formula.Atom   => Vector(a)
      case Formula.Or(parts) => parts.collect { case a: Formula.Atom => a }
      case _                 => Vector.empty
    }
    val named = types.map(a => s"${if ("aeiouAEIOU".contains(a.eventType.head)) "an" else "a"} ${a.variable}")
    val (is, none) =
      if (types.isEmpty || types.length < not.body.children.length) ("not such an event", "such event")
      else if (types.length == 1) (s"not ${named.head}", types.head.variable)
      else (s"neither ${named.mkString(" nor ")}", types.map(_.variable).mkString(" or "))
    s"${Printer.print(not)} asks for one event that is $is; it does not mean that no $none comes. For that, write NO, such as A ; NO B ; C."
  }

  private def output(p: Program): Vector[String] = {
    val hidden = SelectedVariables.hidden(p.query)
    val columns =
      if (p.counts) Vector("the number of matches that an event closes")
      else if (p.shown.isEmpty) Vector("the interval alone")
      else p.shown.map(shown)
    val named =
      if (hidden.isEmpty) None
      else Some(s"${hidden.mkString(", ")}: not shown; matches that differ in their events are different matches")
    columns ++ named ++ p.query.having.map(h =>
      s"HAVING ${h.sql}: applied to each ${if (p.counts) "row" else "match"}, after everything else"
    )
  }

  private def shown(s: Program.Shown): String = s match {
    case Program.ShownMeasure(m)                 => s"${m.name.value}: ${m.sql}"
    case Program.ShownVariable(c, name, _, flat) =>
      val events = if (c.multiplicity.atMostOne) s"${c.multiplicity} event" else "many events, as an array"
      val of = if (name == c.variable) "" else s" of ${c.variable}"
      if (flat) s"${name}_…: each column of $events$of" else s"$name: $events$of"
  }

  private def automaton(a: Cea): Vector[String] =
    s"${count(a.states, "state")}, ${count(a.transitions.length, "transition")}: from -> to, the event it takes / the variables that get it" +:
      shortened(
        a.transitions
          .map(t => s"q${t.from} -> q${t.to}${if (a.finals(t.to)) " (match)" else ""}  ${Diagram.text(a, t)}")
          .toVector
      )

  /** Of the rounds of `A{500}` nobody reads all. */
  private def shortened(lines: Vector[String]): Vector[String] =
    if (lines.length <= MaxLines) lines else lines.take(MaxLines - 1) :+ s"… and ${lines.length - MaxLines + 1} more"

  private def dropping(p: Program): String =
    if (p.droppable) "an event that meets none of the conditions is dropped where it is read, before any shuffle"
    else {
      val why =
        if (p.countsEvents) "WITHIN counts events"
        else if (p.strategy == Strategy.Strict) "STRICT asks for neighbours"
        else "':', ':+' and ':{n,m}' ask for neighbours"
      s"every event is kept, because $why"
    }

  /** What can grow, and with what. */
  private def costs(p: Program): Vector[String] = {
    val iterates = p.query.where.subformulas.exists(takesSubsets)
    val matches = p.strategy match {
      case _ if p.counts && !p.selects && !p.distinct =>
        "matches are counted, not listed: their number does not matter"
      case Strategy.Next | Strategy.Last =>
        "an event closes one set of events at the most; finding it takes time linear in the starts in the window"
      case Strategy.Max =>
        "an event closes the maximal sets of events only; finding them takes time linear in the candidates, and quadratic where many are maximal"
      case _ if iterates && p.query.limit.isEmpty =>
        "an event can close exponentially many matches, up to 2^n for n events in the window, because '+' may take any subset of them: LIMIT, NEXT, LAST, MAX or COUNT(*) bound it"
      case _ if iterates =>
        "an event can close exponentially many matches, up to 2^n for n events in the window; LIMIT bounds what is listed"
      case _ =>
        freedom(p.query.where) match {
          case 0 => "an event closes one match at the most"
          case 1 => "an event can close as many matches as there are events in the window"
          case k => s"an event can close many matches, up to n^$k for n events in the window"
        }
    }
    val states =
      if (p.comparisons.nonEmpty || p.cea.endsApart)
        "one entry for each combination of values that comparisons between events may still need"
      else
        reachable(p) match {
          case Some(n) => s"the automaton has ${count(n, "determinized state")} at the most when it runs"
          case None    =>
            s"the automaton's determinized states can be exponential in its ${p.cea.states}: they are made as events ask for them, and the cache is bounded"
        }
    val window = p.query.within match {
      case None    => Vector("nothing leaves the state, because there is no WITHIN: it grows with the stream")
      case Some(_) => Vector.empty
    }
    val waiting = p.waits.map { length =>
      val compared =
        if (p.cea.comparesAfter) "; an event that must not come looks at those that it is compared with" else ""
      s"matches wait for ${Printer.print(length)}: one entry for each last event, whatever the number of its matches$compared"
    }
    val lookingBack = p.looksBack.distinct.map { length =>
      s"each key is kept for at least ${Printer.print(length)} after its last event, for events that must not have come: their last time is remembered, not the events"
    }
    Vector(matches, states) ++ rounds(p) ++ keptApart(p) ++ waiting ++ lookingBack ++ window
  }

  /** What a strategy cannot leave out before the deadline. */
  private def keptApart(p: Program): Option[String] =
    if (!p.selects || !p.cea.comparesAfter) None
    else
      Some(
        s"${p.strategy.word} leaves out at once what waits for the same as a better match; matches that NO compares by other values are kept until the deadline, and too many of them with one first event are an error"
      )

  /** Partial matches with different numbers of rounds are different states of the automaton. */
  private def rounds(p: Program): Option[String] = {
    val bounds = p.query.where.subformulas.collect { case r: Formula.Repeat =>
      Quantity.whole(r.most.getOrElse(r.least))
    }
    bounds.maxOption.filter(_ > 1).map { n =>
      s"an event of a repetition moves the partial matches of each number of rounds, up to $n" +
        (if (p.countsRuns) s"; counting matches takes up to $n times as much" else "")
    }
  }

  /** Can it take any subset of events? A `:+` over something rigid takes a run of neighbours. */
  private def takesSubsets(f: Formula): Boolean = f match {
    case Formula.Iterate(body, contiguous)   => !contiguous || freedom(body) > 0 || hasChoice(body)
    case r: Formula.Repeat if r.most.isEmpty => !r.contiguous || freedom(r.body) > 0 || hasChoice(r.body)
    case _                                   => false
  }

  /** An OR inside NOT is no choice: there is one way not to be any of them. */
  private def hasChoice(f: Formula): Boolean = f match {
    case _: Formula.Or | _: Formula.Iterate | _: Formula.Repeat => true
    case _: Formula.Not | _: Formula.Absent                     => false
    case other                                                  => other.children.exists(hasChoice)
  }

  /** How many of a match's events can be chosen once the last is known, where nothing takes subsets. */
  private def freedom(f: Formula): Int = f match {
    case _: Formula.Atom | _: Formula.Not => 0
    case _: Formula.Absent                => 0
    case b: Formula.NoneBetween           => freedom(b.before) + freedom(b.after) + 1
    case Formula.Or(parts)                => parts.map(freedom).max
    case Formula.Sequence(parts)          => parts.map(freedom).sum + parts.length - 1
    case Formula.All(parts)               => parts.map(freedom).sum + parts.length - 1
    case Formula.Iterate(body, _)         => freedom(body) + 1
    case r: Formula.Repeat                =>
      val rounds = r.most.fold(1)(Quantity.whole)
      rounds * freedom(r.body) + (if (r.contiguous) if (r.most.contains(r.least)) 0 else 1 else rounds - 1)
    case other => other.children.map(freedom).sum
  }

  /** How many determinized states any stream can reach, if they are few enough to try. */
  private def reachable(p: Program): Option[Int] = {
    val kinds = possibleEvents(p)
    val seen = mutable.HashSet(p.construction.initial.toSeq)
    val work = mutable.Queue(p.construction.initial)
    while (work.nonEmpty && kinds.isDefined && seen.size <= MaxStates) {
      val state = work.dequeue()
      for (passes <- kinds.get; move <- p.construction.moves(state, passes); next <- move.target)
        if (seen.add(next.toSeq)) work.enqueue(next)
    }
    if (kinds.isDefined && seen.size <= MaxStates) Some(seen.size) else None
  }

  /** The sets of conditions an event can pass: it has one type, and passes any of the conditions of its type. None if
    * they are many.
    */
  private def possibleEvents(p: Program): Option[Vector[Set[Int]]] = {
    val conditions = p.conditions.zipWithIndex
    val types = conditions.map { case (g, _) => (g.stream, g.eventType) }.distinct
    val others = conditions.collect { case (g, i) if g.negated => i }.toSet
    val sets = types.map { kind =>
      val own = conditions.collect { case (g, i) if (g.stream, g.eventType) == kind => i }.toSet
      if (own.size > MaxConditions) None else Some(own.subsets().map(_ ++ (others -- own)).toVector)
    }
    val before = p.cea.absentBefore.indices.map(p.conditions.length + _).toSet
    if (sets.contains(None) || before.size > MaxConditions) None
    else
      Some(
        (for (met <- others +: sets.flatMap(_.get); came <- before.subsets()) yield met ++ came).toVector.distinct
      )
  }

  private val MaxLines = 100
  private val MaxStates = 300
  private val MaxConditions = 6

  private def count(n: Int, one: String): String = s"$n $one${if (n == 1) "" else "s"}"
}
