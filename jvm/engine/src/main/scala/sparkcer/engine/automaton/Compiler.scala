package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.ceql.{CeqlException, Condition, Formula}

/** Formula → valuation automaton → CEA (003, Appendix A.1, with its `+` mended: a round may wait for its first event).
  *
  * A formula becomes a fragment with one entry and one exit, joined by empty steps; its transitions carry all the
  * variables that mark the event. `AS X` and a conjunct `X[P]` are then a change of the fragment's transitions, and a
  * disjunction is a product of the fragment with what is left of it ([[Disjunction]]). At the end empty steps are
  * removed, labels are projected to the selected variables, and states that lead nowhere are cut. Linear but for
  * disjunctions.
  */
object Compiler {

  /** @param text the query, for messages */
  def compile(formula: Formula, selected: Set[String], text: String): Cea = {
    val compiler = new Compiler(text)
    val whole = compiler.build(formula)
    compiler.finish(whole, selected)
  }

  /** Past this size the query is refused rather than compiled for minutes. */
  val MaxTransitions = 200000
}

/** Transitions of a fragment under construction. `guard` None steps over any event. */
final private[automaton] case class Step(from: Int, guard: Option[Guard], variables: Set[String], to: Int)

/** Entry and exit of the fragment that was built last, and where its transitions begin. */
final private[automaton] case class Fragment(entry: Int, exit: Int, firstStep: Int, firstEmpty: Int)

