package sparkcer.engine.automaton

import scala.collection.mutable

import sparkcer.engine.ceql.{Condition, Predicate}
import sparkcer.engine.ceql.Condition.{And, Holds, Or}

/** A fragment under a condition such as `x[p] OR y[q]`, as a product: beside its state a run remembers what is left of
  * the condition after the events so far. An event of `x` that fails `p` takes `x[p]` out of what is left; a run with
  * nothing left is dead, so every run that reaches the exit satisfies the condition. (Copies of the fragment, one for
  * each way to satisfy it, would be exponential in the number of disjunctions and give the same match more than once.)
  */
final private[automaton] class Disjunction(compiler: Compiler, fragment: Fragment, condition: Or) {
  private val steps = compiler.steps.drop(fragment.firstStep).groupBy(_.from)
  private val empties = compiler.empties.drop(fragment.firstEmpty).groupMap(_._1)(_._2)
  private val copies = mutable.Map.empty[(Int, Condition), Int]
  private val work = mutable.Queue.empty[(Int, Condition)]

  def result(): Fragment = {
    compiler.steps.takeInPlace(fragment.firstStep)
    compiler.empties.takeInPlace(fragment.firstEmpty)
    val entry = copy(fragment.entry, condition)
    val exit = compiler.fresh()
    while (work.nonEmpty) {
      val (state, left) = work.dequeue()
      val from = copies((state, left))
      if (state == fragment.exit) compiler.empties += ((from, exit))
      empties.getOrElse(state, Nil).foreach(to => compiler.empties += ((from, copy(to, left))))
      steps.getOrElse(state, Nil).foreach(take(from, left, _))
    }
    Fragment(entry, exit, fragment.firstStep, fragment.firstEmpty)
  }

  private def copy(state: Int, left: Condition): Int =
    copies.getOrElseUpdate((state, left), { work.enqueue((state, left)); compiler.fresh() })

  /** One step splits by which of the tests that concern its event hold. */
  private def take(from: Int, left: Condition, step: Step): Unit = {
    val tests = Disjunction.tests(left).filter(h => step.variables(h.variable.value)).map(_.predicate).distinct
    def split(rest: List[Predicate], guard: Option[Guard], left: Condition): Unit = rest match {
      case p :: more =>
        guard.foreach { g =>
          if (!g.fails(p)) split(more, Some(g.require(p)), left)
          if (!g.holds(p))
            Disjunction
              .without(left, h => step.variables(h.variable.value) && h.predicate == p)
              .foreach(split(more, Some(g.refuse(p)), _))
        }
      case Nil => compiler.add(step.copy(from = from, guard = guard, to = copy(step.to, left)))
    }
    split(tests.toList, step.guard, left)
  }
}

private[automaton] object Disjunction {

  /** The leaves. */
  private def tests(c: Condition): Vector[Holds] = c match {
    case h: Holds   => Vector(h)
    case And(parts) => parts.flatMap(tests)
    case Or(parts)  => parts.flatMap(tests)
  }

  /** What is left when the tests chosen are false; None if nothing can make it true any more. */
  private def without(c: Condition, failed: Holds => Boolean): Option[Condition] = c match {
    case h: Holds   => if (failed(h)) None else Some(h)
    case And(parts) =>
      val left = parts.map(without(_, failed))
      if (left.contains(None)) None else Some(And(left.flatten))
    case Or(parts) =>
      parts.flatMap(without(_, failed)) match {
        case Vector()    => None
        case Vector(one) => Some(one)
        case several     => Some(Or(several))
      }
  }

  /** Joins tests of one variable: `x[p] AND x[q]` is `x[p AND q]`, and, where x binds at most one event, `x[p] OR x[q]`
    * is `x[p OR q]`.
    */
  def simplify(c: Condition, atMostOnce: String => Boolean): Condition = {
    def gather(parts: Vector[Condition], word: String, may: String => Boolean): Vector[Condition] = {
      val (mergeable, others) = parts.partitionMap {
        case h: Holds if may(h.variable.value) => Left(h)
        case other                             => Right(other)
      }
      val names = mergeable.map(_.variable).distinct
      names.map(x => Holds(x, join(word, mergeable.filter(_.variable == x).map(_.predicate)))) ++ others
    }
    def one(parts: Vector[Condition], make: Vector[Condition] => Condition) =
      if (parts.length == 1) parts.head else make(parts)
    c match {
      case h: Holds   => h
      case And(parts) => one(gather(parts.map(simplify(_, atMostOnce)), "AND", _ => true), And)
      case Or(parts)  => one(gather(parts.map(simplify(_, atMostOnce)), "OR", atMostOnce), Or)
    }
  }

  /** The condition on a formula that binds exactly one event, whatever its variables are called, as one predicate. */
  def onOneEvent(c: Condition): Predicate = c match {
    case Holds(_, p) => p
    case And(parts)  => join("AND", parts.map(onOneEvent))
    case Or(parts)   => join("OR", parts.map(onOneEvent))
  }

  private def join(word: String, predicates: Vector[Predicate]): Predicate = predicates.distinct match {
    case Vector(one) => one
    case several     => Predicate(several.map(p => s"(${p.sql})").mkString(s" $word "))(several.head.offset)
  }
}
