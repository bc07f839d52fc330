package sparkcer.benchmarks

import org.apache.spark.sql.DataFrame

/** Views in three ways, as in Section 7 of the ViewDF paper: recomputed by the plain query (naive), updated by
  * DataFrame code over known folders (hard-coded), and kept by [[sparkcer.views.Views]]. New rows are stored before the
  * clock starts; all ways write their result. The three take turns, and the best round counts.
  *
  * {{{
  * sbt "benchmarks/runMain sparkcer.benchmarks.ViewsBenchmark --rows 500000 --parts 60 --only view2|windows"
  * }}}
  */
object ViewsBenchmark {
  final private case class Options(
      rows: Int = 500000,
      windowRows: Int = 1000000,
      sweepRows: Int = 100000,
      parts: Int = 60,
      rounds: Int = 6,
      growth: Int = 10000,
      late: Int = 100,
      only: String = ".*"
  )

  /** Seconds of the best round, and rows read in the last one. */
  final private case class Times(naive: Double, hardCoded: Double, views: Double, naiveRows: Long, viewRows: Long) {
    def told: String = f"naive $naive%6.2f s, hard-coded $hardCoded%5.2f s, ViewDF $views%5.2f s"
  }

  def main(args: Array[String]): Unit = {
    val options = read(args.toList, Options())
    val run = new SparkRun(2)
    try {
      val brief = options.copy(rounds = options.rounds / 2)
      val sections = Vector[(String, () => Vector[Bar])](
        "view2" -> (() => on(run, options.rows, Few, options.parts)(view2(run, options, _))),
        "windows" -> (() => on(run, options.windowRows, Few, options.parts)(windows(run, options, _))),
        "sweep-size" -> (() => sweepSize(run, brief)),
        "sweep-scope" -> (() => sweepScope(run, brief)),
        "sweep-selectivity" -> (() => sweepSelectivity(run, brief)),
        "sweep-window" -> (() => sweepWindow(run, brief)),
        "growth" -> (() => growth(run, options)),
        "late" -> (() => late(run, options))
      ).filter(_._1.matches(options.only))
      val bars = sections.flatMap { case (_, measure) => measure() }
      if (bars.nonEmpty) {
        println("\nAll in one table:")
        bars.foreach(println)
      }
    } finally run.stop()
  }

  /** Percent of high rows, as in the paper. */
  private val Few = 10

  private def view2(run: SparkRun, o: Options, table: LossTable): Vector[Bar] = {
    val t = measure(table, new LossRuns(run.spark, table, translated = false), o.rounds, scope = None)
    Vector(
      Bar(s"View2 after ${o.parts} parts: time", s"${t.told}; naive / ViewDF", t.naive / t.views, 10, atLeast = true),
      Bar(
        s"View2 after ${o.parts} parts: rows read",
        f"naive ${t.naiveRows}%d, ViewDF ${t.viewRows}%d",
        t.naiveRows.toDouble / t.viewRows,
        10,
        atLeast = true
      ),
      Bar("View2: ViewDF / hard-coded", t.told, t.views / t.hardCoded, 1.2, atLeast = false)
    ).map(told)
  }

  private def windows(run: SparkRun, o: Options, table: LossTable): Vector[Bar] =
    window(o, "MAX", table, new WindowMax(run.spark, table, o.parts)) ++
      window(o, "SUM", table, new WindowSum(run.spark, table, o.parts))

  private def window(o: Options, name: String, table: LossTable, ways: ViewWays): Vector[Bar] = {
    val t = measure(table, ways, o.rounds, scope = None)
    Vector(
      Bar(s"$name, window of ${o.parts}: time", s"${t.told}; naive / ViewDF", t.naive / t.views, 5, atLeast = true),
      Bar(s"$name: ViewDF / hard-coded", t.told, t.views / t.hardCoded, 1.2, atLeast = false)
    ).map(told)
  }

  private def told(b: Bar): Bar = { println(b); b }

  private def sweepSize(run: SparkRun, o: Options): Vector[Bar] =
    sweep("Pattern by rows a part (scope 20)", Seq(o.sweepRows / 4, o.sweepRows / 2, o.sweepRows, o.sweepRows * 2)) {
      n =>
        pattern(run, n, 10, 20, o)
    }

