package sparkcer.engine.automaton

import scala.collection.immutable.ListSet
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.ceql.{CeqlException, Comparison, Comparisons, Condition, End, Ends, Formula, Quantity}

/** Compiles a formula to a [[Cea]] by way of a valuation automaton (CORE, Appendix A.1, with a correction for `+`: a
  * round may wait for its first event).
  *
  * A formula becomes a fragment with one entry and one exit, which takes at least one event; where a formula can also
  * match without any (`Formula.nullable`), those around it allow for that. Fragments are joined by empty steps, and
  * their transitions carry all the variables that the event is bound to. `AS X` and a conjunct `X[P]` then change the
  * transitions of the fragment, and a disjunction is a product of the fragment with what is left of the disjunction
  * ([[Disjunction]]). At the end empty steps are removed, labels are reduced to the selected variables, and states that
  * lead to no match are removed. The size is linear in the formula, except for disjunctions, ALL ([[Interleaving]]) and
  * the numbers of `{n,m}`: each round has its own copy.
  *
  * A comparison is evaluated on the transitions that bind its variables. It forgets earlier events where a run enters
  * the formula that the FILTER belongs to.
  */
object Compiler {

  /** @param text the query, for messages */
  def compile(formula: Formula, selected: Set[String], text: String): Cea = {
    val compiler = new Compiler(text)
    val whole = compiler.build(formula)
    import compiler.{absences, comparisons, empties, steps}
    WithoutEmptySteps(whole, steps, empties, comparisons, absences.endings, absences.absentBefore, selected, text)
  }

  /** A query with a larger automaton is refused, because compiling it could take minutes. */
  val MaxTransitions = 200000

  /** The bits of an Int, without its sign. */
  val MaxRoles = 31
  val MaxAbsentBefore = 31
}

