package sparkcer.engine.automaton

import sparkcer.engine.ceql.{Condition, Conjuncts, Comparisons, Comparison, SqlCondition}
import sparkcer.engine.ceql.Condition._

/** Compiles a fragment under a condition that depends on several events, such as `x[p] OR y[q]` or `count(x) >= 3`, as
  * a product: beside its state a run remembers what is left of the condition after the events so far. An event of `x`
  * that fails `p` removes `x[p]` from what is left, one that satisfies `p` fulfils `SOME x[p]`, and each event of `x`
  * lowers the numbers in what `count(x)` may be. A run with nothing left is dead, and a run leaves the fragment only if
  * what is left holds of no more events, so every run that leaves it satisfies the condition. (One copy of the fragment
  * for each way to satisfy the condition would be exponential in the number of disjunctions, and would find the same
  * match more than once.)
  *
  * A comparison is removed in the same way, by the event with which it fails: the step is split into one that requires
  * the comparison to hold and one that requires it to fail.
  */
final private[automaton] class Disjunction(compiler: Compiler, fragment: Fragment, condition: Condition)
    extends Product[Condition](compiler, fragment) {
  import Disjunction.{False, True}

  private val comparisons = Disjunction.comparisons(condition).map(l => l -> compiler.add(l)).toMap

  protected def initial: Condition = condition

  protected def mayLeave(left: Condition): Boolean = left.holdsOfNothing

  override def result(): Fragment = compiler.beginning(super.result(), comparisons.values.toSet)

  /** Splits a step by which of the conditions and comparisons that concern its event hold. */
  protected def take(from: Int, left: Condition, step: Step): Unit = {
    val conditions = Disjunction.conditions(left, step.binds)
    def split(rest: List[SqlCondition], condition: Option[EventCondition], left: Condition): Unit = rest match {
      case p :: more =>
        condition.foreach { g =>
          if (!g.fails(p))
            Disjunction.after(left)(satisfied(_, p)).foreach(split(more, Some(g.require(p)), _))
          if (!g.holds(p))
            Disjunction.after(left)(failed(_, p)).foreach(split(more, Some(g.refuse(p)), _))
        }
      case Nil =>
        between(Disjunction.comparisons(left).filter(step.roles(_) != 0).toList, step.copy(condition = condition), left)
    }
    def satisfied(leaf: Condition, p: SqlCondition): Condition = leaf match {
      case Exists(x, q) if step.binds(x.value) && q == p => True
      case other                                         => other
    }
    def failed(leaf: Condition, p: SqlCondition): Condition = leaf match {
      case Holds(x, q) if step.binds(x.value) && q == p => False
      case other                                        => other
    }
    def between(rest: List[Comparison], taken: Step, left: Condition): Unit = rest match {
      case comparison :: more =>
        def using(holds: Boolean) =
          taken.copy(uses = taken.uses :+ ComparisonUse(comparisons(comparison), step.roles(comparison), holds))
        between(more, using(holds = true), left)
        Disjunction.after(left)(l => if (l == Compared(comparison)) False else l).foreach { l =>
          // A comparison that is not in what is left need not be evaluated.
          between(more.filter(Disjunction.comparisons(l).contains), using(holds = false), l)
        }
      case Nil =>
        Disjunction.after(left)(counted).foreach(l => compiler.add(taken.copy(from = from, to = copy(step.to, l))))
    }
    def counted(leaf: Condition): Condition = leaf match {
      case Counted(x, least, most) if step.binds(x.value) =>
        if (most.contains(0)) False
        else if (least <= 1 && most.isEmpty) True
        else Counted(x, math.max(0, least - 1), most.map(_ - 1))
      case other => other
    }
    split(conditions.toList, step.condition, left)
  }
}