  private def sweepScope(run: SparkRun, o: Options): Vector[Bar] =
    sweep("Pattern by scope of naive", Seq(5, 20, 60))(pattern(run, o.sweepRows, 10, _, o))

  private def sweepSelectivity(run: SparkRun, o: Options): Vector[Bar] =
    sweep("Pattern by percent of high rows (scope 4)", Seq(10, 50, 100))(pattern(run, o.sweepRows, _, 4, o))

  private def sweepWindow(run: SparkRun, o: Options): Vector[Bar] = {
    def times(w: Int, way: LossTable => ViewWays) = on(run, o.sweepRows, Few, w) { t =>
      measure(t, way(t), o.rounds, None)
    }
    val sizes = Seq(5, 20, 60)
    sweep("MAX by window", sizes)(w => times(w, new WindowMax(run.spark, _, w))) ++
      sweep("SUM by window", sizes)(w => times(w, new WindowSum(run.spark, _, w)))
  }

  /** Updates of views of 10 parts, ten times as many, and so on. They take turns, so that the load of the machine and
    * the compiler of Java change the times of all of them, and medians are compared.
    */
  private def growth(run: SparkRun, o: Options): Vector[Bar] = {
    val sizes = Iterator.iterate(10)(_ * 10).takeWhile(_ <= o.growth).toVector
    val tables = sizes.map(new ViewsGrowth(run.spark, _))
    try {
      (1 to 10).foreach(_ => tables.foreach(_.update()))
      val rounds = Vector.fill(o.rounds * 4)(tables.map(_.update()))
      println("\nOne update by the number of parts (append, maintain)")
      val totals = tables.indices.toVector.map { n =>
        val (append, maintain) = (median(rounds.map(_(n)._1)), median(rounds.map(_(n)._2)))
        val slowest = rounds.map(_(n)).map { case (a, m) => a + m }.max
        println(
          f"  ${sizes(n)}%7d: append ${append * 1000}%5.0f ms, maintain ${maintain * 1000}%5.0f ms, slowest of both ${slowest * 1000}%5.0f ms"
        )
        median(rounds.map(_(n)).map { case (a, m) => a + m })
      }
      tables.head.check()
      def reads() = Vector("M", "Runs").map(name => Vector.fill(3)(tables.last.read(name)))
      val plain = reads()
      tables.last.rollUp()
      val rolled = reads()
      def all(times: Vector[Double]) = times.map(t => f"$t%.2f s").mkString(", ")
      def bar(what: String, times: Vector[Double]) = Bar(what, all(times), median(times), 5, atLeast = false)
      val parts = s"${o.growth} parts"
      Vector(
        Bar(
          s"Update of a view of $parts / of 10",
          totals.map(t => f"${t * 1000}%.0f ms").mkString(", "),
          totals.last / totals.head,
          1.5,
          atLeast = false
        ),
        bar(s"Read a table of $parts as they were written, seconds", plain(0)),
        bar(s"Read a view of $parts as they were written, seconds", plain(1)),
        bar(s"Read a table of $parts, rolled up, seconds", rolled(0)),
        bar(s"Read a view of $parts, rolled up, seconds", rolled(1))
      ).map(told)
    } finally tables.foreach(_.delete())
  }

  /** A late row in a window of sums. */
  private def late(run: SparkRun, o: Options): Vector[Bar] = {
    val table = new ViewsLate(run.spark, o.late + 1, window = 10)
    try {
      def one(updates: Vector[Map[String, Vector[Double]]], view: String) = median(updates.flatMap(_(view)))
      (1 to o.rounds).foreach(_ => table.update())
      val updates = Vector.fill(o.rounds * 4)(table.update())
      println("\nOne update of a sum over a window, ms")
      println(f"  prefix sums: helper view ${one(updates, "Prefix_helper")}%.0f, view ${one(updates, "Prefix")}%.0f")
      println(f"  the same view with a third part, for sums that begin anew: ${one(updates, "Third")}%.0f")
      println(f"  sums of panes: helper view ${one(updates, "Panes_helper")}%.0f, view ${one(updates, "Panes")}%.0f")
      println(s"\nA late row in a sum over ${table.window} minutes, by the number of parts after it")
      table.late(o.late / 10): Unit
      Seq(o.late / 10, o.late / 3, o.late).foreach { n =>
        val done = table.late(n)
        def told(name: String) = {
          val ms = done(name) ++ done(s"${name}_helper")
          f"${ms.length}%4d parts, ${ms.sum / 1000}%6.2f s"
        }
        println(f"  $n%7d: prefix sums ${told("Prefix")}, sums of panes ${told("Panes")}")
      }
      Vector.empty
    } finally table.delete()
  }

