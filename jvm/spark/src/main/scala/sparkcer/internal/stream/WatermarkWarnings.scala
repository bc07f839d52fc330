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

/** Warns, once for each run of a stream, that events are late, with the reason, and that the watermark stands still
  * because one of several inputs has no new events. Runs on the driver, where users see it.
  *
  * What it needs is in the progress of a micro-batch: the watermark in effect, and the earliest and the latest event.
  */
private[sparkcer] object WatermarkWarnings extends StreamingQueryListener {
  private val log = LoggerFactory.getLogger("sparkcer")

  /** After so many micro-batches with events, a watermark that did not move is held. */
  private[sparkcer] val Held = 10

  final private case class Watched(column: String, watermark: Watermark)

  /** The watermark that did not move, and in how many micro-batches. */
  final private case class Stands(watermark: Instant, batches: Int)

  /** By the name of the query's metrics. */
  private val streams = new ConcurrentHashMap[String, Watched]
  private val told = ConcurrentHashMap.newKeySet[(UUID, String, String)]()
  private val stands = new ConcurrentHashMap[(UUID, String), Stands]

  /** Events from another stateful operator are late for other reasons, which that operator has. */
  def watch(b: Binding, metrics: String, watermark: Watermark): Unit = if (!watermark.chained) {
    streams.put(metrics, Watched(b.time.name, watermark))
    Sessions.listen(b.df.sparkSession, this)
  }

  def onQueryProgress(event: QueryProgressEvent): Unit = {
    val p = event.progress
    for {
      (name, row: Row) <- p.observedMetrics.asScala
      stream <- Option(streams.get(name))
      watermark <- time(p, "watermark")
      earliest <- time(p, "min")
      latest <- time(p, "max")
    } {
      val late = row.getAs[Long]("late")
      if (late > 0) {
        val counts = Seq("late" -> late.toString, "batch" -> p.batchId.toString, "watermark" -> watermark.toString)
        if (watermark.isAfter(Instant.parse(p.timestamp)))
          say(p, name, "CER_LATE_EVENTS.AHEAD", counts :+ "column" -> stream.column: _*)
        else {
          val needed = stream.watermark.delay / 1000 + (watermark.toEpochMilli - earliest.toEpochMilli)
          val more = Seq("earliest" -> earliest.toString, "delay" -> (needed / 1000 + 1).toString)
          say(p, name, "CER_LATE_EVENTS.DELAY", counts ++ more: _*)
        }
      }
      if (stream.watermark.inputs > 1) held(p, name, stream, watermark, latest)
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

  private def say(p: StreamingQueryProgress, name: String, key: String, parameters: (String, String)*): Unit =
    if (told.add((p.runId, name, key))) log.warn(Errors.print(key, parameters: _*))

  /** Of the micro-batch's event times. */
  private def time(p: StreamingQueryProgress, which: String): Option[Instant] =
    Option(p.eventTime.get(which)).map(Instant.parse)

  def onQueryTerminated(event: QueryTerminatedEvent): Unit = {
    told.removeIf(_._1 == event.runId)
    stands.keySet.removeIf(_._1 == event.runId): Unit
  }

  def onQueryStarted(event: QueryStartedEvent): Unit = ()
}
