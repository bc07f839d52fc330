package sparkcer.engine.automaton

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
) extends Product[Int](compiler, fragment) {
  import EndEvents._

  protected def initial: Int = NoneYet

  protected def mayLeave(seen: Int): Boolean = last.isEmpty || seen != More

  protected def take(from: Int, seen: Int, step: Step): Unit = {
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
