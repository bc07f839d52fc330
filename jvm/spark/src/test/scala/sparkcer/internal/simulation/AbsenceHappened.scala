package sparkcer.internal.simulation

import java.nio.ByteBuffer

import scala.collection.mutable

import sparkcer.engine.ceql.Consume

/** Counts what happens to queries that begin or end with `NO … FOR`: a name for each thing that the streaming path has
  * to get right for them. [[AbsenceHappened.All]] says what it is.
  */
final class AbsenceHappened(world: World, happened: mutable.Map[String, Int]) {
  private val program = world.program
  private val query = program.query
  private val plan = world.plan
  private val waits = plan.window.waits

  private def note(what: String, when: Boolean = true): Unit = if (when) happened(what) += 1

  def returned(row: ByteBuffer, events: Vector[Int], isOfEarlierRun: Int => Boolean): Unit = {
    val end = world.endOf(row)
    def at(time: Long) = (0 until world.size).filter(world.timeOf(_).contains(time))
    if (program.cea.endsApart) note("sides of OR with different ends")
    else
      waits.foreach { wait =>
        note("match at a deadline")
        note("deadline in a micro-batch without events", events.isEmpty)
        note("deadline of a key without events", query.partitionBy.nonEmpty && !events.exists(isOfKey(_, row)))
        note("deadline after a restart", at(end - wait).exists(isOfEarlierRun))
        note("event at a deadline", at(end).nonEmpty && wait > 0)
        note("deadline that consumes all keys", query.consumeBy == Consume.Any && query.partitionBy.nonEmpty)
        note("matches counted at a deadline", program.counts)
        note("deadline with LIMIT", program.limit.isDefined)
        note("deadline where idle keys are dropped", plan.stream.idle.isDefined)
        note("deadline on bucket of many keys", !world.oneTask)
      }
    if (plan.window.looksBack.nonEmpty) {
      note("match of a query that looks back")
      note("looking back after a restart", (0 until world.size).exists(isOfEarlierRun))
      note("looking back and waiting", waits.nonEmpty)
    }
  }

  /** A snapshot has matches. */
  def snapshot(): Unit = note("snapshot with deadlines", waits.nonEmpty)

  private def isOfKey(event: Int, row: ByteBuffer): Boolean =
    world.pick(event).exists(e => ByteBuffer.wrap(e.key) == world.keyOf(row))
}

object AbsenceHappened {

  /** What must happen, and where it stands in the code. */
  val All: Vector[(String, String)] = Vector(
    "match at a deadline" -> "Bucket.fire",
    "deadline in a micro-batch without events" -> "Bucket.wakeAt: a deadline wakes a bucket as a held event does",
    "deadline of a key without events" -> "Deadlines: the watermark fires it, which other keys move",
    "deadline after a restart" -> "Pending.save and restore",
    "event at a deadline" -> "Bucket.readUntil: events come before the deadlines of the same time",
    "deadline that consumes all keys" -> "Deadlines: in the order of time over all keys",
    "deadline where idle keys are dropped" -> "Bucket.dropIdle: a key that waits is kept",
    "deadline on bucket of many keys" -> "Deadlines: one queue for the first deadline of each key",
    "matches counted at a deadline" -> "Pending.counted",
    "deadline with LIMIT" -> "Evaluator.matches",
    "sides of OR with different ends" -> "PendingQueues, and an identity with the deadline in it",
    "snapshot with deadlines" -> "Snapshot: matches by their deadline",
    "match of a query that looks back" -> "Substream.lookBack",
    "looking back after a restart" -> "Substream.save: the time of the last α",
    "looking back and waiting" -> "Recognizer.read: an event is asked for what came before it, and for deadlines"
  )
}
