package sparkcer.benchmarks

import java.nio.file.Files

import org.apache.spark.sql.DataFrame

import sparkcer._

/** Sets of rules over the stock files. Each rule is about one name; `moving` of them are names that occur. */
object RulesBenchmark {

  /** Rules about names of the stream, and, beyond `moving`, about names that never occur. */
  private def rules(n: Int, moving: Int): Map[String, String] = (0 until n).map { i =>
    val name = if (i < moving) f"N$i%03d" else f"R$i%05d"
    s"r$i" -> (s"SELECT * FROM S WHERE (SELL AS a ; BUY AS b) FILTER a[name = '$name' AND volume > 2500] " +
      s"AND b[name = '$name' AND volume > 2500] PARTITION BY [name] WITHIN 10000 [stock_time]")
  }.toMap

  private def set(events: DataFrame, n: Int, moving: Int): DataFrame =
    events.cerRules(rules(n, moving), time = "stock_time")

  /** A hundred rules in one operator, against ten of them one after the other, times ten; and a thousand rules against
    * ten, where the same ten move.
    */
  def batch(run: SparkRun, files: StockFiles, rounds: Int): Vector[Bar] = {
    val events = files.batch(run.spark)
    val hundred = set(events, 100, 100)
    val alone = rules(100, 100).toVector.sortBy(_._1).take(10).map { case (_, q) => events.cer(q, time = "stock_time") }
    val (ten, thousand) = (set(events, 10, 10), set(events, 1000, 10))
    val times = Vector
      .fill(rounds + 1) {
        (run.batch(hundred).wall, alone.map(run.batch(_).wall).sum * 10, run.batch(ten).wall, run.batch(thousand).wall)
      }
      .drop(1)
    val (one, each, few, many) = (times.map(_._1).min, times.map(_._2).min, times.map(_._3).min, times.map(_._4).min)
    Vector(
      Bar(
        "100 rules in one operator",
        f"$each%.1f s for 100 queries in turn, $one%.2f s together",
        each / one,
        20,
        true
      ),
      Bar("1,000 rules, of which ten move", f"$few%.2f s for these ten, $many%.2f s", many / few, 1.5, false)
    )
  }

  /** A restart on a checkpoint with one of a thousand rules changed, against a restart of a single rule: from the call
    * that makes the query to the end of the first micro-batch. All rules have state; micro-batches are small, so that
    * what is measured is the start.
    */
  def restart(run: SparkRun): Vector[Bar] = {
    val files = StockFiles.temporary()
    files.write(run.spark, files = 2, perFile = 20000)
    def seconds(n: Int): Double = {
      val all = (0 until n).map { i =>
        s"r$i" -> (s"SELECT * FROM S WHERE (SELL AS a ; BUY AS b) FILTER a[name = '${f"N${i % 100}%03d"}' AND volume > $i] " +
          "AND b[volume > 1000000] PARTITION BY [name] WITHIN 10000 [stock_time]")
      }.toMap
      val checkpoint = Files.createTempDirectory("checkpoint")
      def micro(rules: Map[String, String]): Double = {
        val started = System.nanoTime()
        val query = files
          .stream(run.spark)
          .cerRules(rules, time = "stock_time")
          .writeStream
          .format("noop")
          .option("checkpointLocation", checkpoint.toString)
          .start()
        while (query.isActive && query.lastProgress == null) Thread.sleep(20)
        val took = (System.nanoTime() - started) / 1e9
        query.stop()
        query.exception.foreach(throw _)
        took
      }
      micro(all): Unit
      val again = micro(all + ("r0" -> all("r0").replace("1000000", "1000001")))
      SparkRun.delete(checkpoint)
      again
    }
    seconds(1): Unit
    val (one, thousand) = (seconds(1), seconds(1000))
    files.delete()
    Vector(
      Bar(
        "a restart with one of 1,000 rules changed",
        f"$one%.1f s for one rule, $thousand%.1f s",
        thousand - one,
        10,
        false
      )
    )
  }

  /** A micro-batch with a thousand rules against one with ten, where the same ten move. */
  def stream(run: SparkRun, files: StockFiles, rounds: Int): Vector[Bar] = {
    def seconds(n: Int) = run
      .stream(set(files.stream(run.spark), n, 10))
      .drop(2)
      .map(_.durationMs.get("triggerExecution").toDouble / 1e3)
    def median(s: Vector[Double]) = s.sorted.apply(s.length / 2)
    val all = Vector.fill(math.max(2, rounds / 2))((seconds(10), seconds(1000))).drop(1)
    val (few, many) = (median(all.flatMap(_._1)), median(all.flatMap(_._2)))
    Vector(Bar("1,000 rules on a stream", f"$few%.2f s a micro-batch for ten, $many%.2f s", many / few, 1.5, false))
  }
}
