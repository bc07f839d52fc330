package sparkcer.benchmarks

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col

import sparkcer._

/** Queries over Parquet files, in batch and stream, against plain Spark queries that read the same. All figures are
  * ratios within one run; those that are compared take turns, and the best round counts.
  *
  * {{{
  * sbt "benchmarks/runMain sparkcer.benchmarks.SparkBenchmark --events 8000000 --only batch.*"
  * }}}
  */
object SparkBenchmark {
  final private case class Options(events: Int = 8000000, rounds: Int = 5, only: String = ".*")

  private val PerFile = 500000
  private val ScalingEvents = 20000000
  private val SmallFile = 10000
  private val SmallFiles = 40

  def main(args: Array[String]): Unit = {
    val options = read(args.toList, Options())
    val sections = Vector[(String, (Options, StockFiles) => Vector[Bar])](
      "batch-selective" -> ((o, f) => onTwo(batchSelective(_, o, f))),
      "batch-partitioned" -> ((o, f) => onTwo(batchPartitioned(_, o, f))),
      "batch-matches" -> ((o, f) => onTwo(batchMatches(_, o, f))),
      "stream-selective" -> ((o, f) => onTwo(new StreamBenchmark(_, o.rounds).selective(f))),
      "stream-partitioned" -> ((o, f) => onTwo(new StreamBenchmark(_, o.rounds).partitioned(f))),
      "stream-small" -> ((o, _) => onTwo(new StreamBenchmark(_, o.rounds).small())),
      "stream-skew" -> ((o, f) =>
        onTwo { run =>
          val streams = new StreamBenchmark(run, o.rounds)
          streams.hotKey(f) ++ streams.burst()
        }
      ),
      "keys" -> ((_, _) => onTwo(new StreamBenchmark(_, 2).keys())),
      "scaling" -> ((o, _) => scaling(o)),
      "checkpoint" -> ((_, _) => onTwo(checkpoint)),
      "waiting" -> ((o, _) => onTwo(waiting(_, o))),
      "rules-batch" -> ((o, f) => onTwo(RulesBenchmark.batch(_, f, o.rounds))),
      "rules-stream" -> ((o, f) => onTwo(RulesBenchmark.stream(_, f, o.rounds))),
      "rules-restart" -> ((_, _) => onTwo(RulesBenchmark.restart)),
      "snapshot" -> ((o, f) => onTwo(snapshot(_, o, f)))
    ).filter(_._1.matches(options.only))
    val bars = withFiles(options.events) { files =>
      sections.flatMap { case (_, measure) =>
        val found = measure(options, files)
        found.foreach(println)
        found
      }
    }
    println("\nAll in one table:")
    bars.foreach(println)
  }

  private def withFiles[A](events: Int)(body: StockFiles => A): A = {
    val files = StockFiles.temporary()
    try {
      onTwo(run => files.write(run.spark, math.max(1, events / PerFile), math.min(PerFile, events)))
      body(files)
    } finally files.delete()
  }

  private def onTwo[A](body: SparkRun => A): A = on(2)(body)

  private def on[A](cores: Int)(body: SparkRun => A): A = {
    val run = new SparkRun(cores)
    try body(run)
    finally run.stop()
  }

  /** Both take turns; two rounds warm up. */
  private def best(rounds: Int, run: SparkRun, plain: DataFrame, ours: DataFrame): (Took, Took) = {
    val all = Vector.fill(rounds + 2)((run.batch(plain), run.batch(ours))).drop(2)
    def least(t: Vector[Took]) = Took(t.map(_.wall).min, t.map(_.cpu).min)
    (least(all.map(_._1)), least(all.map(_._2)))
  }

  private def ratio(name: String, events: Int, base: Double, ours: Double, bar: Double): Bar =
    Bar(
      name,
      f"$base%.2f s plain, $ours%.2f s ours, ${events / ours / 1e6}%.2f million events/s",
      base / ours,
      bar,
      true
    )

  /** Time on the wall decides; CPU time is told too, because it says more on a busy machine. */
  private def ratio(name: String, events: Int, base: Took, ours: Took, bar: Double): Bar = {
    val b = ratio(name, events, base.wall, ours.wall, bar)
    b.copy(detail = b.detail + f", CPU ${base.cpu}%.2f s and ${ours.cpu}%.2f s, ratio ${base.cpu / ours.cpu}%.2f")
  }

