package sparkcer.benchmarks

import java.util.{ArrayDeque, HashMap}

/** The yardstick for r(x) ; s(x, y) ; t(y) in a window: what a plain hash join in memory does for each event when it
  * lists nothing. It keeps the r by x and the s by y, takes off at the front what has left the window, and says of each
  * t whether it closes a match.
  */
final class HashJoin(events: Events, within: Long) {
  private val (types, xs, ys) = (events.column("type"), events.column("x"), events.column("y"))
  private val times = events.integers("ts")

  def apply(): Outcome = {
    val byX = new HashMap[String, ArrayDeque[Integer]]
    val byY = new HashMap[String, HashJoin.Partners]
    var closing = 0L
    val before = Run.cpu()
    var i = 0
    while (i < events.size) {
      val bound = times(i) - within
      events.string(types, i) match {
        case "R" => rows(byX, events.string(xs, i)).addLast(i)
        case "S" =>
          val r = byX.get(events.string(xs, i))
          if (r != null) {
            while (!r.isEmpty && times(r.peekFirst) < bound) r.pollFirst()
            if (!r.isEmpty) partners(byY, events.string(ys, i)).add(i, times(r.peekLast))
          }
        case _ =>
          val s = byY.get(events.string(ys, i))
          if (s != null) {
            while (!s.rows.isEmpty && times(s.rows.peekFirst) < bound) s.rows.pollFirst()
            if (s.latest >= bound) closing += 1
          }
      }
      i += 1
    }
    Outcome(closing, 0, 0, Run.cpu() - before)
  }

  private def rows(map: HashMap[String, ArrayDeque[Integer]], key: String): ArrayDeque[Integer] = {
    var d = map.get(key)
    if (d == null) { d = new ArrayDeque; map.put(key, d) }
    d
  }

  private def partners(map: HashMap[String, HashJoin.Partners], key: String): HashJoin.Partners = {
    var p = map.get(key)
    if (p == null) { p = new HashJoin.Partners; map.put(key, p) }
    p
  }
}

object HashJoin {

  /** The s of one y, and the latest start of any of them. */
  final private class Partners {
    val rows = new ArrayDeque[Integer]
    var latest: Long = Long.MinValue
    def add(i: Int, start: Long): Unit = { rows.addLast(i); latest = math.max(latest, start) }
  }
}