final private[automaton] class Compiler(text: String) {
  private var states = 0
  private[automaton] val steps = ArrayBuffer.empty[Step]
  private[automaton] val empties = ArrayBuffer.empty[Empty]
  private val comparisons = ArrayBuffer.empty[Comparison]

  /** Adds a comparison of a FILTER or PART-BY, and returns its number. */
  private[automaton] def add(comparison: Comparison): Int = {
    if (ComparisonUse.roles(comparison).length > Compiler.MaxRoles)
      throw new CeqlException(
        text,
        0,
        "CER_QUERY_TOO_LARGE.COMPARED_VARIABLES",
        "most" -> Compiler.MaxRoles.toString,
        "comparison" -> comparison.show.take(100)
      )
    comparisons += comparison
    comparisons.length - 1
  }

  private[automaton] def fresh(): Int = { states += 1; states - 1 }

  private[automaton] def add(step: Step): Unit = {
    steps += step
    if (steps.length > Compiler.MaxTransitions) throw new CeqlException(text, 0, "CER_QUERY_TOO_LARGE.ALTERNATIVES")
  }

  private[automaton] def build(formula: Formula): Fragment = {
    val whole = Fragment(fresh(), fresh(), steps.length, empties.length)
    import whole.{entry, exit, firstStep}
    formula match {
      case a @ Formula.Atom(stream, eventType) =>
        add(Step(entry, Some(EventCondition(stream, eventType)), Set(a.variable), exit))
        whole
      case not: Formula.Not =>
        val conditions = negation(not)
        // In the order of the text, by which conditions are numbered.
        add(Step(entry, conditions.headOption, Set.empty, exit, conditions.tail.to(ListSet)))
        whole
      case Formula.As(body, variable) =>
        inside(build(body), entry, exit)
        // An event that is bound to no variable (under NOT, or hidden by a projection) is not bound to X either.
        change(firstStep)(s => if (s.variables.isEmpty) s else s.copy(variables = s.variables + variable.value))
        whole
      case Formula.Project(body, kept) =>
        inside(build(body), entry, exit)
        change(firstStep)(s => s.copy(variables = s.variables & kept))
        whole
      case Formula.Or(parts) =>
        parts.foreach(p => inside(build(p), entry, exit))
        whole
      case Formula.All(parts) =>
        inside(interleaved(parts), entry, exit)
        whole
      case p @ Formula.PartBy(body, _) =>
        val same = PartBy.comparison(p, text)
        inside(build(body), entry, exit)
        filter(whole, Condition.Compared(same))
      case Formula.Sequence(parts) =>
        join(parts, entry, exit, skip = true)
        whole
      case f: Formula.NoneBetween    => absences.between(f, whole)
      case f: Formula.Without        => absences.without(f, whole)
      case f: Formula.NoneAfter      => absences.after(f, whole)
      case f: Formula.NoneBefore     => absences.before(f, whole)
      case f: Formula.Absent         => throw new IllegalStateException(s"$f stands by itself")
      case Formula.Contiguous(parts) =>
        join(parts, entry, exit, skip = false)
        whole
      case Formula.Iterate(body, contiguous) =>
        val round = build(body)
        inside(round, entry, exit)
        empties += Empty(round.exit, between(round.entry, skip = !contiguous))
        whole
      case r: Formula.Repeat =>
        repeat(r, entry, exit)
        whole
      case w @ Formula.Within(body, size) =>
        val span = Comparison.Span(spans, size)(w.offset)
        spans += 1
        inside(build(body), entry, exit)
        val ends = new EndEvents(this, whole, _ => true, Some(span.first), Some(span.last)).result()
        filter(ends, Condition.Compared(span))
      case Formula.Filter(body, condition) =>
        val (conjuncts, pushed) = Pushdown(body, resolve(condition, body))
        inside(build(pushed), entry, exit)
        conjuncts.foldLeft(withEnds(whole, conjuncts))(filter)
    }
  }

  /** How many sub-windows there are. */
  private var spans = 0

  /** The fragment with the variables `first(x)` and `last(x)` that the conditions name. */
  private def withEnds(fragment: Fragment, conditions: Vector[Condition]): Fragment = {
    val named = conditions.flatMap(Condition.variables).flatMap(Ends.of(_)).distinct
    named.map(_._2).distinct.foldLeft(fragment) { (f, x) =>
      def name(end: End) = named.collectFirst { case (`end`, `x`) => Ends.name(end, x) }
      val (first, last) = (name(End.First), name(End.Last))
      if (atMostOnce(f)(x)) {
        change(f.firstStep)(s => if (s.binds(x)) s.copy(ends = s.ends ++ first ++ last) else s)
        f
      } else new EndEvents(this, f, _.binds(x), first, last).result()
    }
  }

  /** Conditions that are resolved. [[Pushdown]] moves them into formulas that know fewer names, so they must not be
    * resolved again there.
    */
  private val resolved = new java.util.IdentityHashMap[Condition, Unit]

  private[automaton] def resolve(condition: Condition, body: Formula): Condition =
    if (resolved.containsKey(condition)) condition
    else {
      Pushdown.checkBound(condition, body.variables, text)
      val result = Comparisons.resolve(condition, body, text)
      Pushdown.conjuncts(result).foreach(resolved.put(_, ()))
      result
    }

  private val negation = new Negation(text, resolve)
  private val absences = new AbsenceCompiler(this, text)

  /** A state before `next`, which waits for any number of events if `skip`, but for none that is forbidden. */
  private[automaton] def between(next: Int, skip: Boolean, unless: Set[Unless[EventCondition]] = Set.empty): Int = {
    val wait = fresh()
    if (skip) add(Step(wait, None, Set.empty, wait, unless = unless))
    empties += Empty(wait, next)
    wait
  }

  private[automaton] def inside(part: Fragment, entry: Int, exit: Int): Unit = {
    empties += Empty(entry, part.entry)
    empties += Empty(part.exit, exit)
  }

  /** Joins parts in a row. A part without events leaves no trace: the wait before it goes on in the wait after it,
    * there is no wait before the first part that takes an event, and none after the last one.
    */
  private def join(parts: Vector[Formula], entry: Int, exit: Int, skip: Boolean): Unit = {
    val obligatory = parts.map(!_.nullable)
    var before: Option[Fragment] = None
    var gap: Option[Int] = None // the wait before the part before this one
    parts.indices.foreach { i =>
      val part = build(parts(i))
      if (!obligatory.take(i).contains(true)) empties += Empty(entry, part.entry)
      before.foreach { b =>
        val wait = between(part.entry, skip)
        empties += Empty(b.exit, wait)
        if (!obligatory(i - 1)) gap.foreach(g => empties += Empty(g, wait))
        gap = Some(wait)
      }
      if (!obligatory.drop(i + 1).contains(true)) empties += Empty(part.exit, exit)
      before = Some(part)
    }
  }

  /** `φ{n,m}`: m copies of φ in a row, or n of which the last one loops, with an exit after n of them. Copies have the
    * same conditions, and the same comparisons too: each round begins with a reset.
    */
  private def repeat(r: Formula.Repeat, entry: Int, exit: Int): Unit = {
    val round = new Copied(build(r.body))
    val least = if (r.body.nullable) 0 else Quantity.whole(r.least)
    val most = r.most.map(Quantity.whole)
    val copies = most.getOrElse(math.max(1, least))
    if (copies.toLong * round.steps > Compiler.MaxTransitions)
      throw new CeqlException(text, r.offset, "CER_QUERY_TOO_LARGE.REPEATED")
    empties += Empty(entry, round.original.entry)
    var current = round.original
    for (n <- 1 to copies) {
      if (n >= least) empties += Empty(current.exit, exit)
      if (n < copies) {
        val next = round.copy()
        empties += Empty(current.exit, between(next.entry, skip = !r.contiguous))
        current = next
      }
    }
    if (most.isEmpty) empties += Empty(current.exit, between(current.entry, skip = !r.contiguous))
  }

  /** `φ ALL ψ ALL …`. A side that can be without events leaves the other one alone. */
  private def interleaved(parts: Vector[Formula]): Fragment =
    parts.indices.tail.foldLeft(build(parts.head)) { (done, i) =>
      val first = new Copied(done)
      val second = new Copied(build(parts(i)))
      val both = new Interleaving(this, done, second.original).result()
      if (parts(i).nullable) inside(first.copy(), both.entry, both.exit)
      if (parts.take(i).forall(_.nullable)) inside(second.copy(), both.entry, both.exit)
      both
    }

  /** The fragment that was built last, and copies of it with states of their own. */
  final private class Copied(val original: Fragment) {
    private val itsSteps = Compiler.this.steps.drop(original.firstStep).toVector
    private val itsEmpties = empties.drop(original.firstEmpty).toVector

    def steps: Int = itsSteps.length

    def copy(): Fragment = {
      val states = mutable.Map.empty[Int, Int]
      def own(q: Int): Int = states.getOrElseUpdate(q, fresh())
      itsSteps.foreach(s => add(s.copy(from = own(s.from), to = own(s.to))))
      itsEmpties.foreach(e => empties += e.copy(from = own(e.from), to = own(e.to)))
      original.copy(entry = own(original.entry), exit = own(original.exit))
    }
  }

  private[automaton] def change(from: Int)(f: Step => Step): Unit =
    (from until steps.length).foreach(i => steps(i) = f(steps(i)))

  private def filter(fragment: Fragment, condition: Condition): Fragment =
    Disjunction.simplify(condition, atMostOnce(fragment)) match {
      case Condition.Holds(x, p) =>
        change(fragment.firstStep) { s =>
          if (s.binds(x.value)) s.copy(condition = s.condition.map(_.require(p))) else s
        }
        fragment
      case Condition.Compared(comparison) =>
        val id = add(comparison)
        change(fragment.firstStep) { s =>
          val roles = s.roles(comparison)
          if (roles == 0) s else s.copy(uses = s.uses :+ ComparisonUse(id, roles, holds = true))
        }
        beginning(fragment, Set(id))
      case Condition.And(parts)                                                     => parts.foldLeft(fragment)(filter)
      case tracked @ (_: Condition.Or | _: Condition.Counted | _: Condition.Exists) =>
        new Disjunction(this, fragment, tracked).result()
      case c @ (_: Condition.Compare | _: Condition.OfEnd | _: Condition.Count | _: Condition.Extreme) =>
        throw new IllegalStateException(s"$c is not resolved")
    }

  /** The fragment with a new entry, at which the comparisons forget earlier events. */
  private[automaton] def beginning(fragment: Fragment, comparisons: Set[Int]): Fragment =
    if (comparisons.isEmpty) fragment
    else {
      val entry = fresh()
      empties += Empty(entry, fragment.entry, comparisons)
      fragment.copy(entry = entry)
    }

  /** Does every path through the fragment bind the variable to at most one event? */
  private[automaton] def atMostOnce(fragment: Fragment)(variable: String): Boolean = {
    val next = mutable.Map.empty[Int, ArrayBuffer[(Int, Int)]]
    def edge(from: Int, to: Int, marks: Int): Unit = next.getOrElseUpdate(from, ArrayBuffer.empty) += ((to, marks))
    steps.iterator.drop(fragment.firstStep).foreach(s => edge(s.from, s.to, if (s.binds(variable)) 1 else 0))
    empties.iterator.drop(fragment.firstEmpty).foreach(e => edge(e.from, e.to, 0))
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
}