  private def batchSelective(run: SparkRun, o: Options, files: StockFiles): Vector[Bar] = {
    val events = files.batch(run.spark)
    val (plain, ours) =
      best(o.rounds, run, events.where(SparkQueries.S3Filter), events.cer(SparkQueries.s3(1000)))
    Vector(ratio("batch, selective", o.events, plain, ours, 0.7))
  }

  private def batchPartitioned(run: SparkRun, o: Options, files: StockFiles): Vector[Bar] = {
    val events = files.batch(run.spark)
    val sorted = events
      .where(SparkQueries.PartitionedFilter)
      .repartition(col("name"))
      .sortWithinPartitions("name", "stock_time")
    val (plain, ours) = best(o.rounds, run, sorted, events.cer(SparkQueries.partitioned(1000)))
    Vector(ratio("batch, partitioned", o.events, plain, ours, 0.5))
  }

  private def batchMatches(run: SparkRun, o: Options, files: StockFiles): Vector[Bar] = {
    val (few, many) =
      (files.batch(run.spark).cer(SparkQueries.s3(1000)), files.batch(run.spark).cer(SparkQueries.s3(30000)))
    val rows = many.count() - few.count()
    val (base, ours) = best(o.rounds, run, few, many)
    val micros = (ours.cpu - base.cpu) * 1e6 / rows
    Vector(
      Bar(
        "batch, CPU us a match row",
        f"$rows%d rows more, ${base.cpu}%.2f and ${ours.cpu}%.2f s of CPU",
        micros,
        1,
        false
      )
    )
  }

  /** Seconds of a typical micro-batch: the median, without those that warm up. */
  private def batches(o: Options, run: SparkRun, plain: DataFrame, ours: DataFrame): (Double, Double) = {
    def seconds(q: DataFrame) = StreamBenchmark.seconds(run.stream(q).drop(2))
    val all = Vector.fill(math.max(2, o.rounds / 2))((seconds(plain), seconds(ours))).drop(1)
    (StreamBenchmark.median(all.flatMap(_._1)), StreamBenchmark.median(all.flatMap(_._2)))
  }

  /** What a second core gains, against what it gains a scan. */
  private def scaling(o: Options): Vector[Bar] = withFiles(ScalingEvents) { files =>
    def times(cores: Int) = on(cores) { run =>
      val events = files.batch(run.spark)
      best(o.rounds, run, events.where(SparkQueries.S3Filter), events.cer(SparkQueries.s3(1000)))
    }
    val (scan1, cer1) = times(1)
    val (scan2, cer2) = times(2)
    val (scan, cer) = (scan1.wall / scan2.wall, cer1.wall / cer2.wall)
    Vector(Bar("batch, gain of a second core", f"scan $scan%.2f times, ours $cer%.2f times", cer / scan, 0.85, true))
  }

  /** Bytes of the changelog a micro-batch, at the start and after the state has grown. */
  private def checkpoint(run: SparkRun): Vector[Bar] = {
    val files = StockFiles.temporary()
    var sizes = Vector.empty[Long]
    try {
      files.write(run.spark, SmallFiles, SmallFile)
      run.stream(files.stream(run.spark).cer(SparkQueries.Growing), checkpoint => sizes = changelog(checkpoint)): Unit
    } finally files.delete()
    val third = sizes.length / 3
    val (early, late) = (sizes.slice(1, third), sizes.takeRight(third))
    def mean(n: Vector[Long]) = n.sum.toDouble / n.length
    Vector(
      Bar(
        "checkpoint, growth of bytes",
        f"a micro-batch of $SmallFile%d events: ${mean(early) / 1024}%.0f KB early, ${mean(late) / 1024}%.0f KB late, " +
          f"largest ${sizes.max / 1024}%d KB, all ${sizes.sum / 1024}%d KB",
        mean(late) / mean(early),
        1.5,
        false
      )
    )
  }

