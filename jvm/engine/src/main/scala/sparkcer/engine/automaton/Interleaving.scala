package sparkcer.engine.automaton

import scala.collection.mutable

/** Compiles `φ ALL ψ` as a product of two fragments (chain-CEA, Section 3). Each of them has not begun, is running, or
  * is done. The first event begins one of them, the last event ends one, and in between every event is a step of each
  * one that is running. So the interval of a match covers those of both, and an event may be a step of both.
  */
final private[automaton] class Interleaving(compiler: Compiler, first: Fragment, second: Fragment) {
  import Interleaving._

  private val steps = compiler.steps.drop(first.firstStep).groupBy(_.from)
  private val empties = compiler.empties.drop(first.firstEmpty).groupBy(_.from)
  private val pairs = mutable.Map.empty[(Int, Int), Int]
  private val work = mutable.Queue.empty[(Int, Int)]

  def result(): Fragment = {
    compiler.steps.takeInPlace(first.firstStep)
    compiler.empties.takeInPlace(first.firstEmpty)
    val entry = pair(Before, Before)
    val exit = compiler.fresh()
    while (work.nonEmpty) {
      val (a, b) = work.dequeue()
      val from = pairs((a, b))
      if (a == Done && b == Done) compiler.empties += Empty(from, exit)
      withoutEvent(a, first).foreach { case (to, resets) => compiler.empties += Empty(from, pair(to, b), resets) }
      withoutEvent(b, second).foreach { case (to, resets) => compiler.empties += Empty(from, pair(a, to), resets) }
      // Events between the end of one and the beginning of the other are skipped.
      if (a == Before && b == Done || a == Done && b == Before) compiler.add(Step(from, None, Set.empty, from))
      else for (s <- moves(a); t <- moves(b) if s.isDefined || t.isDefined) both(from, a, s, b, t)
    }
    Fragment(entry, exit, first.firstStep, first.firstEmpty)
  }

  private def pair(a: Int, b: Int): Int = pairs.getOrElseUpdate((a, b), { work.enqueue((a, b)); compiler.fresh() })

  private def withoutEvent(state: Int, of: Fragment): Seq[(Int, Set[Int])] =
    if (state == Before) Seq((of.entry, Set.empty))
    else if (state == Done) Nil
    else
      empties.getOrElse(state, Nil).map(e => (e.to, e.resets)).toSeq ++
        (if (state == of.exit) Seq((Done, Set.empty[Int])) else Nil)

  /** The steps that a fragment can take with an event; None for one that has not begun or is done. */
  private def moves(state: Int): Iterable[Option[Step]] =
    if (state == Before || state == Done) Seq(None) else steps.getOrElse(state, Nil).map(Some(_))

  private def both(from: Int, a: Int, s: Option[Step], b: Int, t: Option[Step]): Unit = {
    val to = pair(s.fold(a)(_.to), t.fold(b)(_.to))
    val conditions = s.iterator.concat(t).flatMap(x => x.condition.iterator ++ x.also).toSet
    val (negated, positive) = conditions.partition(_.negated)
    def add(condition: Option[EventCondition], also: Set[EventCondition]): Unit =
      compiler.add(
        Step(
          from,
          condition,
          parts(s, t)(_.variables).flatten.toSet,
          to,
          also,
          parts(s, t)(_.uses).flatten.toVector,
          parts(s, t)(_.ends).flatten.toSet,
          parts(s, t)(_.unless).flatten.toSet
        )
      )
    if (positive.isEmpty) add(negated.headOption, negated.drop(1))
    else
      positive.map(Option(_)).reduce((g, h) => g.flatMap(x => h.flatMap(x.and))).foreach { condition =>
        // An event of another type meets the negated condition anyway.
        add(Some(condition), negated.filter(_.eventType == condition.eventType))
      }
  }

  private def parts[A](s: Option[Step], t: Option[Step])(f: Step => A): Seq[A] = (s ++ t).map(f).toSeq
}

private[automaton] object Interleaving {
  private val Before = -1
  private val Done = -2
}
