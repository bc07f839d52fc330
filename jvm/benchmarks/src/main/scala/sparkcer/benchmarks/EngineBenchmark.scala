package sparkcer.benchmarks

import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import sparkcer.engine.evaluate.Program

/** The engine alone, on one thread, over the workloads: how many events a second of CPU time it takes, and what a match
  * costs.
  *
  *   - *update*: closing events are counted, nothing is enumerated;
  *   - *total*: a cursor visits every match and each of its events, nothing is kept.
  *
  * Both with conditions (from columns to masks) and with masks given. All workloads take turns, round by round, and the
  * best round counts: so a slow moment of the machine hits all alike.
  *
  * {{{
  * sbt "benchmarks/run --only S3.* --rounds 9"
  * sbt "benchmarks/run --only S3-noend-w.* --write docs/throughput.tsv"
  * }}}
  */
object EngineBenchmark {
  final private case class Options(
      events: Int = 500000,
      rounds: Int = 7,
      warmUp: Int = 3,
      only: String = ".*",
      write: Option[Path] = None
  )

  def main(args: Array[String]): Unit = {
    val options = read(args.toList, Options())
    val runs = prepare(options)
    val joins = mutable.Map.empty[String, Outcome]
    val long = mutable.Set.empty[(String, Boolean)]
    val results = runs.map(r => r.workload.name -> new Result(r.workload, options.events, r.peak()))
    for (round <- 1 to options.warmUp + options.rounds; (run, (_, result)) <- runs.zip(results)) {
      for (masked <- Seq(true, false); visit <- Seq(false, true)) {
        val listing = (run.workload.name, masked)
        if (!visit || !long(listing)) {
          val outcome = run(visit, masked)
          if (visit && outcome.nanos > LongListing) long += listing
          if (round > options.warmUp || visit && long(listing)) result.add(visit, masked, outcome)
        }
      }
      Yardsticks.of(run.workload, options.events).foreach { join =>
        val outcome = join()
        if (round > options.warmUp)
          joins
            .updateWith(run.workload.name)(old => Some(old.filter(_.nanos <= outcome.nanos).getOrElse(outcome))): Unit
      }
    }
    options.write.foreach(write(_, results.map(_._2)))
    println(Result.header)
    results.foreach(r => println(r._2.row))
    println()
    new Bars(results.toMap, joins).lines.foreach(println)
    Pendings.lines(options.only, options.rounds).foreach(println)
  }

  /** Nanoseconds. Matches that take longer to list are listed once: most of the time goes to them, and they are many
    * enough that a single round says it.
    */
  private val LongListing = 5000000000L

  /** The update rates as a table for other programs, with the machine as its first line. */
  private def write(path: Path, results: Vector[Result]): Unit = {
    val machine =
      s"# ${Runtime.getRuntime.availableProcessors} cores, one of them in use, Java ${Runtime.version.feature}"
    val rows = results.map(r => f"${r.workload.name}\t${r.update(masked = false)}%.1f\t${r.update(masked = true)}%.1f")
    Files.write(path, (machine +: "query\tconditions\tmasks" +: rows).asJava): Unit
  }

  private def prepare(options: Options): Vector[Run] = {
    val streams = mutable.Map.empty[String, Events]
    val masks = mutable.Map.empty[(String, Any), Array[Long]]
    Workload.all.filter(_.name.matches(options.only)).flatMap { w =>
      w.program match {
        case Left(why)               => println(s"${w.name} is skipped: $why"); None
        case Right(program: Program) =>
          val events = streams.getOrElseUpdate(w.stream, Streams(w.stream, options.events))
          val masked = masks.getOrElseUpdate((w.stream, program.conditions), Run.masks(events, program))
          Some(new Run(w, program, events, masked))
      }
    }
  }

  private def read(args: List[String], o: Options): Options = args match {
    case Nil                       => o
    case "--events" :: n :: rest   => read(rest, o.copy(events = n.toInt))
    case "--rounds" :: n :: rest   => read(rest, o.copy(rounds = n.toInt))
    case "--warm-up" :: n :: rest  => read(rest, o.copy(warmUp = n.toInt))
    case "--only" :: regex :: rest => read(rest, o.copy(only = regex))
    case "--write" :: path :: rest => read(rest, o.copy(write = Some(Paths.get(path))))
    case other :: _                =>
      throw new IllegalArgumentException(
        s"'$other'? Use --events N, --rounds N, --warm-up N, --only REGEX (of names), --write FILE."
      )
  }
}
