package sparkcer.engine.automaton

import sparkcer.engine.ceql.{CeqlException, Formula, Comparison, Term}

/** Translates PART-BY (chain-CEA, Section 3) to a comparison. */
private[automaton] object PartBy {

  def comparison(f: Formula.PartBy, text: String): Comparison = {
    f.keys.flatMap(_.variable).foreach(Pushdown.checkBound(_, f.body.variables, "PART-BY", text))
    if (f.keys.exists(_.variable.isEmpty)) {
      if (f.keys.length > 1)
        throw new CeqlException(text, f.offset, "CER_SYNTAX.PART_BY_LIST")
      Comparison.Same(Vector(Term(Comparison.Marked, f.keys.head.attribute)(f.keys.head.attribute)))(f.offset)
    } else {
      val names = f.keys.flatMap(_.variable.map(_.value)).toSet
      uncovered(f.body, names).headOption.foreach { a =>
        val column = f.keys.head.attribute
        throw new CeqlException(
          text,
          f.offset,
          "CER_SYNTAX.PART_BY_LEAVES_OUT",
          "variable" -> a.variable,
          "column" -> column
        )
      }
      val terms = f.keys.map { k =>
        val x = k.variable.get.value
        Term(x, k.attribute)(s"$x.${k.attribute}")
      }
      Comparison.Same(terms)(f.offset)
    }
  }

  /** The atoms whose events are bound to none of the variables. */
  private def uncovered(f: Formula, names: Set[String]): Vector[Formula.Atom] = f match {
    case a: Formula.Atom                    => if (names(a.variable)) Vector.empty else Vector(a)
    case Formula.As(_, x) if names(x.value) => Vector.empty
    case Formula.Not(_)                     => Vector.empty
    case Formula.Absent(_)                  => Vector.empty
    case other                              => other.children.flatMap(uncovered(_, names))
  }
}
