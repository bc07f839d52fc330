package sparkcer.benchmarks

/** The best CPU time of each kind of pass over one workload. */
final class Result(val workload: Workload, val events: Int, val peak: Peak) {
  private val best = collection.mutable.Map.empty[(Boolean, Boolean), Outcome]

  def add(visit: Boolean, masked: Boolean, o: Outcome): Unit =
    best.updateWith((visit, masked))(old => Some(old.filter(_.nanos <= o.nanos).getOrElse(o))): Unit

  private def nanos(visit: Boolean, masked: Boolean): Double = best((visit, masked)).nanos.toDouble

  /** Millions of events in a second of CPU time. */
  def update(masked: Boolean): Double = events * 1e3 / nanos(visit = false, masked)
  def total(masked: Boolean): Double = events * 1e3 / nanos(visit = true, masked)

  def closing: Long = best((true, true)).closing
  def matches: Long = best((true, true)).matches

  private def visited: Long = best((true, true)).matchedEvents
  private def visiting: Double = math.max(0.0, nanos(visit = true, masked = true) - nanos(visit = false, masked = true))
  def nanosPerMatch: Double = visiting / matches
  def nanosPerMatchedEvent: Double = visiting / visited

  def row: String = f"${workload.name}%-20s ${update(masked = false)}%9.1f ${update(masked = true)}%9.1f " +
    f"${total(masked = false)}%9.1f ${total(masked = true)}%9.1f $closing%9d $matches%11d " +
    (if (visited == 0) f"${"-"}%8s ${"-"}%8s" else f"$nanosPerMatch%8.1f $nanosPerMatchedEvent%8.1f") +
    f" ${peak.nodes}%9d ${peak.bytes / 1024}%9d"
}

object Result {
  val header: String =
    f"${""}%-20s ${"update, million/s"}%19s ${"total, million/s"}%19s\n" +
      f"${"query"}%-20s ${"condit."}%9s ${"masks"}%9s ${"condit."}%9s ${"masks"}%9s ${"closing"}%9s ${"matches"}%11s " +
      f"${"ns/match"}%8s ${"ns/event"}%8s ${"nodes"}%9s ${"KiB"}%9s"
}
