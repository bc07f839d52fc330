package sparkcer.benchmarks

/** One line of the benchmark's table: what was measured, against what, and the bar.
  *
  * @param isGoal
  *   whether the bar is one that is aimed at, and not held to
  */
final case class Bar(
    name: String,
    detail: String,
    figure: Double,
    bar: Double,
    atLeast: Boolean,
    isGoal: Boolean = false
) {
  private def reached = if (atLeast) figure >= bar else figure <= bar
  private def verdict = if (isGoal) "    " else if (reached) "PASS" else "MISS"
  private def kind = if (isGoal) s"goal, ${if (reached) "reached" else "not reached"}: " else ""

  override def toString: String =
    f"$verdict  $name%-34s $figure%8.2f  ($kind${if (atLeast) "at least" else "at most"} $bar%.2f)  $detail"
}

/** The queries, each with the plain Spark query that it is held against. */
object SparkQueries {
  private val Pattern = "SELECT * FROM S WHERE (SELL AS T1 ; BUY AS T2 ; BUY AS T3)"

  /** 1,000 ms: few matches; 30,000 ms: 0.73 matches an event. */
  def s3(window: Int): String =
    s"$Pattern FILTER T1[name = 'INTC'] AND T2[name = 'RIMM'] AND T3[name = 'QQQ'] WITHIN $window [stock_time]"

  def s3InTime(window: String): String =
    s"$Pattern FILTER T1[name = 'INTC'] AND T2[name = 'RIMM'] AND T3[name = 'QQQ'] WITHIN $window"

  val S3Filter = "type = 'SELL' AND name = 'INTC' OR type = 'BUY' AND name = 'RIMM' OR type = 'BUY' AND name = 'QQQ'"

  /** Nine events of ten take part. */
  def partitioned(window: Int): String =
    s"$Pattern FILTER T1[volume > 500] AND T2[volume > 500] AND T3[volume > 500] PARTITION BY [name] WITHIN $window [stock_time]"

  def partitionedInTime(window: String): String = partitioned(0).replace("WITHIN 0 [stock_time]", s"WITHIN $window")

  val PartitionedFilter = "type = 'SELL' AND volume > 500 OR type = 'BUY' AND volume > 500"

  /** A join of neighbours in the match, by two columns. */
  def joined(window: Int): String =
    s"SELECT * FROM S WHERE (SELL AS a ; BUY AS b) FILTER a.name = b.name AND a.volume = b.volume WITHIN $window [stock_time]"

  /** A cart that nobody pays for. */
  val Waiting: String = "SELECT c FROM S WHERE cart AS c ; NO pay FOR 1 hour PARTITION BY [cart]"

  /** Each cart is a key that stays, and each click of one gives a match. */
  val LiveKeys: String = "SELECT c FROM S WHERE cart AS c ; view AS v PARTITION BY [cart] WITHIN 10 hours"

  /** The state keeps every other event, and nothing matches. */
  val Growing: String =
    "SELECT * FROM S WHERE (SELL AS T1 ; BUY AS T2) FILTER T2[price < 0] PARTITION BY [name] WITHIN 1000000000000 [stock_time]"
}
