package sparkcer.internal.batch

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.cerbridge.{Plans, Sessions}

import sparkcer.engine.ceql.Consume
import sparkcer.internal.bind.{Binding, Plan}
import sparkcer.internal.prepare.{Prepare, Slices}

/** A query over a batch: the events are prepared, spread over tasks, sorted, and recognized. */
object BatchQuery {

  /** The columns of the plan's match schema. */
  def apply(b: Binding, plan: Plan): DataFrame = apply(b, plan, b.waiting.until)

  /** @param until
    *   the time up to which the events are complete, where matches wait for a deadline
    */
  def apply(b: Binding, plan: Plan, until: Option[Expression]): DataFrame = {
    val spread = spreadOf(b, plan)
    val slices = Some(spread).collect { case Spread.BySlice(s) => s }
    val (events, layout) = Prepare.batch(b, slices)
    val columns = plan.schema.named.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    Planning.on(Sessions.session(b.df))
    Plans.dataFrame(b.df.sparkSession, Recognize(plan, layout, spread, Set.empty, until, columns, events))
  }

  private def spreadOf(b: Binding, plan: Plan): Spread = {
    val consume = b.program.query.consumeBy
    if (consume == Consume.Any) Spread.OneTask("CONSUME BY ANY orders all keys")
    else if (b.keys.nonEmpty) Spread.ByKey(plan.window.endsInTime)
    else
      Slices.of(plan, consume != Consume.None) match {
        case Some(s) => Spread.BySlice(s)
        case None    => Spread.OneTask(s"there is no PARTITION BY and ${whyNotSliced(b, plan)}")
      }
  }

  private def whyNotSliced(b: Binding, plan: Plan): String =
    if (b.program.query.consumeBy != Consume.None) "CONSUME BY orders all events"
    else if (b.program.query.within.isEmpty) "no WITHIN"
    else if (b.program.countsEvents) "WITHIN counts events"
    else if (!plan.window.ofTime) "WITHIN is about another column than the time"
    else if (!plan.clock.isWhole) "the time is a floating-point number"
    else "the window is too long to slice"
}
