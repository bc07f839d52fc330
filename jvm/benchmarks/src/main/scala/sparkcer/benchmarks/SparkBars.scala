package sparkcer.benchmarks

/** One line of the benchmark's table: what was measured, against what, and the bar. */
final case class Bar(name: String, detail: String, figure: Double, bar: Double, atLeast: Boolean) {
  private def verdict = if (if (atLeast) figure >= bar else figure <= bar) "PASS" else "MISS"

  override def toString: String =
    f"$verdict  $name%-34s $figure%8.2f  (${if (atLeast) "at least" else "at most"} $bar%.2f)  $detail"
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

  val PartitionedFilter = "type = 'SELL' AND volume > 500 OR type = 'BUY' AND volume > 500"

  /** A join of neighbours in the match, by two columns. */
  def joined(window: Int): String =
    s"SELECT * FROM S WHERE (SELL AS a ; BUY AS b) FILTER a.name = b.name AND a.volume = b.volume WITHIN $window [stock_time]"

  /** A cart that nobody pays for. */
  val Waiting: String = "SELECT c FROM S WHERE cart AS c ; NO pay FOR 1 hour PARTITION BY [cart]"

  /** The state keeps every other event, and nothing matches. */
  val Growing: String =
    "SELECT * FROM S WHERE (SELL AS T1 ; BUY AS T2) FILTER T2[price < 0] PARTITION BY [name] WITHIN 1000000000000 [stock_time]"
}
