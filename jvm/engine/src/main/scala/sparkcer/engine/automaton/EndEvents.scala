package sparkcer.engine.automaton

import scala.collection.mutable

/** Compiles a fragment in which the first and the last of certain events are variables by themselves: `first(x)` and
  * `last(x)` among the events of x, and the ends of a formula among all its events.
  *
  * It is a product: beside its state a run remembers whether no such event came yet, some came and more must come, or
  * the last one came. Whether an event is the last one is not known when it is read, so a run goes both ways, and the
  * wrong one dies: with a further event, or at the exit. A match takes the right way only, so none is found twice.
  *
  * @param among
  *   which steps are such events
  * @param first
  *   the variable that the first one gets, and `last` the one that the last one gets, where it is needed
  */
final private[automaton] class EndEvents(
    compiler: Compiler,
    fragment: Fragment,
    among: Step => Boolean,
    first: Option[String],
    last: Option[String]
) {
  import EndEvents._

  private val steps = compiler.steps.drop(fragment.firstStep).groupBy(_.from)
  private val empties = compiler.empties.drop(fragment.firstEmpty).groupBy(_.from)
  private val copies = mutable.Map.empty[(Int, Int), Int]
  private val work = mutable.Queue.empty[(Int, Int)]

  def result(): Fragment = {
    compiler.steps.takeInPlace(fragment.firstStep)
    compiler.empties.takeInPlace(fragment.firstEmpty)
    val entry = copy(fragment.entry, NoneYet)
    val exit = compiler.fresh()
    while (work.nonEmpty) {
      val (state, seen) = work.dequeue()
      val from = copies((state, seen))
      if (state == fragment.exit && (last.isEmpty || seen != More)) compiler.empties += Empty(from, exit)
      empties.getOrElse(state, Nil).foreach(e => compiler.empties += e.copy(from = from, to = copy(e.to, seen)))
      steps.getOrElse(state, Nil).foreach(take(from, seen, _))
    }
    fragment.copy(entry = entry, exit = exit)
  }

  private def copy(state: Int, seen: Int): Int =
    copies.getOrElseUpdate((state, seen), { work.enqueue((state, seen)); compiler.fresh() })

  private def take(from: Int, seen: Int, step: Step): Unit = {
    def add(to: Int, ends: Iterable[String]): Unit =
      compiler.add(step.copy(from = from, to = copy(step.to, to), ends = step.ends ++ ends))
    if (!among(step)) add(seen, Nil)
    else if (seen != Last) {
      val begins = if (seen == NoneYet) first else None
      add(More, begins)
      if (last.isDefined) add(Last, begins ++ last)
    }
  }
}

private object EndEvents {
  private val NoneYet = 0
  private val More = 1
  private val Last = 2
}
