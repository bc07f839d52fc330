package sparkcer.engine.testkit

import sparkcer.engine.ceql.{Comparison, Condition, End, Ends, Formula, Operand, PartKey, Quantity, Window}

/** `V = ([start,end], μ)`, perhaps with a deadline. A variable without positions is not in the map, so that equal
  * valuations are equal objects.
  */
final case class Valuation(start: Int, end: Int, bound: Map[String, Set[Int]], deadline: Option[BigDecimal] = None) {
  def apply(variable: String): Set[Int] = bound.getOrElse(variable, Set.empty)
  def marked: Set[Int] = bound.values.flatten.toSet

  def followedBy(later: Valuation): Valuation =
    if (isEmpty) later
    else if (later.isEmpty) this
    else Valuation(start, later.end, (bound.keySet ++ later.bound.keySet).map(x => x -> (apply(x) ++ later(x))).toMap)

  /** Is it the valuation without events, which has no interval? */
  def isEmpty: Boolean = this == Valuation.Empty

  /** The events of a variable, or the one of `first(x)` or `last(x)`. */
  def named(name: String): Set[Int] = Ends.of(name) match {
    case Some((End.First, x)) => apply(x).minOption.toSet
    case Some((End.Last, x))  => apply(x).maxOption.toSet
    case None                 => apply(name)
  }

  def project(kept: Set[String]): Valuation = copy(bound = bound.filter { case (x, _) => kept(x) })
}

object Valuation {
  val Empty: Valuation = Valuation(-1, -1, Map.empty)
}

/** `⟦φ⟧(S)`, by the table of the language's definition and nothing else. Exponential, as the sets are.
  *
  * | operator         | condition                                     | interval               | variables                    |
  * |:-----------------|:----------------------------------------------|:-----------------------|:-----------------------------|
  * | `R`, `S>R`       | type of event `i` (and its stream)            | `[i,i]`                | `V(R) = {i}`, `V(S>R) = {i}` |
  * | `φ AS X`         |                                               | of φ                   | `V(X)` = union of all `V(Y)` |
  * | `φ FILTER θ`     | `V ⊨ θ`                                       | same                   | same                         |
  * | `φ OR ψ`         | union of both sets                            |                        |                              |
  * | `φ ; ψ`          | `V1(end) < V2(start)`                         | `[V1(start), V2(end)]` | `V1(X) ∪ V2(X)`              |
  * | `φ : ψ`          | `V1(end) + 1 = V2(start)`                     | as `;`                 | as `;`                       |
  * | `φ+`, `φ:+`      | `φ` or `φ ; φ+`, `φ` or `φ : φ:+`             |                        |                              |
  * | `φ{n,m}`         | n to m rounds, joined by `;` or `:`           | of all rounds          | of all rounds                |
  * | `φ WITHIN d`     | time from its first to its last event         | of φ                   | of φ                         |
  * | `NOT(α)`         | event `i` is not matched by α                 | `[i,i]`                | none                         |
  * | `φ ALL ψ`        | both                                          | the hull of both       | `V1(X) ∪ V2(X)`              |
  * | `φ PART-BY`      | equal attributes                              | same                   | same                         |
  * | `φ ; NO α ; ψ`   | as `;`, and no event between is an α of `V1`  | as `;`                 | as `;`                       |
  * | `φ WITHOUT α`    | no unmarked event of the interval is an α     |                        |                              |
  * | `φ ; NO α FOR d` | no event after `V` until its deadline is an α | of φ                   | of φ                         |
  * | `NO α FOR d ; φ` | no event so long before `V` is an α           | of φ                   | of φ                         |
  * | `π_L(φ)`         |                                               | of φ                   | those of L stay              |
  */
final class Valuations(events: IndexedSeq[Event], within: Option[Window] = None) {
  import Valuations._

