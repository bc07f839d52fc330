package sparkcer.engine.automaton

import scala.collection.immutable.ListSet
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.ceql.{CeqlException, Formula, Name, Printer}

/** The part of the [[Compiler]] for events that must not come: between two parts, among what a match passes over, after
  * a match and before one.
  *
  * @param text
  *   the query, for messages
  */
final private[automaton] class AbsenceCompiler(compiler: Compiler, text: String) {
  import compiler.{atMostOnce, beginning, build, change, empties, fresh, inside, steps}

  private val absence = new Absence(text, compiler.resolve)

  /** `φ ; NO α ; ψ`: a run that waits for ψ must not pass over an α. */
  def between(f: Formula.NoneBetween, whole: Fragment): Fragment = {
    Seq(f.before, f.after).find(_.nullable).foreach { part =>
      throw new CeqlException(text, f.absent.offset, "CER_ABSENCE.NEIGHBOUR", "part" -> Printer.print(part))
    }
    val before = build(f.before)
    val (unless, comparisons) = forbidden(absence(f.absent, Some(f.before)), before)
    val after = build(f.after)
    empties += Empty(whole.entry, before.entry)
    empties += Empty(before.exit, compiler.between(after.entry, skip = true, unless))
    empties += Empty(after.exit, whole.exit)
    beginning(whole, comparisons)
  }

  /** `φ WITHOUT α`: a run must not pass over an α. */
  def without(f: Formula.Without, whole: Fragment): Fragment = {
    val ways = absence(f.absent, Some(f.body))
    inside(build(f.body), whole.entry, whole.exit)
    ways.flatMap(w => w.others).foreach(boundBeforeGaps(_, whole))
    val (unless, comparisons) = forbidden(ways, whole)
    change(whole.firstStep)(s => if (s.variables.isEmpty) s.copy(unless = s.unless ++ unless) else s)
    beginning(whole, comparisons)
  }

  /** `φ ; NO α FOR d`: a match of φ remembers what an α is compared with. */
  def after(f: Formula.NoneAfter, whole: Fragment): Fragment = {
    val ways = absence(f.absent, Some(f.body))
    val body = build(f.body)
    empties += Empty(whole.entry, body.entry)
    val (unless, comparisons) = forbidden(ways, whole)
    val ending = Ending(unless, f.length.get)
    if (!endings.contains(ending)) endings += ending
    empties += Empty(body.exit, whole.exit, ending = Some(endings.indexOf(ending)))
    beginning(whole, comparisons)
  }

  /** What must not come after matches, each once. */
  val endings = ArrayBuffer.empty[Ending[EventCondition]]

  /** `NO α FOR d ; φ`: a run begins only where no α came. The same step may be taken again later in a run, as in `A+`,
    * so the first steps are copies.
    */
  def before(f: Formula.NoneBefore, whole: Fragment): Fragment = {
    // In the order of the text, by which conditions are numbered.
    val clause = AbsentBefore(absence(f.absent, None).map(_.condition).to(ListSet): Set[EventCondition], f.length)
    if (!absentBefore.contains(clause)) absentBefore += clause
    if (absentBefore.length > Compiler.MaxAbsentBefore)
      throw new CeqlException(
        text,
        f.absent.offset,
        "CER_QUERY_TOO_LARGE.BEFORE",
        "most" -> Compiler.MaxAbsentBefore.toString
      )
    val number = absentBefore.indexOf(clause)
    val body = build(f.body)
    val bySource = steps.drop(body.firstStep).groupBy(_.from)
    WithoutEmptySteps.reach(empties.drop(body.firstEmpty))(body.entry).groupMap(_._2)(_._1).foreach {
      case (resets, states) =>
        val entry = fresh()
        empties += Empty(whole.entry, entry, resets)
        states.foreach(q =>
          bySource.getOrElse(q, Nil).foreach(s => compiler.add(s.copy(from = entry, notAfter = s.notAfter + number)))
        )
    }
    empties += Empty(body.exit, whole.exit)
    whole
  }

  /** What must not come before a match, each once. */
  val absentBefore = ArrayBuffer.empty[AbsentBefore[EventCondition]]

  /** What no event may be, and the comparisons that were added for it. The events of the fragment are remembered for
    * them.
    */
  private def forbidden(ways: Vector[Absence.Way], fragment: Fragment): (Set[Unless[EventCondition]], Set[Int]) = {
    val numbered = ways.map(w => w -> w.comparisons.map(c => (c, compiler.add(c))))
    for ((way, comparisons) <- numbered; (comparison, id) <- comparisons)
      change(fragment.firstStep) { s =>
        val roles = s.roles(comparison) & ~way.roles(comparison)
        if (roles == 0) s else s.copy(uses = s.uses :+ ComparisonUse(id, roles, holds = true))
      }
    val unless = numbered.map { case (way, comparisons) =>
      Unless(way.condition, comparisons.map { case (c, id) => ComparisonUse(id, way.roles(c), holds = true) })
    }
    // In the order of the text, by which conditions are numbered.
    (unless.to(ListSet), numbered.flatMap(_._2.map(_._2)).toSet)
  }

  /** Refuses to compare what a run passes over with a variable that may not be bound yet, or may be bound once more: an
    * event that was no α could become one.
    */
  private def boundBeforeGaps(x: Name, fragment: Fragment): Unit = {
    val next = mutable.Map.empty[Int, ArrayBuffer[Int]]
    def edge(from: Int, to: Int): Unit = next.getOrElseUpdate(from, ArrayBuffer.empty) += to
    val itsSteps = steps.drop(fragment.firstStep)
    itsSteps.filterNot(_.binds(x.value)).foreach(s => edge(s.from, s.to))
    empties.iterator.drop(fragment.firstEmpty).foreach(e => edge(e.from, e.to))
    val unbound = mutable.Set(fragment.entry)
    val work = mutable.Stack(fragment.entry)
    while (work.nonEmpty) next.getOrElse(work.pop(), Nil).foreach(q => if (unbound.add(q)) work.push(q))
    val gapBefore = itsSteps.exists(s => s.variables.isEmpty && unbound(s.from))
    if (gapBefore || !atMostOnce(fragment)(x.value))
      throw new CeqlException(text, x.offset, "CER_ABSENCE.WITHOUT_VARIABLE", "name" -> x.value)
  }
}