final private[automaton] class Compiler(text: String) {
  private var states = 0
  private[automaton] val steps = ArrayBuffer.empty[Step]
  private[automaton] val empties = ArrayBuffer.empty[(Int, Int)]

  private[automaton] def fresh(): Int = { states += 1; states - 1 }

  private[automaton] def add(step: Step): Unit = {
    steps += step
    if (steps.length > Compiler.MaxTransitions)
      throw new CeqlException(
        "CER_QUERY_TOO_LARGE",
        "the automaton of this query is too large; use fewer OR between different variables in one FILTER.",
        text,
        0
      )
  }

  private def build(formula: Formula): Fragment = {
    val firstStep = steps.length
    val firstEmpty = empties.length
    val entry = fresh()
    val exit = fresh()
    formula match {
      case a @ Formula.Atom(stream, eventType) =>
        add(Step(entry, Some(Guard(stream, eventType)), Set(a.variable), exit))
      case n @ Formula.Not(body) =>
        add(Step(entry, Some(negation(body, n.offset)), Set.empty, exit))
      case Formula.As(body, variable) =>
        inside(build(body), entry, exit)
        // An event marked by nothing (under NOT, or hidden by a projection) is in no V(Y), so it is not in V(X).
        change(firstStep)(s => if (s.variables.isEmpty) s else s.copy(variables = s.variables + variable.value))
      case Formula.Project(body, kept) =>
        inside(build(body), entry, exit)
        change(firstStep)(s => s.copy(variables = s.variables & kept))
      case Formula.Or(parts) =>
        parts.foreach(p => inside(build(p), entry, exit))
      case Formula.Sequence(parts)           => join(parts, entry, exit, skip = true)
      case Formula.Contiguous(parts)         => join(parts, entry, exit, skip = false)
      case Formula.Iterate(body, contiguous) =>
        val round = build(body)
        inside(round, entry, exit)
        empties += ((round.exit, between(round.entry, skip = !contiguous)))
      case Formula.Filter(body, condition) =>
        val (conjuncts, pushed) = Pushdown(body, condition, text)
        inside(build(pushed), entry, exit)
        val whole = Fragment(entry, exit, firstStep, firstEmpty)
        return conjuncts.foldLeft(whole)(filter)
    }
    Fragment(entry, exit, firstStep, firstEmpty)
  }

  /** A state before `next` that waits over any number of events if `skip`. */
  private def between(next: Int, skip: Boolean): Int = {
    val wait = fresh()
    if (skip) add(Step(wait, None, Set.empty, wait))
    empties += ((wait, next))
    wait
  }

  private def inside(part: Fragment, entry: Int, exit: Int): Unit = {
    empties += ((entry, part.entry))
    empties += ((part.exit, exit))
  }

  private def join(parts: Vector[Formula], entry: Int, exit: Int, skip: Boolean): Unit = {
    var before = -1
    parts.foreach { p =>
      val part = build(p)
      if (before < 0) empties += ((entry, part.entry))
      else empties += ((before, between(part.entry, skip)))
      before = part.exit
    }
    empties += ((before, exit))
  }

  private def change(from: Int)(f: Step => Step): Unit =
    (from until steps.length).foreach(i => steps(i) = f(steps(i)))

  private def filter(fragment: Fragment, condition: Condition): Fragment =
    Disjunction.simplify(condition, atMostOnce(fragment)) match {
      case Condition.Holds(x, p) =>
        change(fragment.firstStep) { s =>
          if (s.variables(x.value)) s.copy(guard = s.guard.map(_.require(p))) else s
        }
        fragment
      case Condition.And(parts) => parts.foldLeft(fragment)(filter)
      case or: Condition.Or     => new Disjunction(this, fragment, or).result()
    }

  /** Does every path through the fragment mark at most one event with the variable? */
  private def atMostOnce(fragment: Fragment)(variable: String): Boolean = {
    val next = mutable.Map.empty[Int, ArrayBuffer[(Int, Int)]]
    def edge(from: Int, to: Int, marks: Int): Unit = next.getOrElseUpdate(from, ArrayBuffer.empty) += ((to, marks))
    steps.iterator.drop(fragment.firstStep).foreach(s => edge(s.from, s.to, if (s.variables(variable)) 1 else 0))
    empties.iterator.drop(fragment.firstEmpty).foreach { case (from, to) => edge(from, to, 0) }
    val seen = mutable.Set((fragment.entry, 0))
    val work = mutable.Stack((fragment.entry, 0))
    var once = true
    while (work.nonEmpty && once) {
      val (q, n) = work.pop()
      next.getOrElse(q, ArrayBuffer.empty).foreach { case (to, marks) =>
        if (n + marks > 1) once = false
        else if (seen.add((to, n + marks))) work.push((to, n + marks))
      }
    }
    once
  }

  /** The guard of `NOT(α)`. */
  private def negation(body: Formula, offset: Int): Guard = {
    def atomic(f: Formula): (Formula.Atom, Set[String]) = f match {
      case a: Formula.Atom  => (a, Set(a.variable))
      case Formula.As(b, x) => val (a, names) = atomic(b); (a, names + x.value)
      case _                =>
        throw new CeqlException(
          "CER_UNSUPPORTED",
          "NOT takes one event type, perhaps with FILTER: NOT(BUY FILTER BUY[price > 20]).",
          text,
          offset
        )
    }
    body match {
      case Formula.Filter(inner, condition) =>
        val (atom, names) = atomic(inner)
        Pushdown.checkBound(condition, names, text)
        val guard = Guard(atom.stream, atom.eventType, negated = true)
        guard.require(Disjunction.onOneEvent(condition))
      case other => val (atom, _) = atomic(other); Guard(atom.stream, atom.eventType, negated = true)
    }
  }

  // From the valuation automaton to the CEA

  private def finish(whole: Fragment, selected: Set[String]): Cea = {
    val usable = steps.iterator.filter(_.guard.forall(_.satisfiable)).toVector
    val after = reach(empties)
    val bySource = usable.groupBy(_.from)
    // Without empty steps: a state is the target of a step, and its transitions are those of all states it reaches empty.
    def leaving(q: Int): Iterator[Step] = after(q).iterator.flatMap(p => bySource.getOrElse(p, Vector.empty))
    val ids = mutable.LinkedHashMap(whole.entry -> 0)
    val queue = mutable.Queue(whole.entry)
    val raw = ArrayBuffer.empty[(Int, Step)]
    while (queue.nonEmpty) {
      val q = queue.dequeue()
      leaving(q).foreach { s =>
        raw += ((q, s))
        if (!ids.contains(s.to)) { ids(s.to) = ids.size; queue.enqueue(s.to) }
      }
      if (raw.length > Compiler.MaxTransitions)
        throw new CeqlException("CER_QUERY_TOO_LARGE", "the automaton of this query is too large.", text, 0)
    }
    val isFinal = ids.keysIterator.filter(q => after(q).contains(whole.exit)).toSet
    val alive = leadingTo(isFinal, raw.iterator.map { case (q, s) => (q, s.to) }.toVector)
    val kept = ids.keysIterator.filter(q => q == whole.entry || alive(q)).zipWithIndex.toMap
    val guards = mutable.LinkedHashMap.empty[Guard, Int]
    val labels = mutable.LinkedHashMap(Set.empty[String] -> 0)
    val transitions = raw.iterator
      .collect {
        case (q, s) if kept.contains(q) && kept.contains(s.to) =>
          val guard = s.guard.fold(Cea.Always)(g => guards.getOrElseUpdate(g, guards.size))
          Cea.Transition(kept(q), guard, labels.getOrElseUpdate(s.variables & selected, labels.size), kept(s.to))
      }
      .distinct
      .to(ArraySeq)
    Quotient(
      new Cea(
        kept.size,
        guards.keysIterator.to(ArraySeq),
        labels.keysIterator.to(ArraySeq),
        transitions,
        isFinal.flatMap(kept.get)
      )
    )
  }

  /** For each state, itself and all it reaches by empty steps. */
  private def reach(edges: collection.Seq[(Int, Int)]): Int => Set[Int] = {
    val next = edges.groupMap(_._1)(_._2)
    val known = mutable.Map.empty[Int, Set[Int]]
    q =>
      known.getOrElseUpdate(
        q, {
          val seen = mutable.LinkedHashSet(q)
          val work = mutable.Stack(q)
          while (work.nonEmpty) next.getOrElse(work.pop(), Nil).foreach(p => if (seen.add(p)) work.push(p))
          seen.toSet
        }
      )
  }

  private def leadingTo(goals: Set[Int], edges: Vector[(Int, Int)]): Set[Int] = {
    val before = edges.groupMap(_._2)(_._1)
    val seen = mutable.Set.from(goals)
    val work = mutable.Stack.from(goals)
    while (work.nonEmpty) before.getOrElse(work.pop(), Vector.empty).foreach(p => if (seen.add(p)) work.push(p))
    seen.toSet
  }
}
