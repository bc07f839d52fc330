package sparkcer.engine.ceql

/** The bounds of `{n,m}`: whole numbers, `n <= m`, `m >= 1`, and none so large that its automaton would be too large.
  */
private[ceql] object Bounds {

  /** An automaton has a copy of the pattern for each round up to the bound. */
  val Most = 1000

  /** Refuses bounds that are numbers and cannot be. A parameter is checked again when it has its value. */
  def check(r: Formula.Repeat, text: String): Unit = {
    def number(q: Quantity) = q match { case Quantity.Number(v) => Some(v); case _: Quantity.Parameter => None }
    val (least, most) = (number(r.least), r.most.flatMap(number))
    def fail(key: String, parameters: (String, String)*): Nothing =
      throw new CeqlException(text, r.offset, key, parameters: _*)
    def shown(n: BigDecimal) = n.bigDecimal.toPlainString
    if (most.exists(_ < 1)) fail("CER_SYNTAX.NO_ROUND")
    for (n <- least; m <- most if n > m) fail("CER_SYNTAX.ROUNDS_ORDER", "least" -> shown(n), "most" -> shown(m))
    (least ++ most).find(_ > Most).foreach { n =>
      fail("CER_QUERY_TOO_LARGE.ROUNDS", "rounds" -> shown(n), "most" -> Most.toString)
    }
  }
}
