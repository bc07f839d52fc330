package sparkcer.internal.prepare

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.cerbridge.{CerException, Columns}
import org.apache.spark.sql.functions.{coalesce, lit}
import org.apache.spark.sql.types.StructField

import sparkcer.internal.bind.{Binding, Clock}

/** What happens to events before the shuffle: the conditions become a mask; events that cannot be part of a match are
  * dropped, and so are those without a time or with a NULL in their key; the rest is packed.
  *
  * @param masks
  *   the conditions, in words of 64
  * @param droppable
  *   whether an event that meets no condition can be dropped
  * @param key
  *   the PARTITION BY columns, if there are any
  * @param clock
  *   the column that WITHIN limits, if it is not the time
  * @param payload
  *   the columns that are kept of an event: a [[Pack]] for a stream, a [[PackRow]] for a batch
  * @param tally
  *   NULL, in the place where a stream's [[Tally]] has its numbers
  * @param slices
  *   for a batch that is read by slices of time: each event is there once for each slice that reads it
  * @param output
  *   see [[EventLayout]]
  */
case class Prepare(
    masks: Seq[Mask],
    droppable: Boolean,
    time: Expression,
    key: Option[Pack],
    clock: Option[Expression],
    order: Option[Expression],
    payload: Expression,
    tally: Option[Expression],
    slices: Option[Slices],
    output: Seq[Attribute],
    child: LogicalPlan
) extends UnaryNode {
  override def producedAttributes: AttributeSet = outputSet

  /** The same over the columns that it reads. */
  def pruned: Prepare = copy(child = Project(child.output.filter(references.contains), child))

  override protected def withNewChildInternal(c: LogicalPlan): Prepare = copy(child = c)
}

object Prepare {

  /** The events of a batch. Their payloads are rows, which get the head of a [[Payload]] where they are read. */
  def batch(b: Binding, slices: Option[Slices]): (Prepare, EventLayout) = of(b, slices, streaming = false)

  /** The events of a stream. Their payloads are bytes, with their head. */
  def stream(b: Binding): (Prepare, EventLayout) = of(b, None, streaming = true)

  private def of(b: Binding, slices: Option[Slices], streaming: Boolean): (Prepare, EventLayout) = {
    val clockColumn = if (b.windowColumn == b.time) None else Some(AsLong.of(b.columnOf(b.windowColumn)))
    val orderColumn = b.order.map(order(b, _))
    val (resolved, child) = Columns.resolved(
      b.df,
      AsLong.of(b.columnOf(b.time)) +: (clockColumn.toSeq ++ orderColumn ++ b.conditions ++ b.keyColumns ++
        b.kept.map(b.columnOf))
    )
    val all = resolved.iterator
    val time = all.next()
    val clock = clockColumn.map(_ => all.next())
    val ordering = orderColumn.map(_ => all.next())
    val conditions = b.conditions.map(_ => all.next())
    val keys = b.keys.map(_ => all.next())
    val kept = all.toVector
    val masks = if (conditions.isEmpty) Seq(Mask(Nil)) else conditions.grouped(64).map(Mask(_)).toSeq
    val payload = if (streaming) Pack(Some(time), kept) else PackRow(kept)
    val layout = EventLayout(
      masks.length,
      sliced = slices.isDefined,
      clocked = clock.isDefined,
      ordered = ordering.isDefined,
      keyed = keys.nonEmpty,
      payload.dataType,
      tallied = streaming
    )
    val prepared = Prepare(
      masks,
      b.program.droppable,
      time,
      if (keys.isEmpty) None else Some(Pack(None, keys)),
      clock,
      ordering,
      payload,
      if (streaming) Some(Literal(null, Tally.numbersType)) else None,
      slices,
      layout.attributes,
      child
    )
    (prepared.pruned, layout)
  }

  /** The order column as a long; NULL comes first. */
  private[sparkcer] def order(b: Binding, f: StructField): Column = order(b.columnOf(f), f)

  private[sparkcer] def order(column: Column, f: StructField): Column = {
    if (!Clock.supports(f.dataType))
      throw new CerException("CER_TYPE_MISMATCH.ORDER_COLUMN", "column" -> f.name, "type" -> f.dataType.sql)
    coalesce(AsLong.of(column), lit(Long.MinValue))
  }
}
