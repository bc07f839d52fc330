package sparkcer.engine.evaluate

import sparkcer.engine.state.{WireReader, WireWriter}

/** The matches of a substream that wait for their deadline, in a query that ends with `NO α FOR d`. An event that
  * completes matches puts them into a queue, and [[fire]] closes those at its front.
  */
final private[evaluate] class PendingMatches(substream: Substream, evaluator: Evaluator) {

  /** A queue for each of [[Program.waits]]. */
  val queues = new PendingQueues(Array.fill(evaluator.program.waits.length) {
    new Pending(if (evaluator.program.cea.keepsEnds) new PendingIndex(evaluator.machine, evaluator.now) else null)
  })

  private val endsApart = evaluator.program.cea.endsApart

  /** The earliest start of a match that ends with an event, of those that begin to wait and of those that end at once.
    */
  def earliestStart(bound: Long, bounds: Array[Long]): Long = if (endsApart) bound else bounds(0)

  /** Up to which event may the window be emptied? Where matches end in different ways, the window until this event
    * reaches back further than what waits.
    */
  def expire(events: Events, bound: Long): Boolean =
    if (endsApart || queues.isEmpty) events.expire(bound) else events.expire(bound, queues.first.start)

  /** Makes the matches that the last step has found wait. Says whether it has found others, which end at once; they
    * stay with the cursor.
    */
  def hold(deadlines: Array[Long], bounds: Array[Long]): Boolean = {
    val closed = endsApart && holdApart(deadlines, bounds)
    if (!endsApart) add(0, substream.found(deadlines(0)))
    evaluator.owners += 1
    closed
  }

  private def add(queue: Int, item: Pending.Item): Unit = {
    substream.holds()
    queues.add(queue, item)
  }

  private def holdApart(deadlines: Array[Long], bounds: Array[Long]): Boolean = {
    val cursor = evaluator.cursor
    val events = substream.events
    val found = new EndedApart(cursor.copyOfHeads, substream.endsOfHeads, substream.tecs, evaluator.queueOf)
    var q = 0
    while (q < deadlines.length) {
      // What ends at the same time waits together.
      if (deadlines.indexOf(deadlines(q)) == q) {
        val start = events.firstFrom(bounds(q))
        val (heads, ends) = found.select(start, its => its >= 0 && deadlines(its) == deadlines(q))
        if (heads.length > 0)
          add(q, new Pending.Item(deadlines(q), evaluator.owners, 0L, cursor.end, start, heads, ends))
      }
      q += 1
    }
    val (closed, _) = found.select(events.first, _ < 0)
    cursor.reset(substream.tecs, cursor.end, events.first)
    closed.indices.by(2).foreach(i => cursor.addHead(closed(i), closed(i + 1), 0))
    closed.length > 0
  }

  /** Closes the matches with the first deadline. */
  def fire(): Unit = {
    val due = queues.first
    evaluator.firedDeadline = due.deadline
    substream.close(due)
    queues.removeFirst()
  }

  def save(out: WireWriter, full: Boolean): Unit = queues.save(out, full, substream.events.top, substream.tecs.top)

  def restore(in: WireReader): Unit = {
    val owner = queues.restore(in, substream.events.top, substream.tecs.top)
    evaluator.owners = math.max(evaluator.owners, owner + 1)
  }
}
