package sparkcer.internal.batch

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import sparkcer.internal.output.MatchWriter
import sparkcer.internal.prepare.{PackRow, Prepare, PrepareExec, RepeatExec, Tally, TallyExec, WatermarkExec}
import sparkcer.internal.realtime.RealTime
import sparkcer.internal.rules.{RuleEvents, RuleEventsExec, RuleRecognize, RuleRecognizeExec}

/** Registers our operators with a session. This does not need `spark.sql.extensions`, which is read too early for
  * libraries that are installed on a running cluster.
  */
object Planning {

  /** Registers with the session, once. */
  def on(spark: SparkSession): Unit = spark.synchronized {
    val known = spark.experimental
    if (!known.extraStrategies.contains(Operators)) known.extraStrategies = known.extraStrategies :+ Operators
    if (!known.extraOptimizations.contains(Unread))
      known.extraOptimizations = known.extraOptimizations :+ Unread :+ RealTime
  }

  private object Operators extends SparkStrategy {
    def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case t @ Tally(p: Prepare, None) if RealTime.reads(t) => RealTime.prepared(p, planLater(p.child)) :: Nil
      case p: Prepare                                       =>
        import p._
        val events = WatermarkExec.plan(child, planLater)
        val one = PrepareExec(masks, droppable, time, key, clock, order, payload, tally, slices, output, events)
        slices.fold[SparkPlan](one)(RepeatExec(_, one)) :: Nil
      case r: Recognize =>
        RecognizeExec(r.plan, r.layout, r.spread, r.unread, r.until, r.output, planLater(r.child)) :: Nil
      case t: Tally      => TallyExec(planLater(t.child), t.visits) :: Nil
      case e: RuleEvents =>
        import e._
        RuleEventsExec(conditions, tested, groups, time, order, keys, kept, output, planLater(child)) :: Nil
      case r: RuleRecognize => RuleRecognizeExec(r.set, r.untils, r.output, planLater(r.child)) :: Nil
      case _                => Nil
    }
  }

  /** Does not write columns of matches that nobody reads. If `match_id` is one of them, which depends on every column
    * of an event, the columns of events that nobody reads or compares are not packed either, and not read where the
    * source can leave them out.
    */
  private object Unread extends Rule[LogicalPlan] {
    def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
      case p @ Project(list, r: Recognize)                        => read(r, list).fold(p)(r => p.copy(child = r))
      case p @ Project(list, f @ Filter(condition, r: Recognize)) =>
        read(r, list :+ condition).fold(p)(r => p.copy(child = f.copy(child = r)))
    }

    /** The query if only these expressions read its matches; None if it is that already. */
    private def read(r: Recognize, list: Seq[Expression]): Option[Recognize] = {
      val references = AttributeSet.fromAttributeSets(list.map(_.references))
      val unread = r.output.indices.filterNot(i => references.contains(r.output(i))).toSet
      (r.child match { case p: Prepare if unread != r.unread => Some(p); case _ => None }).map { prepare =>
        val identified = !r.plan.schema.counts && !unread(0)
        val child =
          if (identified) prepare else narrowed(prepare, fieldsRead(list, r) ++ r.plan.query.comparisons.columns)
        r.copy(unread = unread, child = child)
      }
    }

    /** The fields of events that a list of expressions over matches reads. */
    private def fieldsRead(list: Seq[Expression], r: Recognize): Set[Int] = {
      val variables = if (r.plan.schema.counts) Nil else r.output.drop(MatchWriter.Fixed)
      val events = AttributeSet(variables)

      /** @param elements
        *   the arguments of lambda functions that are events
        */
      def of(e: Expression, elements: Set[ExprId]): Set[Int] = {
        def isEvent(e: Expression): Boolean = e match {
          case a: Attribute           => events.contains(a)
          case v: NamedLambdaVariable => elements(v.exprId)
          case GetArrayItem(a, _, _)  => isEvent(a)
          case _                      => false
        }
        e match {
          case GetStructField(one, i, _) if isEvent(one)             => indexes(one, elements) + i
          case GetArrayStructFields(all, _, i, _, _) if isEvent(all) => Set(i)
          case Size(all, _) if isEvent(all)                          => Set.empty
          case IsNull(one) if isEvent(one)                           => indexes(one, elements)
          case IsNotNull(one) if isEvent(one)                        => indexes(one, elements)
          // The values of these come from their functions alone. A filter, for one, returns whole events.
          case ArrayTransform(all, f: LambdaFunction) if isEvent(all) =>
            of(f.function, elements ++ f.arguments.headOption.map(_.exprId))
          case ArrayAggregate(all, zero, merge: LambdaFunction, finish) if isEvent(all) =>
            of(zero, elements) ++ of(finish, elements) ++ of(merge.function, elements + merge.arguments(1).exprId)
          case one if isEvent(one) => r.plan.schema.event.indices.toSet
          case other               => other.children.flatMap(of(_, elements)).toSet
        }
      }

      /** What the place of an event in an array reads. */
      def indexes(one: Expression, elements: Set[ExprId]): Set[Int] = one match {
        case GetArrayItem(_, i, _) => of(i, elements)
        case _                     => Set.empty
      }
      list.flatMap(of(_, Set.empty)).toSet
    }

    private def narrowed(p: Prepare, read: Set[Int]): Prepare = {
      val columns = p.payload.children.zipWithIndex.map { case (c, i) =>
        if (read(i)) c else Literal(null, c.dataType)
      }
      p.copy(payload = PackRow(columns)).pruned
    }
  }
}
