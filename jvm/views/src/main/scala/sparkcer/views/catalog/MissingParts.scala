package sparkcer.views.catalog

import sparkcer.views.statement.PartRange

/** The parts of a range that a source does not have: those before its first part, or else those after its newest. */
private[views] object MissingParts {
  def apply(source: Table, range: PartRange): Option[PartRange] = (source.first, source.newest) match {
    case (Some(a), Some(b)) =>
      if (range.first < a) Some(PartRange(range.first, range.last.min(a - 1)))
      else if (range.last > b) Some(PartRange(range.first.max(b + 1), range.last))
      else None
    case _ => Some(range)
  }
}
