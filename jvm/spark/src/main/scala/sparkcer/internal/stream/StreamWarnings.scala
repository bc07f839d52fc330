package sparkcer.internal.stream

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

import org.apache.spark.sql.Row
import org.apache.spark.sql.cerbridge.Sessions
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._
import org.apache.spark.sql.types.TimestampType

import sparkcer.internal.bind.{Binding, Plan}

/** What the log says of a stream that may keep more, or give less, than its user expects. */
private[sparkcer] object StreamWarnings {
  private val log = LoggerFactory.getLogger("sparkcer")

  /** Once for each use of a query. */
  def atStart(b: Binding, plan: Plan): Unit = {
    unboundedState(b, plan)
    if (plan.stream.watermark.isEmpty) {
      log.warn(
        s"[CER_NO_WATERMARK] This stream has no watermark on its time column '${b.time.name}': an event that is older than the last one of its key is late, and is left out. ${advice(b)}"
      )
      LateEvents.advice.put(plan.stream.metrics, advice(b)): Unit
      Sessions.listen(b.df.sparkSession, LateEvents)
    }
  }

  private def advice(b: Binding): String = {
    val waits = "the query then waits for events that come so much later."
    if (b.time.dataType == TimestampType)
      s"If events can come out of order, add withWatermark(\"${b.time.name}\", \"10 minutes\") before the query; $waits"
    else
      s"If events can come out of order, give them their time as a TIMESTAMP column, name it with time=, and add withWatermark on it before the query; $waits"
  }

  private def unboundedState(b: Binding, plan: Plan): Unit = {
    val why =
      if (b.program.query.within.isEmpty) Some("there is no WITHIN")
      else if (b.program.countsEvents) Some("WITHIN counts events, and a key without new events counts none")
      else if (plan.stream.watermark.isEmpty || !plan.window.ofTime) Some("no watermark tells that a window has passed")
      else None
    why.filter(_ => plan.stream.idle.isEmpty && b.keys.nonEmpty || b.program.query.within.isEmpty).foreach { reason =>
      log.warn(
        s"[CER_UNBOUNDED_STATE] The state of this stream can grow without bound, because $reason. idle='7 days' drops keys without events for that long."
      )
    }
  }

  /** Tells, once for each run, that a stream without a watermark has left events out. On the driver, where users look.
    */
  private object LateEvents extends StreamingQueryListener {

    /** What to do about it, by the name of the query's metrics. */
    val advice = new ConcurrentHashMap[String, String]
    private val told = ConcurrentHashMap.newKeySet[(UUID, String)]()

    def onQueryProgress(event: QueryProgressEvent): Unit = {
      val p = event.progress
      for {
        (name, row: Row) <- p.observedMetrics.asScala
        advice <- Option(advice.get(name))
      } {
        val late = row.getAs[Long]("late")
        if (late > 0 && told.add((p.runId, name)))
          log.warn(
            s"[CER_NO_WATERMARK] The first late events of a stream without a watermark: $late were left out of micro-batch ${p.batchId}. $advice observedMetrics counts them, and late='rows' shows them."
          )
      }
    }

    def onQueryTerminated(event: QueryTerminatedEvent): Unit = told.removeIf(_._1 == event.runId): Unit
    def onQueryStarted(event: QueryStartedEvent): Unit = ()
  }
}