  def of(formula: Formula): Set[Valuation] = bounded(formula match {
    case a: Formula.Atom =>
      positions(e => e.eventType == a.eventType && a.stream.forall(_ == e.stream))
        .map(i => Valuation(i, i, Map(a.variable -> Set(i))))
    case Formula.As(body, x) =>
      of(body).map(v => if (v.marked.isEmpty) v else v.copy(bound = v.bound + (x.value -> v.marked)))
    case Formula.Filter(body, condition)   => of(body).filter(satisfies(_, condition, body.variables))
    case Formula.PartBy(body, keys)        => of(body).filter(agrees(_, keys))
    case Formula.All(parts)                => parts.map(of).reduce(both)
    case Formula.Or(parts)                 => parts.map(of).reduce(_ | _)
    case Formula.Sequence(parts)           => parts.map(of).reduce(join(_, _, skipping))
    case Formula.Contiguous(parts)         => parts.map(of).reduce(join(_, _, adjacent))
    case Formula.Iterate(body, contiguous) => iterate(of(body), if (contiguous) adjacent else skipping)
    case r: Formula.Repeat                 => repeat(r)
    case Formula.Within(body, window)      => of(body).filter(v => v.isEmpty || isWithin(v, window))
    case Formula.Not(body)                 =>
      val matched = of(body).map(_.start)
      events.indices.toSet.diff(matched).map(i => Valuation(i, i, Map.empty))
    case Formula.NoneBetween(before, absent, after) =>
      val (first, second) = (of(before), of(after))
      bounded(
        for (
          v <- first; w <- second
          if v.end < w.start && !(v.end + 1 until w.start).exists(isAbsent(_, v, absent, before))
        )
          yield v.followedBy(w)
      )
    case Formula.Without(body, absent) =>
      of(body).filter(v => v.isEmpty || !(v.start to v.end).filterNot(v.marked).exists(isAbsent(_, v, absent, body)))
    case Formula.NoneAfter(body, absent, length) =>
      for {
        v <- of(body)
        deadline <- deadline(v, length)
        if !(v.end + 1 until events.length).exists(k => isBy(k, deadline) && isAbsent(k, v, absent, body))
      } yield v.copy(deadline = Some(deadline))
    case Formula.NoneBefore(absent, length, body) =>
      of(body).filter(v =>
        v.isEmpty || !(0 until v.start)
          .exists(k => isNear(k, v.start, length) && isAbsent(k, Valuation.Empty, absent, absent.body))
      )
    case Formula.Project(body, kept) => of(body).map(_.project(kept))
    case other                       => throw new IllegalArgumentException(s"$other has no valuations by itself")
  })

  /** So long after the last event; without FOR, when the window is over that began with the first. */
  private def deadline(v: Valuation, length: Option[Window]): Option[BigDecimal] = {
    val (_, size) = sizeOf(length.orElse(within).get)
    for {
      from <- timeOf(if (length.isDefined) v.end else v.start)
      end <- timeOf(v.end)
      if end <= from + size
    } yield from + size
  }

  private def isNear(first: Int, last: Int, length: Window): Boolean =
    timeOf(first).exists(from => timeOf(last).exists(_ - from <= sizeOf(length)._2))

  private def timeOf(i: Int): Option[BigDecimal] = events(i)("t") match {
    case Value.Num(n) => Some(n)
    case _            => None
  }

  private def isBy(k: Int, deadline: BigDecimal): Boolean = timeOf(k).exists(_ <= deadline)

  /** Is event k an α of V, a valuation of `around`? Tests of α that name variables of V hold for every choice of their
    * events.
    */
  private def isAbsent(k: Int, v: Valuation, absent: Formula.Absent, around: Formula): Boolean = {
    def of(f: Formula): Set[Valuation] = f match {
      case a: Formula.Atom =>
        if (events(k).eventType == a.eventType && a.stream.forall(_ == events(k).stream))
          Set(Valuation(k, k, Map(a.variable -> Set(k))))
        else Set.empty
      case Formula.As(body, x)             => of(body).map(w => w.copy(bound = w.bound + (x.value -> Set(k))))
      case Formula.Or(parts)               => parts.map(of).reduce(_ | _)
      case Formula.Filter(body, condition) =>
        val own = body.variables
        of(body).filter { w =>
          val both = w.copy(bound = v.bound.filterNot { case (x, _) => own(x) } ++ w.bound)
          satisfies(both, condition, own ++ around.variables)
        }
      case other => throw new IllegalArgumentException(s"$other is not one event")
    }
    of(absent.body).nonEmpty
  }

