package sparkcer.engine.automaton

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkcer.engine.ceql.{CeqlException, Comparison}

/** From the valuation automaton that the [[Compiler]] has built to the [[Cea]]: a state gets the transitions of all
  * states that it reaches by empty steps, labels are reduced to the selected variables, and states that lead to no
  * match are removed.
  */
private[automaton] object WithoutEmptySteps {

  /** @param endings
    *   what must not come after matches; `absentBefore` is what must not have come before them
    * @param selected
    *   the variables that labels show
    * @param text
    *   the query, for messages
    */
  def apply(
      whole: Fragment,
      steps: collection.Seq[Step],
      empties: collection.Seq[Empty],
      comparisons: collection.Seq[Comparison],
      endings: collection.Seq[Ending[EventCondition]],
      absentBefore: collection.Seq[AbsentBefore[EventCondition]],
      selected: Set[String],
      text: String
  ): Cea = {
    val usable = steps.iterator.filter(s => s.condition.forall(_.satisfiable)).toVector
    val reached = reach(empties)
    val bySource = usable.groupBy(_.from)
    // The transitions of a state are those of all states that it reaches by empty steps.
    def leaving(q: Int): Iterator[(Step, Set[Int])] =
      reached(q).iterator.flatMap { case (p, resets) =>
        bySource.getOrElse(p, Vector.empty).iterator.map(s => (s, resets))
      }
    val ids = mutable.LinkedHashMap(whole.entry -> 0)
    val queue = mutable.Queue(whole.entry)
    val raw = ArrayBuffer.empty[(Int, Step, Set[Int])]
    while (queue.nonEmpty) {
      val q = queue.dequeue()
      leaving(q).foreach { case (s, resets) =>
        raw += ((q, s, resets))
        if (!ids.contains(s.to)) { ids(s.to) = ids.size; queue.enqueue(s.to) }
      }
      if (raw.length > Compiler.MaxTransitions) throw new CeqlException(text, 0, "CER_QUERY_TOO_LARGE.AUTOMATON")
    }
    val isFinal = ids.keysIterator.filter(q => reached(q).exists(_._1 == whole.exit)).toSet
    val alive = leadingTo(isFinal, raw.iterator.map { case (q, s, _) => (q, s.to) }.toVector)
    val kept = ids.keysIterator.filter(q => q == whole.entry || alive(q)).zipWithIndex.toMap
    val conditions = mutable.LinkedHashMap.empty[EventCondition, Int]
    val labels = mutable.LinkedHashMap(Set.empty[String] -> 0)
    def number(g: EventCondition): Int = conditions.getOrElseUpdate(g, conditions.size)
    def numbered(unless: Set[Unless[EventCondition]]): Set[Unless[Int]] =
      unless.filter(_.condition.satisfiable).map(u => Unless(number(u.condition), u.uses))
    val (transitions, notAfter) = raw.iterator
      .collect {
        case (q, s, resets) if kept.contains(q) && kept.contains(s.to) =>
          val condition = s.condition.fold(Cea.Always)(number)
          val label = labels.getOrElseUpdate(s.variables & selected, labels.size)
          val also = s.also.map(number)
          val unless = numbered(s.unless)
          (Cea.Transition(kept(q), condition, label, kept(s.to), also, s.uses, resets, unless), s.notAfter)
      }
      .distinct
      .to(ArraySeq)
      .unzip
    val after = endings.iterator.map(e => Ending(numbered(e.absent), e.length)).to(ArraySeq)
    val endingOf =
      for (q <- isFinal; number <- kept.get(q); ending <- endingAfter(reached(q).map(_._1), empties))
        yield number -> ending
    val before = absentBefore.iterator
      .map(b => AbsentBefore(b.conditions.filter(_.satisfiable).map(number), b.length))
      .to(ArraySeq)
    // The bits that say what came before stand behind those of all conditions.
    def began(i: Int) = notAfter(i).map(n => Unless[Int](conditions.size + n, Vector.empty))
    val cea = new Cea(
      kept.size,
      conditions.keysIterator.to(ArraySeq),
      labels.keysIterator.to(ArraySeq),
      transitions.indices.iterator
        .map(i => transitions(i).copy(unless = transitions(i).unless ++ began(i)))
        .to(ArraySeq),
      isFinal.flatMap(kept.get),
      comparisons.to(ArraySeq),
      after,
      endingOf.toMap,
      before
    )
    if (comparisons.isEmpty) Quotient(cea) else Separation(Quotient(Registers.withPlainResets(cea)))
  }

  /** For each state, itself and all states that it reaches by empty steps, with the comparisons that are reset on the
    * way. States and conditions are numbered in the order of these sets, and saved state has these numbers: the sets
    * must not get another order.
    */
  def reach(edges: collection.Seq[Empty]): Int => Set[(Int, Set[Int])] = {
    val next = edges.groupBy(_.from)
    val known = mutable.Map.empty[Int, Set[(Int, Set[Int])]]
    q =>
      known.getOrElseUpdate(
        q, {
          val start = (q, Set.empty[Int])
          val seen = mutable.LinkedHashSet(start)
          val work = mutable.Stack(start)
          while (work.nonEmpty) {
            val (p, resets) = work.pop()
            next.getOrElse(p, Nil).foreach { e =>
              val there = (e.to, resets ++ e.resets)
              if (seen.add(there)) work.push(there)
            }
          }
          seen.toSet
        }
      )
  }

  /** How a match ends in a final state, from which these states are reached. A state lies in one part that ends with
    * NO, or in none, so all its ways to the exit have the same ending.
    */
  private def endingAfter(reached: Set[Int], edges: collection.Seq[Empty]): Option[Int] =
    edges.find(e => e.ending.isDefined && reached(e.from)).flatMap(_.ending)

  private def leadingTo(goals: Set[Int], edges: Vector[(Int, Int)]): Set[Int] = {
    val before = edges.groupMap(_._2)(_._1)
    val seen = mutable.Set.from(goals)
    val work = mutable.Stack.from(goals)
    while (work.nonEmpty) before.getOrElse(work.pop(), Vector.empty).foreach(p => if (seen.add(p)) work.push(p))
    seen.toSet
  }
}