  private def median(times: Vector[Double]): Double = times.sorted.apply(times.length / 2)

  private def pattern(run: SparkRun, rows: Int, high: Int, scope: Int, o: Options): Times =
    on(run, rows, high, scope)(t => measure(t, new LossRuns(run.spark, t, translated = true), o.rounds, Some(scope)))

  private def on[A](run: SparkRun, rows: Int, high: Int, parts: Int)(body: LossTable => A): A = {
    val table = new LossTable(run.spark, rows.toLong, high)
    table.arrive(parts)
    try body(table)
    finally table.delete()
  }

  private def sweep(title: String, values: Seq[Int])(measure: Int => Times): Vector[Bar] = {
    println(s"\n$title")
    values.foreach { v =>
      val t = measure(v)
      println(
        f"  $v%7d: ${t.told}; naive / ViewDF ${t.naive / t.views}%6.2f, ViewDF / hard-coded ${t.views / t.hardCoded}%5.2f"
      )
    }
    Vector.empty
  }

  /** @param scope
    *   the parts that naive reads, if not all; then the views start with the last part, and rows are not compared
    */
  private def measure(table: LossTable, ways: ViewWays, rounds: Int, scope: Option[Int]): Times = {
    val first = if (scope.isEmpty) 0 else table.next - 1
    // A window of the last parts is complete with the next one.
    ways.begin(backfill = scope.isEmpty)
    (first until table.next).foreach(i => ways.hardCoded(i, i == first))
    var read = 0L
    val times = Vector
      .fill(rounds + Warming) {
        val i = table.next
        table.arrive(1)
        val n = seconds(ways.runNaive(i, scope.getOrElse(i + 1)))
        val h = seconds(ways.hardCoded(i, isFirst = false))
        val v = seconds { read = ways.maintain() }
        (n, h, v)
      }
      .drop(Warming)
    val last = table.next - 1
    if (scope.isEmpty) {
      same(ways.viewRows(last), ways.hardCodedRows(last), "hard-coded")
      same(ways.viewRows(last), ways.naive(last, last + 1), "naive")
    }
    val naiveRows = ways.naiveRows(last, scope.getOrElse(last + 1))
    ways.delete()
    Times(times.map(_._1).min, times.map(_._2).min, times.map(_._3).min, naiveRows, read)
  }

  private val Warming = 2

  private def same(a: DataFrame, b: DataFrame, other: String): Unit =
    require(a.exceptAll(b).isEmpty && b.exceptAll(a).isEmpty, s"ViewDF and $other differ")

  private def seconds(body: => Unit): Double = {
    val start = System.nanoTime()
    body
    (System.nanoTime() - start) / 1e9
  }

  private def read(args: List[String], o: Options): Options = args match {
    case Nil                          => o
    case "--rows" :: n :: rest        => read(rest, o.copy(rows = n.toInt))
    case "--window-rows" :: n :: rest => read(rest, o.copy(windowRows = n.toInt))
    case "--sweep-rows" :: n :: rest  => read(rest, o.copy(sweepRows = n.toInt))
    case "--parts" :: n :: rest       => read(rest, o.copy(parts = n.toInt))
    case "--growth" :: n :: rest      => read(rest, o.copy(growth = n.toInt))
    case "--late" :: n :: rest        => read(rest, o.copy(late = n.toInt))
    case "--rounds" :: n :: rest      => read(rest, o.copy(rounds = n.toInt))
    case "--only" :: regex :: rest    => read(rest, o.copy(only = regex))
    case other :: _                   =>
      throw new IllegalArgumentException(
        s"'$other'? Use --rows N, --window-rows N, --sweep-rows N, --parts N, --growth N, --late N, --rounds N, --only REGEX (of sections)."
      )
  }
}
