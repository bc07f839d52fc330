package sparkcer.benchmarks.peers

import sparkcer.benchmarks.{Events, Run, Workload}
import sparkcer.engine.evaluate.Program
import sparkcer.peers.{Feed, Job, Loaded, Measure, Pass, Peer}

/** This engine, on the thread that reads: conditions on raw columns, and every match listed with each of its events. As
  * `reference` it lists nothing: COUNT(*), or the number of closing events of a query that has one match for each.
  */
object EnginePeer extends Peer {
  def main(args: Array[String]): Unit = new Measure(this).main(args)

  def load(job: Job): Loaded = {
    val events = EventColumns.read(job.file, job.events)
    val lists = job.peer != "reference"
    if (job.statements.length == 1) one(job, events, lists) else several(job, events)
  }

  private def one(job: Job, events: Events, lists: Boolean): Loaded = new Loaded {
    private val program = Program(job.statements.head)
    private val query = new Run(Workload(job.workload, "", "", job.statements.head), program, events, masks = null)
    def size: Int = events.size
    def newPass(): Pass = new Pass {
      private val pass = query.newPass(visit = lists, masked = false)
      def run(feed: Feed): Long = {
        val found = pass(_ => feed.next() >= 0)
        if (lists || program.counts) found.matches else found.closing
      }
      def matches: Long = 0L // every event is over in an instant, so no pass is cut off
      def close(): Unit = ()
    }
  }

  private def several(job: Job, events: Events): Loaded = new Loaded {
    private val programs = job.statements.map(Program(_))
    def size: Int = events.size
    def newPass(): Pass = new RuleSetPass(programs, events.fresh())
  }
}
