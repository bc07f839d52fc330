package sparkcer.views.oracle

import org.apache.spark.sql.Row

/** The matches of a pattern in one group, by definition: a run takes rows greedily, and a row that does not fit is
  * tried as the start of a new run. A condition is a function of the rows that are bound so far and of the new row.
  */
final case class PatternOracle(variables: Vector[PatternOracle.Variable]) {
  private case class Run(state: Int, rows: Vector[Row], bound: Map[Int, Row])

  private def binds(v: Int, run: Option[Run], row: Row): Boolean =
    variables(v).condition(run.fold(Map.empty[Int, Row])(_.bound), row)

  private def step(run: Option[Run], row: Row): Option[Run] = {
    val on = run.flatMap { r =>
      val stay = if (variables(r.state - 1).plus && binds(r.state - 1, run, row)) Some(r.state) else None
      val advance = if (r.state < variables.length && binds(r.state, run, row)) Some(r.state + 1) else None
      stay.orElse(advance).map(s => Run(s, r.rows :+ row, r.bound + (s - 1 -> row)))
    }
    on.orElse(if (binds(0, None, row)) Some(Run(1, Vector(row), Map(0 -> row))) else None)
  }

  /** The rows of the match that ends in each part, if one does. */
  def matches(rows: Map[Long, Row], parts: Seq[Long]): Map[Long, Vector[Row]] = {
    var run: Option[Run] = None
    parts.flatMap { p =>
      run = rows.get(p).flatMap(step(run, _))
      run.filter(_.state == variables.length).map(p -> _.rows)
    }.toMap
  }
}

object PatternOracle {
  final case class Variable(plus: Boolean, condition: (Map[Int, Row], Row) => Boolean)
}
