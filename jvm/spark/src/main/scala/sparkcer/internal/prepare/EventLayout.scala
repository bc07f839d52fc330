package sparkcer.internal.prepare

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** Which columns a prepared row has, and in what order. A column that no event of the query needs is left out.
  *
  * @param masks
  *   the number of mask words
  * @param tallied
  *   whether rows may be those of a [[Tally]]
  */
final case class EventLayout(
    masks: Int,
    sliced: Boolean,
    clocked: Boolean,
    ordered: Boolean,
    keyed: Boolean,
    payloadType: DataType,
    tallied: Boolean
) {
  private def when(there: Boolean, field: StructField) = if (there) Seq(field) else Nil

  private val fields: Seq[StructField] =
    Seq(StructField("time", LongType, nullable = false), StructField("arrival", LongType, nullable = false)) ++
      (0 until masks).map(i => StructField(s"mask$i", LongType, nullable = false)) ++
      when(sliced, StructField("slice", LongType, nullable = false)) ++
      when(clocked, StructField("clock", LongType)) ++
      when(ordered, StructField("order", LongType, nullable = false)) ++
      when(keyed, StructField("key", BinaryType, nullable = false)) ++
      Seq(StructField("payload", payloadType, nullable = false)) ++
      when(tallied, StructField(Tally.Column, Tally.numbersType))

  private def at(name: String) = fields.indexWhere(_.name == name)
  private val (slice, clock, order, key, payload) = (at("slice"), at("clock"), at("order"), at("key"), at("payload"))

  def attributes: Seq[Attribute] = fields.map(f => AttributeReference(f.name, f.dataType, f.nullable)())

  private val shown = payloadType match {
    case s: StructType => s.length
    case _             => 0
  }

  /** The event of a row whose payload is a [[PackRow]]. */
  def event(row: InternalRow): Event = {
    val time = row.getLong(0)
    val timed = !clocked || !row.isNullAt(clock)
    val e = Event(
      if (keyed) row.getBinary(key) else EventLayout.NoKey,
      time,
      if (!clocked) time else if (timed) row.getLong(clock) else 0L,
      timed,
      if (ordered) row.getLong(order) else 0L,
      row.getLong(1),
      row.getLong(2),
      if (masks > 1) Array.tabulate(masks - 1)(i => row.getLong(3 + i)) else null,
      withHead(row.getStruct(payload, shown).asInstanceOf[UnsafeRow], time)
    )
    if (sliced) e.slice = row.getLong(slice)
    e
  }

  private def withHead(row: UnsafeRow, time: Long): Array[Byte] = {
    val p = new Array[Byte](Payload.Head + row.getSizeInBytes)
    row.writeToMemory(p, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong)
    Payload.setTime(p, time)
    p
  }
}

object EventLayout {

  /** A row without columns. */
  val NoKey: Array[Byte] = Array.empty
}
