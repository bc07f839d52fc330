package sparkcer.internal.realtime

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TransformWithState}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.cerbridge.{CerException, Sessions}
import org.apache.spark.sql.execution.{GenerateExec, SparkPlan}
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.streaming.StatefulProcessor

import sparkcer.engine.error.Errors
import sparkcer.internal.prepare.{EventGenerator, Prepare}
import sparkcer.internal.rules.RuleProcessor
import sparkcer.internal.stream.{BucketOf, HasRealTimeForm}

/** Queries in the Real-Time Mode of Spark 4.3, whose trigger is known only when a micro-batch is planned. There one
  * micro-batch is long (the trigger's duration), all its stages run at once, and rows flow through them one by one.
  *
  * Spark refuses operators that it does not know there. So events are prepared by an expression in Spark's own operator
  * [[GenerateExec]], and not by `PrepareExec` and `TallyExec`; and the state is kept by a
  * [[sparkcer.internal.stream.RealTimeProcessor]].
  */
private[sparkcer] object RealTime extends Rule[LogicalPlan] {
  private val logger = LoggerFactory.getLogger("sparkcer")

  /** The queries without a watermark that were warned about. */
  private val told = ConcurrentHashMap.newKeySet[String]()

  /** Does the plan belong to a micro-batch in Real-Time Mode? Older versions of Spark have no such field. */
  def reads(plan: LogicalPlan): Boolean = plan.exists {
    case s: StreamingDataSourceV2ScanRelation =>
      s.relation.productElementNames.zip(s.relation.productIterator).exists {
        case ("realTimeModeDuration", Some(_)) => true
        case _                                 => false
      }
    case _ => false
  }

  def prepared(p: Prepare, child: SparkPlan): SparkPlan =
    GenerateExec(EventGenerator(p), requiredChildOutput = Nil, outer = false, p.output, child)

  def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case t: TransformWithState if reads(t) =>
      (t.statefulProcessor: AnyRef) match {
        case _: RuleProcessor   => throw new CerException("CER_REAL_TIME.RULES")
        case p: HasRealTimeForm =>
          checkSlots()
          warn(p)
          t.copy(statefulProcessor = p.inRealTime.asInstanceOf[StatefulProcessor[Any, Any, Any]])
        case _ => t
      }
  }

  /** Spark itself checks the slots, too, but says neither what they are for nor what to do. On a cluster, they may only
    * come with the first tasks.
    */
  private def checkSlots(): Unit = Sessions.localSlots(SparkSession.active).foreach { slots =>
    val buckets = BucketOf.current().length
    if (slots <= buckets)
      throw new CerException(
        "CER_REAL_TIME.SLOTS",
        "partitions" -> buckets.toString,
        "needed" -> (buckets + 1).toString,
        "enough" -> (2 * buckets).max(buckets + 1).toString,
        "slots" -> slots.toString
      )
  }

  private def warn(p: HasRealTimeForm): Unit =
    if (!p.watermarked && told.add(p.name)) logger.warn(Errors.print("CER_NO_WATERMARK.REAL_TIME"))
}