  private def positions(is: Event => Boolean): Set[Int] = events.indices.filter(i => is(events(i))).toSet

  /** `φ{n,m}`: the union of `φ^k` for k from n to m, and the empty valuation if n is 0; if φ can be empty, n counts as 0.
    */
  private def repeat(r: Formula.Repeat): Set[Valuation] = {
    val round = of(r.body)
    val own = round - Valuation.Empty
    val may = if (r.contiguous) adjacent else skipping
    val least = if (round(Valuation.Empty)) 0 else Quantity.whole(r.least)
    val most = r.most.map(Quantity.whole)
    // More rounds than events cannot be.
    val powers = Iterator.iterate(own)(join(own, _, may)).take(math.min(most.getOrElse(Int.MaxValue), events.length))
    val several = powers.zip(Iterator.from(1)).filter(_._2 >= least).map(_._1).foldLeft(Set.empty[Valuation])(_ | _)
    bounded(if (least == 0) several + Valuation.Empty else several)
  }

  /** The difference of the times of the first and the last event, bound included; NULL is near to nothing. */
  private def isWithin(v: Valuation, window: Window): Boolean = {
    val (attribute, size) = sizeOf(window)
    (events(v.start)(attribute), events(v.end)(attribute)) match {
      case (Value.Num(from), Value.Num(to)) => to - from <= size
      case _                                => false
    }
  }

  /** `X[P]` asks P of every event of X, so it holds when there is none. AND and OR are on the whole valuation. With
    * PREV, each of P's conjuncts is asked for itself.
    */
  private def satisfies(v: Valuation, condition: Condition, bound: Set[String]): Boolean = condition match {
    case Condition.Holds(x, p) =>
      val tests = if (Sql.prefixes(p.sql)(Comparison.Prev)) Sql.conjuncts(p.sql) else Vector(p.sql)
      tests.forall(isTrue(v, x.value, _, bound))
    case Condition.Exists(x, p)     => v(x.value).exists(i => Sql.holds(p.sql, events(i)))
    case Condition.OfEnd(end, x, p) => v.named(Ends.name(end, x.value)).exists(i => Sql.holds(p.sql, events(i)))
    case Condition.Count(x, op, n)  => op.holds(v(x.value).size.compare(Quantity.whole(n)))
    case e: Condition.Extreme       => extreme(e, v)
    case c: Condition.Compare if Condition.variables(c).exists(x => Ends.of(x).isDefined && v.named(x).isEmpty) => false
    case Condition.Compare(left, operator, right)                                                               =>
      val names = (left.variables ++ right.variables).map(_.value).distinct
      def sql(o: Operand) = o.sql(a => s"v${names.indexOf(a.variable.value)}.${a.path}")
      choose(v, names).forall { chosen =>
        val row = Sql.Row(Sql.NoColumns, chosen.map { case (x, i) => s"v${names.indexOf(x)}" -> events(i) })
        Sql.compare(Sql.value(sql(left), row), operator.sign, Sql.value(sql(right), row))
      }
    case c @ (_: Condition.Compared | _: Condition.Counted) => throw new IllegalArgumentException(s"nobody writes $c")
    case Condition.And(parts)                               => parts.forall(satisfies(v, _, bound))
    case Condition.Or(parts)                                => parts.exists(satisfies(v, _, bound))
  }

