package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

import sparkcer.internal.prepare.Payload

/** A payload with other columns. In a set of rules, an event has the columns that any rule keeps, and a `match_id` is
  * made of those that its own rule keeps.
  */
sealed trait View {
  def apply(payload: Array[Byte]): Array[Byte]
}

object View {

  /** The payload as it is. */
  case object Whole extends View {
    def apply(payload: Array[Byte]): Array[Byte] = payload
  }

  /** Some columns of it. */
  def of(columns: Vector[Int], all: StructType): View =
    if (columns == all.indices.toVector) Whole
    else new Projected(columns.map(i => BoundReference(i, all(i).dataType, all(i).nullable)), all.length)

  /** The same head with other columns, which are bound to its `fields`. For one thread. */
  final class Projected(columns: Seq[Expression], fields: Int) extends View {
    private val row = new UnsafeRow(fields)
    private val projection = UnsafeProjection.create(columns)

    def apply(payload: Array[Byte]): Array[Byte] = {
      row.pointTo(payload, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong, payload.length - Payload.Head)
      val own = projection(row)
      val bytes = new Array[Byte](Payload.Head + own.getSizeInBytes)
      System.arraycopy(payload, 0, bytes, 0, Payload.Head)
      own.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong)
      bytes
    }
  }
}
