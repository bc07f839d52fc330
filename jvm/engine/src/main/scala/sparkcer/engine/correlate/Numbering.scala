package sparkcer.engine.correlate

import sparkcer.engine.ceql.{Link, Term}

/** The terms and expressions of a program, numbered: all terms of its first link, then those of the second, and so on.
  */
final class Numbering(links: Seq[Link]) {
  val distinct: Vector[Link] = links.distinct.toVector

  /** Each with the link it belongs to. */
  val terms: Vector[(Link, Term)] = distinct.flatMap(l => Numbering.terms(l).map(t => (l, t)))
  val expressions: Vector[Link.Expression] = distinct.collect { case e: Link.Expression => e }

  /** The number of the first term of a link. */
  def firstTerm(link: Link): Int = terms.indexWhere(_._1 == link)
  def expression(link: Link): Int = expressions.indexOf(link)
}

object Numbering {
  private def terms(link: Link): Vector[Term] = link match {
    case Link.Compare(left, _, right)     => Vector(left, right)
    case Link.Same(terms)                 => terms
    case Link.Consecutive(before, _, now) => Vector(before, now)
    case _: Link.Expression               => Vector.empty
  }
}