private[automaton] object Disjunction {

  /** What an event can make of a leaf of a condition: it is fulfilled for good, or it cannot hold any more. */
  private val True: Condition = And(Vector.empty)
  private val False: Condition = Or(Vector.empty)

  /** The conditions that are asked of an event of these variables, each once. */
  private def conditions(c: Condition, binds: String => Boolean): Vector[SqlCondition] = leaves(c).collect {
    case Holds(x, p) if binds(x.value)  => p
    case Exists(x, p) if binds(x.value) => p
  }.distinct

  private def comparisons(c: Condition): Vector[Comparison] = leaves(c).collect { case Compared(l) => l }.distinct

  private def leaves(c: Condition): Vector[Condition] = c match {
    case And(parts) => parts.flatMap(leaves)
    case Or(parts)  => parts.flatMap(leaves)
    case leaf       => Vector(leaf)
  }

  /** What is left of the condition with these verdicts on its leaves; None if it cannot become true any more. */
  private def after(c: Condition)(verdict: Condition => Condition): Option[Condition] = c match {
    case And(parts) =>
      val left = parts.map(after(_)(verdict))
      if (left.contains(None)) None else Some(And(left.flatten.filter(_ != True)))
    case Or(parts) =>
      val left = parts.flatMap(after(_)(verdict))
      if (left.contains(True)) Some(True)
      else
        left match {
          case Vector()    => None
          case Vector(one) => Some(one)
          case several     => Some(Or(several))
        }
    case leaf => Some(verdict(leaf)).filter(_ != False)
  }

  /** Joins conditions on one variable: `x[p] AND x[q]` is `x[p AND q]`, and, where x binds at most one event,
    * `x[p] OR x[q]` is `x[p OR q]`.
    */
  def simplify(c: Condition, atMostOnce: String => Boolean): Condition = {
    def gather(parts: Vector[Condition], word: String, may: String => Boolean): Vector[Condition] = {
      val (mergeable, others) = parts.partitionMap {
        case h: Holds if may(h.variable.value) => Left(h)
        case other                             => Right(other)
      }
      val names = mergeable.map(_.variable).distinct
      names.map(x => Holds(x, join(word, mergeable.filter(_.variable == x).map(_.condition)))) ++ others
    }
    def one(parts: Vector[Condition], make: Vector[Condition] => Condition) =
      if (parts.length == 1) parts.head else make(parts)
    c match {
      case And(parts) => one(gather(parts.map(simplify(_, atMostOnce)), "AND", _ => true), And)
      case Or(parts)  => one(gather(parts.map(simplify(_, atMostOnce)), "OR", atMostOnce), Or)
      case leaf       => leaf
    }
  }

  /** A condition on a formula that takes exactly one event, as a condition on that event. All variables are bound to
    * it, so a comparison compares the event with itself, and there is no event for PREV.
    */
  def onOneEvent(c: Condition): SqlCondition = c match {
    case Holds(_, p)                                       => p
    case And(parts)                                        => join("AND", parts.map(onOneEvent))
    case Or(parts) if parts.isEmpty                        => SqlCondition("FALSE")(0)
    case Or(parts)                                         => join("OR", parts.map(onOneEvent))
    case Compared(c @ Comparison.Pair(l, op, r))           => SqlCondition(s"${l.sql} ${op.sign} ${r.sql}")(c.offset)
    case Compared(e: Comparison.Expression) if !e.previous => SqlCondition(Comparisons.withoutVariables(e))(e.offset)
    case Compared(comparison)                              => SqlCondition("TRUE")(comparison.offset)
    case Exists(_, p)                                      => p
    case Counted(x, least, most) => SqlCondition(if (least <= 1 && !most.contains(0)) "TRUE" else "FALSE")(x.offset)
    case c @ (_: Compare | _: OfEnd | _: Count | _: Extreme) => throw new IllegalStateException(s"$c is not resolved")
  }

  private def join(word: String, conditions: Vector[SqlCondition]): SqlCondition = conditions.distinct match {
    case Vector(one) => one
    case several     =>
      SqlCondition(several.map(p => Conjuncts.closed(p.sql)).mkString(s" $word "))(several.head.offset)
  }
}