  /** Micro-batches that concern few keys, while the matches of a million others wait for their deadline: against a
    * thousand that wait; and such in which the deadlines of 10,000 pass, against the same where not many more wait.
    */
  private def waiting(run: SparkRun, o: Options): Vector[Bar] = {
    val hour = 3600L
    val (few, many) = (1000, 1000000)
    // All that passes in the last micro-batches is there from the beginning.
    val passing = WaitingFiles.Small * WaitingFiles.Between
    val files = Vector((few, 1000L), (many, 1000L), (passing, hour), (many, hour)).map { case (carts, from) =>
      val made = WaitingFiles.temporary()
      made.write(run.spark, carts, from)
      made
    }
    def seconds(of: WaitingFiles): Vector[Double] = {
      val stream = of.stream(run.spark).withWatermark("ts", "1 second").cer(SparkQueries.Waiting)
      // The first has all carts, and the next ones warm up.
      StreamBenchmark.seconds(run.stream(stream).drop(4))
    }
    try {
      val rounds = Vector.fill(math.max(2, o.rounds / 2))(files.map(seconds)).drop(1)
      def of(i: Int) = StreamBenchmark.median(rounds.flatMap(_(i)))
      val (a, b, c, d) = (of(0), of(1), of(2), of(3))
      val slowest = rounds.flatMap(_(1)).max
      Vector(
        Bar(
          "a million deadlines wait",
          f"$a%.2f s a micro-batch with $few%d, $b%.2f s with $many%d (the slowest $slowest%.2f s)",
          b / a,
          1.3,
          false
        ),
        Bar(
          "deadlines pass, of a million",
          f"${WaitingFiles.Between}%d a micro-batch: $c%.2f s of $passing%d, $d%.2f s of $many%d",
          d / c,
          1.3,
          false
        )
      )
    } finally files.foreach(_.delete())
  }

  /** What keeping the events of two windows costs a stream, and what a snapshot costs against a batch over the events
    * of these windows alone, which has nothing to find out and nothing to load.
    */
  private def snapshot(run: SparkRun, o: Options, files: StockFiles): Vector[Bar] = {
    val query = SparkQueries.joined(SnapshotWindow)
    val (plain, keeping) =
      batches(o, run, files.stream(run.spark).cer(query), files.stream(run.spark).cer(query, snapshots = true))
    val all = files.batch(run.spark)
    val last = all.selectExpr("max(stock_time)").head().getLong(0)
    val window = all.where(s"stock_time >= ${last - 2 * SnapshotWindow}")
    val (base, batch) = best(o.rounds, run, window.cer(query), all.cerSnapshot(query))
    var state = Took(0, 0)
    run.stream(
      files.stream(run.spark).cer(query, snapshots = true),
      checkpoint =>
        state = best(
          o.rounds,
          run,
          window.cer(query),
          files.stream(run.spark).cerSnapshot(query, checkpoint = checkpoint.toString)
        )._2
    ): Unit
    val (events, found) = (window.count(), all.cerSnapshot(query).count())
    def times(name: String, took: Took) = Bar(
      name,
      f"$found%d matches, $events%d events in two windows: ${base.wall}%.2f s for a batch over these, ${took.wall}%.2f s",
      took.wall / base.wall,
      SnapshotBar,
      false
    )
    Vector(
      ratio("stream that keeps for snapshots", PerFile, plain, keeping, 0.5),
      times("snapshot of a batch", batch),
      times("snapshot of a checkpoint", state)
    )
  }

  private val SnapshotWindow = 1000000
  private val SnapshotBar = 10.0

  /** The bytes that each version of the state wrote, all partitions together. */
  private def changelog(checkpoint: Path): Vector[Long] = {
    val all = Files.walk(checkpoint.resolve("state"))
    try
      all
        .iterator()
        .asScala
        .filter(_.toString.endsWith(".changelog"))
        .toVector
        .groupMapReduce(_.getFileName.toString.takeWhile(_.isDigit).toInt)(Files.size)(_ + _)
        .toVector
        .sortBy(_._1)
        .map(_._2)
    finally all.close()
  }

  private def read(args: List[String], o: Options): Options = args match {
    case Nil                       => o
    case "--events" :: n :: rest   => read(rest, o.copy(events = n.toInt))
    case "--rounds" :: n :: rest   => read(rest, o.copy(rounds = n.toInt))
    case "--only" :: regex :: rest => read(rest, o.copy(only = regex))
    case other :: _                =>
      throw new IllegalArgumentException(s"'$other'? Use --events N, --rounds N, --only REGEX (of sections).")
  }
}
