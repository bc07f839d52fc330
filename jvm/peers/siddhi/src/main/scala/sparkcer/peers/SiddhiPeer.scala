package sparkcer.peers

import io.siddhi.core.SiddhiManager
import io.siddhi.core.event.{Event => SiddhiEvent}
import io.siddhi.core.stream.output.StreamCallback

/** Siddhi in playback, where the clock is that of the events, on the thread that sends them. Each statement inserts its
  * matches into a stream of its own: Found0, Found1, …
  */
object SiddhiPeer extends Peer {
  def main(args: Array[String]): Unit = new Measure(this).main(args)

  private val Stream =
    "define stream E (kind string, id long, name string, volume long, price double, x string, y string, key long, ts long);"

  def load(job: Job): Loaded = new Loaded {
    private val events = EventFile.events(job.file, job.events)
    private val times = events.map(_.ts)
    private val rows = events.map { e =>
      Array[AnyRef](
        e.kind,
        Long.box(e.id),
        e.name,
        Long.box(e.volume),
        Double.box(e.price),
        e.x,
        e.y,
        Long.box(e.key),
        Long.box(e.ts)
      )
    }
    private val app = s"@app:playback $Stream\n" + job.statements.mkString("\n")

    def size: Int = events.length
    def newPass(): Pass = new SiddhiPass(times, rows, app, job.statements.length)
  }
}

final private class SiddhiPass(times: Array[Long], rows: Array[Array[AnyRef]], app: String, queries: Int) extends Pass {
  @volatile private var found = 0L
  private val manager = new SiddhiManager
  private val runtime = manager.createSiddhiAppRuntime(app)
  (0 until queries).foreach(i =>
    runtime.addCallback(
      s"Found$i",
      new StreamCallback { def receive(in: Array[SiddhiEvent]): Unit = found += in.length }
    )
  )
  private val input = runtime.getInputHandler("E")
  runtime.start()

  def run(feed: Feed): Long = {
    var i = feed.next()
    while (i >= 0) {
      input.send(times(i), rows(i))
      i = feed.next()
    }
    found
  }

  def matches: Long = found
  def close(): Unit = { runtime.shutdown(); manager.shutdown() }
}
