package sparkcer.internal.stream

import java.time.Instant
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

import org.apache.spark.sql.Row
import org.apache.spark.sql.cerbridge.Sessions
import org.apache.spark.sql.streaming.{StreamingQueryListener, StreamingQueryProgress}
import org.apache.spark.sql.streaming.StreamingQueryListener._

import sparkcer.engine.error.Errors
import sparkcer.internal.bind.{Binding, Watermark}

/** Warns, for each run of a stream, that events are late, with the reason, and that the watermark stands still because
  * one of several inputs has no new events. Runs on the driver, where users see it. Each is said once; but if the drift
  * of a backlog grows, the delay that is needed is said again whenever what is missing has doubled, and at the end.
  *
  * What it needs is in the progress of a micro-batch: the watermark in effect, the latest event, and our own counts.
  * (The earliest event there is that of one of the inputs only.)
  */
private[sparkcer] object WatermarkWarnings extends StreamingQueryListener {
  private val log = LoggerFactory.getLogger("sparkcer")

  /** After so many micro-batches with events, a watermark that did not move is held. */
  private[sparkcer] val Held = 10

  /** @param within
    *   the column that WITHIN limits
    */
  final private case class Watched(column: String, within: String, watermark: Watermark)

  /** The watermark that did not move, and in how many micro-batches. */
  final private case class Stands(watermark: Instant, batches: Int)

  /** By the name of the query's metrics. */
  private val streams = new ConcurrentHashMap[String, Watched]
  private val told = ConcurrentHashMap.newKeySet[(UUID, String, String)]()

  /** How many milliseconds longer the delay must be: as it was said last, and as it is known. */
  final private case class Missing(said: Long, largest: Long)
  private val missing = new ConcurrentHashMap[(UUID, String), Missing]
  private val stands = new ConcurrentHashMap[(UUID, String), Stands]

  /** Events from another stateful operator are late for other reasons, which that operator has. */
  def watch(b: Binding, metrics: String, watermark: Watermark): Unit = if (!watermark.chained) {
    streams.put(metrics, Watched(b.time.name, b.windowColumn.name, watermark))
    Sessions.listen(b.df.sparkSession, this)
  }

  def onQueryProgress(event: QueryProgressEvent): Unit = {
    val p = event.progress
    for {
      (name, row: Row) <- p.observedMetrics.asScala
      stream <- Option(streams.get(name))
      watermark <- time(p, "watermark")
    } {
      val late = row.getAs[Long]("late")
      val behind = row.getAs[Long]("lateness")
      if (late > 0) {
        val counts = Seq("late" -> late.toString, "batch" -> p.batchId.toString)
        val ofWatermark = counts :+ "watermark" -> watermark.toString
        if (behind == 0) say(p, name, "CER_LATE_EVENTS.WITHIN", counts :+ "column" -> stream.within: _*)
        else if (watermark.isAfter(Instant.parse(p.timestamp)))
          say(p, name, "CER_LATE_EVENTS.AHEAD", ofWatermark :+ "column" -> stream.column: _*)
        else tooShort(p, name, stream, behind, ofWatermark)
      }
      if (stream.watermark.inputs > 1) time(p, "max").foreach(held(p, name, stream, watermark, _))
    }
  }

  private def held(p: StreamingQueryProgress, name: String, of: Watched, watermark: Instant, latest: Instant): Unit = {
    val key = (p.runId, name)
    val waits = latest.toEpochMilli - watermark.toEpochMilli > of.watermark.delay / 1000
    val before = Option(stands.get(key)).filter(_.watermark == watermark).fold(0)(_.batches)
    stands.put(key, Stands(watermark, if (waits) before + 1 else 0))
    if (stands.get(key).batches >= Held)
      say(
        p,
        name,
        "CER_WATERMARK_HELD",
        "watermark" -> watermark.toString,
        "batches" -> Held.toString,
        "latest" -> latest.toString,
        "inputs" -> of.watermark.inputs.toString
      )
  }

  private def tooShort(
      p: StreamingQueryProgress,
      name: String,
      of: Watched,
      millis: Long,
      counts: Seq[(String, String)]
  ): Unit = {
    val key = (p.runId, name)
    val before = Option(missing.get(key))
    if (before.forall(millis >= 2 * _.said)) {
      missing.put(key, Missing(millis, millis))
      log.warn(longer("CER_LATE_EVENTS.DELAY", of, millis, counts))
    } else before.foreach(m => missing.put(key, m.copy(largest = math.max(m.largest, millis))))
  }

  /** Several inputs may have several delays. */
  private def longer(key: String, of: Watched, millis: Long, more: Seq[(String, String)]): String = {
    def seconds(millis: Long) = ((millis + 999) / 1000).toString
    if (of.watermark.inputs > 1) Errors.print(s"${key}_OF_INPUTS", more :+ "seconds" -> seconds(millis): _*)
    else Errors.print(key, more :+ "delay" -> seconds(of.watermark.delay / 1000 + millis): _*)
  }

  private def say(p: StreamingQueryProgress, name: String, key: String, parameters: (String, String)*): Unit =
    if (told.add((p.runId, name, key))) log.warn(Errors.print(key, parameters: _*))

  /** Of the micro-batch's event times. */
  private def time(p: StreamingQueryProgress, which: String): Option[Instant] =
    Option(p.eventTime.get(which)).map(Instant.parse)

  def onQueryTerminated(event: QueryTerminatedEvent): Unit = {
    missing.asScala.foreach { case ((run, name), m) =>
      if (run == event.runId && m.largest > m.said)
        log.warn(longer("CER_LATE_EVENTS.AT_END", streams.get(name), m.largest, Nil))
    }
    missing.keySet.removeIf(_._1 == event.runId)
    told.removeIf(_._1 == event.runId)
    stands.keySet.removeIf(_._1 == event.runId): Unit
  }

  def onQueryStarted(event: QueryStartedEvent): Unit = ()
}
