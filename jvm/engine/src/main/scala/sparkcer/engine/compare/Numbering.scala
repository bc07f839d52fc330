package sparkcer.engine.compare

import sparkcer.engine.ceql.{Comparison, Term}

/** Numbers the terms and expressions of a program: all terms of its first comparison, then those of the second, and so
  * on.
  */
final class Numbering(comparisons: Seq[Comparison]) {
  val distinct: Vector[Comparison] = comparisons.distinct.toVector

  /** Each with the comparison it belongs to. */
  val terms: Vector[(Comparison, Term)] = distinct.flatMap(l => Numbering.terms(l).map(t => (l, t)))
  val expressions: Vector[Comparison.Expression] = distinct.collect { case e: Comparison.Expression => e }

  /** The number of the first term of a comparison. */
  def firstTerm(comparison: Comparison): Int = terms.indexWhere(_._1 == comparison)
  def expression(comparison: Comparison): Int = expressions.indexOf(comparison)
}

object Numbering {
  private def terms(comparison: Comparison): Vector[Term] = comparison match {
    case Comparison.Pair(left, _, right)        => Vector(left, right)
    case s: Comparison.Span                     => Vector(s.earliest, s.begin)
    case Comparison.Same(terms)                 => terms
    case Comparison.Consecutive(before, _, now) => Vector(before, now)
    case _: Comparison.Expression               => Vector.empty
  }
}
