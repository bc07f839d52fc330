package sparkcer.internal.batch

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import sparkcer.internal.output.MatchWriter
import sparkcer.internal.prepare.{PackRow, Prepare, PrepareExec, RepeatExec, Tally, TallyExec}

/** Registers our operators with a session. This does not need `spark.sql.extensions`, which is read too early for
  * libraries that are installed on a running cluster.
  */
object Planning {

  /** Registers with the session, once. */
  def on(spark: SparkSession): Unit = spark.synchronized {
    val known = spark.experimental
    if (!known.extraStrategies.contains(Operators)) known.extraStrategies = known.extraStrategies :+ Operators
    if (!known.extraOptimizations.contains(Unread)) known.extraOptimizations = known.extraOptimizations :+ Unread
  }

  private object Operators extends SparkStrategy {
    def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case p: Prepare =>
        import p._
        val one =
          PrepareExec(masks, droppable, time, key, clock, order, payload, tally, slices, output, planLater(child))
        slices.fold[SparkPlan](one)(RepeatExec(_, one)) :: Nil
      case r: Recognize =>
        RecognizeExec(r.plan, r.layout, r.spread, r.unread, r.output, planLater(r.child)) :: Nil
      case t: Tally => TallyExec(planLater(t.child)) :: Nil
      case _        => Nil
    }
  }

  /** Does not write columns of matches that nobody reads. If `match_id` is one of them, which depends on every column
    * of an event, the columns of events that nobody reads or compares are not packed either, and not read where the
    * source can leave them out.
    */
  private object Unread extends Rule[LogicalPlan] {
    def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
      case p @ Project(list, r @ Recognize(_, _, _, before, output, prepare: Prepare)) =>
        val unread = output.indices.filterNot(i => p.references.contains(output(i))).toSet
        if (unread == before) p
        else {
          val identified = !r.plan.schema.counts && !unread(0)
          val child =
            if (identified) prepare else narrowed(prepare, fieldsRead(list, r) ++ r.plan.query.comparisons.columns)
          Project(list, r.copy(unread = unread, child = child))
        }
    }

    /** The fields of events that a list of expressions over matches reads. */
    private def fieldsRead(list: Seq[Expression], r: Recognize): Set[Int] = {
      val variables = if (r.plan.schema.counts) Nil else r.output.drop(MatchWriter.Fixed)
      val events = AttributeSet(variables)
      def of(e: Expression): Set[Int] = e match {
        case GetStructField(a: Attribute, i, _) if events.contains(a)             => Set(i)
        case GetArrayStructFields(a: Attribute, _, i, _, _) if events.contains(a) => Set(i)
        case a: Attribute if events.contains(a)                                   => r.plan.schema.event.indices.toSet
        case other                                                                => other.children.flatMap(of).toSet
      }
      list.flatMap(of).toSet
    }

    private def narrowed(p: Prepare, read: Set[Int]): Prepare = {
      val columns = p.payload.children.zipWithIndex.map { case (c, i) =>
        if (read(i)) c else Literal(null, c.dataType)
      }
      p.copy(payload = PackRow(columns)).pruned
    }
  }
}
