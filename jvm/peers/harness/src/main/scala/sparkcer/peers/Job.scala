package sparkcer.peers

import java.nio.file.{Files, Path, Paths}
import java.util.Properties

/** What to measure, as scripts/peers writes it: a workload in the language of the engine, the events, and for how long.
  *
  * @param statements
  *   several are a set of rules
  * @param warmUp
  *   seconds of passes that do not count
  * @param rounds
  *   passes that count, the best of which is the result; fewer if they take more than ten seconds together
  * @param timeout
  *   seconds after which a pass stops reading
  * @param memory
  *   whether the job is to look at the heap, and not to measure the time
  */
final case class Job(
    workload: String,
    peer: String,
    statements: Vector[String],
    file: Path,
    events: Int,
    warmUp: Double,
    rounds: Int,
    timeout: Double,
    memory: Boolean
)

object Job {
  def read(path: Path): Job = {
    val p = new Properties
    val in = Files.newBufferedReader(path)
    try p.load(in)
    finally in.close()
    def get(name: String): String =
      Option(p.getProperty(name)).getOrElse(throw new IllegalArgumentException(s"$path does not say $name"))
    Job(
      get("workload"),
      get("peer"),
      Vector.tabulate(get("statements").toInt)(i => get(s"statement.$i")),
      Paths.get(get("file")),
      get("events").toInt,
      get("warmUp").toDouble,
      get("rounds").toInt,
      get("timeout").toDouble,
      get("memory").toBoolean
    )
  }
}
