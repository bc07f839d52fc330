package sparkcer.internal.rules

import scala.jdk.CollectionConverters._

import org.slf4j.LoggerFactory

import org.apache.spark.sql.Row
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

import sparkcer.engine.error.Errors

/** Says which rules have lost their saved state at a start. Runs on the driver, where users see it. */
private[rules] object RuleChanges extends StreamingQueryListener {
  private val log = LoggerFactory.getLogger("sparkcer")

  /** What the names of the metrics of all sets begin with. */
  val Metrics = "spark_cer_rules_"

  def onQueryProgress(event: QueryProgressEvent): Unit =
    for ((name, row: Row) <- event.progress.observedMetrics.asScala if name.startsWith(Metrics)) {
      def rules(column: String) = row.getSeq[String](row.fieldIndex(column)).toVector
      val (begunAnew, gone) = (rules("begunAnew"), rules("gone"))
      if (begunAnew.nonEmpty) log.warn(Errors.print("CER_RULES.BEGIN_ANEW", "rules" -> RuleExplanation.list(begunAnew)))
      if (gone.nonEmpty)
        log.info(Errors.print("CER_RULES.STATE_DROPPED", "rules" -> RuleExplanation.list(gone)))
    }

  def onQueryStarted(event: QueryStartedEvent): Unit = ()
  def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
}