  /** SQL's max or min of the values that are not NULL; without any it is NULL, and the condition does not hold. */
  private def extreme(e: Condition.Extreme, v: Valuation): Boolean = {
    val values = v(e.variable.value).toVector
      .map(i => Sql.value(e.argument.sql(_.path), Sql.Row(events(i))))
      .filter(_ != Value.Null)
    values.reduceOption((a, b) => if (Sql.compare(a, if (e.isMax) ">" else "<", b)) a else b).exists { value =>
      Sql.compare(value, e.operator.sign, Sql.value(e.bound.sql(_.path), Sql.Row(Sql.NoColumns)))
    }
  }

  /** Is the test true of every event of the variable? What names other variables is asked of every choice of one event
    * for each of them; PREV is the event of the variable before.
    */
  private def isTrue(v: Valuation, x: String, test: String, bound: Set[String]): Boolean = {
    val others = (Sql.prefixes(test) & bound) - x
    val own = v(x).toVector.sorted
    val choices =
      if (Sql.prefixes(test)(Comparison.Prev))
        own.zip(own.drop(1)).map { case (before, now) => (now, Map(Comparison.Prev -> before)) }
      else own.map(now => (now, Map.empty[String, Int]))
    choices.forall { case (now, previous) =>
      choose(v, others.toVector).forall { chosen =>
        val named = chosen ++ previous + (x -> now)
        Sql.holds(test, Sql.Row(events(now), named.view.mapValues(events).toMap))
      }
    }
  }

  /** One event for each of the variables, in every way. */
  private def choose(v: Valuation, names: Vector[String]): Vector[Map[String, Int]] =
    names.foldLeft(Vector(Map.empty[String, Int])) { (chosen, x) =>
      for (c <- chosen; i <- v.named(x).toVector) yield c + (x -> i)
    }

  /** `t_l(ai) = t_m(aj)` for all `l ∈ V(Xi)`, `m ∈ V(Xj)`. */
  private def agrees(v: Valuation, keys: Vector[PartKey]): Boolean = {
    val values = for (k <- keys; i <- k.variable.fold(v.marked)(x => v(x.value)).toVector) yield events(i)(k.attribute)
    values.forall(a => values.forall(b => Sql.compare(a, "=", b)))
  }

  private def both(first: Set[Valuation], second: Set[Valuation]): Set[Valuation] = bounded(
    for (v <- first; w <- second)
      yield
        if (v.isEmpty || w.isEmpty) v.followedBy(w)
        else v.followedBy(w).copy(start = math.min(v.start, w.start), end = math.max(v.end, w.end))
  )

  private def iterate(rounds: Set[Valuation], may: (Valuation, Valuation) => Boolean): Set[Valuation] = {
    val round = rounds - Valuation.Empty
    var all = rounds
    var newest = round
    while (newest.nonEmpty) {
      newest = join(round, newest, may) -- all
      all = bounded(all ++ newest)
    }
    all
  }

  private def join(first: Set[Valuation], second: Set[Valuation], may: (Valuation, Valuation) => Boolean) =
    bounded(for (v <- first; w <- second if v.isEmpty || w.isEmpty || may(v, w)) yield v.followedBy(w))

  private val skipping: (Valuation, Valuation) => Boolean = (v, w) => v.end < w.start
  private val adjacent: (Valuation, Valuation) => Boolean = (v, w) => v.end + 1 == w.start
}

object Valuations {

  /** Past this the definition is too slow to be of use in a test. */
  private val Most = 3000

  final class TooMany extends RuntimeException(s"a subformula has more than $Most valuations")

  /** The attribute that a window of time is about, and its length. */
  def sizeOf(window: Window): (String, BigDecimal) = window match {
    case Window.Attribute(Quantity.Number(n), a) => (a.value, n)
    case Window.Duration(micros)                 => ("t", BigDecimal(micros) / 1000000)
    case other                                   => throw new IllegalArgumentException(s"$other is no length of time")
  }

  private def bounded(set: Set[Valuation]): Set[Valuation] = if (set.size > Most) throw new TooMany else set
}
