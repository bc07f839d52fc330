package sparkcer.internal.stream

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

import org.apache.spark.sql.Row
import org.apache.spark.sql.cerbridge.Sessions
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._
import org.apache.spark.sql.types.{StructField, TimestampType}

import sparkcer.engine.error.Errors
import sparkcer.internal.bind.{Binding, Plan, PlannedStream}

/** Warnings about streams that may keep more state, or return fewer matches, than their users expect. */
private[sparkcer] object StreamWarnings {
  private val log = LoggerFactory.getLogger("sparkcer")

  /** Once for each use of a query. */
  def atStart(b: Binding, plan: Plan): Unit = {
    unboundedState(b, plan).foreach(key => log.warn(Errors.print(key)))
    ofWatermark(b, plan.stream)
  }

  /** Once for each use of a set of rules.
    *
    * @param rules
    *   with their names
    */
  def atStart(rules: Vector[(String, Binding, Plan)], stream: PlannedStream): Unit = {
    val unbounded = rules.flatMap { case (id, b, plan) => unboundedState(b, plan).map(_ -> id) }
    unbounded.groupMap(_._1)(_._2).toVector.sortBy(_._1).foreach { case (key, ids) =>
      log.warn(Errors.print("CER_UNBOUNDED_STATE.RULES", "rules" -> shown(ids), "warning" -> Errors.message(key)))
    }
    rules.headOption.foreach { case (_, b, _) => ofWatermark(b, stream) }
  }

  private def shown(ids: Vector[String]): String =
    if (ids.length <= MostNames) ids.mkString(", ")
    else s"${ids.take(MostNames).mkString(", ")} and ${ids.length - MostNames} more"

  private val MostNames = 10

  private def ofWatermark(b: Binding, stream: PlannedStream): Unit = stream.watermark match {
    case Some(w) => WatermarkWarnings.watch(b, stream.metrics, w)
    case None    =>
      log.warn(Errors.print(s"CER_NO_WATERMARK.AT_START${suffix(b.time)}", "column" -> b.time.name))
      LateEvents.time.put(stream.metrics, b.time): Unit
      Sessions.listen(b.df.sparkSession, LateEvents)
  }

  /** Of the keys of messages that say how to get a watermark: only a TIMESTAMP can have one. */
  private def suffix(time: StructField): String = if (time.dataType == TimestampType) "" else "_NOT_TIMESTAMP"

  /** The key of the message that says why the state may grow without bound. */
  private def unboundedState(b: Binding, plan: Plan): Option[String] = {
    val why =
      if (b.program.query.within.isEmpty) Some("CER_UNBOUNDED_STATE.NO_WITHIN")
      else if (b.program.countsEvents) Some("CER_UNBOUNDED_STATE.EVENTS")
      else if (plan.stream.watermark.isEmpty || !plan.window.ofTime) Some("CER_UNBOUNDED_STATE.NO_WATERMARK")
      else None
    why.filter(_ => plan.stream.idle.isEmpty && b.keys.nonEmpty || b.program.query.within.isEmpty)
  }

  /** Warns, once for each run, that a stream without a watermark has left out late events. Runs on the driver, where
    * users see it.
    */
  private object LateEvents extends StreamingQueryListener {

    /** The time column, by the name of the query's metrics. */
    val time = new ConcurrentHashMap[String, StructField]
    private val told = ConcurrentHashMap.newKeySet[(UUID, String)]()

    def onQueryProgress(event: QueryProgressEvent): Unit = {
      val p = event.progress
      for {
        (name, row: Row) <- p.observedMetrics.asScala
        column <- Option(time.get(name))
      } {
        val late = row.getAs[Long]("late")
        if (late > 0 && told.add((p.runId, name)))
          log.warn(
            Errors.print(
              s"CER_NO_WATERMARK.LATE_EVENTS${suffix(column)}",
              "late" -> late.toString,
              "batch" -> p.batchId.toString,
              "column" -> column.name
            )
          )
      }
    }

    def onQueryTerminated(event: QueryTerminatedEvent): Unit = told.removeIf(_._1 == event.runId): Unit
    def onQueryStarted(event: QueryStartedEvent): Unit = ()
  }
}
