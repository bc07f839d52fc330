package sparkcer.engine.testkit

/** A match as a test states it. Positions are those of the whole input, also under PARTITION BY. A variable without
  * events is left out.
  */
final case class Match(
    key: Vector[Value],
    start: Int,
    end: Int,
    bound: Map[String, Set[Int]],
    deadline: Option[BigDecimal] = None
) {

  /** `[0,4] x={0,2} y={4}`, after the key if there is one, and before the deadline if there is one: `@9`. */
  def show: String = {
    val prefix = if (key.isEmpty) "" else key.map(_.show).mkString("", ",", " ")
    val sets = bound.toVector.sortBy(_._1).map { case (x, at) => s" $x=${at.toVector.sorted.mkString("{", ",", "}")}" }
    s"$prefix[$start,$end]${sets.mkString}${deadline.fold("")(d => s" @${d.bigDecimal.toPlainString}")}"
  }
}

object Match {

  /** In order of the closing event, for people. */
  def show(matches: Iterable[Match]): Vector[String] =
    matches.toVector.sortBy(m => (m.end, m.start, m.show)).map(_.show)

  /** What to say of a run that found other matches. */
  def difference(found: Set[Match], right: Set[Match]): String =
    s"missing: ${show(right -- found).mkString("; ")}\n  wrong: ${show(found -- right).mkString("; ")}"
}
