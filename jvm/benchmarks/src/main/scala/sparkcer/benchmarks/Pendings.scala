package sparkcer.benchmarks

/** `SELL ; NO OTHER FOR d`, where nothing keeps a match from ending, over a stream in which a million wait at a time
  * for the longest d: an event costs the same however many wait.
  */
object Pendings {
  private val Events = 2400000
  private val Name = "N-million"

  /** Lengths with about 1, 1,000 and 1,000,000 events of the kind that waits. */
  private val Lengths = Vector(100L, 200000L, 200000000L)

  /** The bar, if the workload is asked for. */
  def lines(only: String, rounds: Int): Vector[String] =
    if (!Name.matches(only)) Vector.empty
    else {
      val events = Streams("stocks", Events)
      val runs = Lengths.map { d =>
        val query = s"SELECT * FROM S WHERE SELL AS T1 ; NO OTHER FOR $d [stock_time] WITHIN $d [stock_time]"
        val workload = Workload(Name, "stocks", "absence at the end", query)
        val program = workload.program.fold(sys.error, identity)
        new Run(workload, program, events, Run.masks(events, program))
      }
      val nanos = Vector.fill(rounds + 2)(runs.map(_(visit = false, masked = true).nanos)).drop(2)
      val rates = runs.indices.map(i => Events * 1e3 / nanos.map(_(i)).min)
      val shown = rates.map(r => f"$r%.1f").mkString(", ")
      Vector(
        Bars.line(
          s"$Name, waiting 1, 1,000 and 1,000,000 ($shown million events/s), slowest against fastest",
          rates.max / rates.min,
          1.5,
          atLeast = false
        )
      )
    }
}
