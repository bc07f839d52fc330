package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BaseOrdering,
  BasePredicate,
  BoundReference,
  Expression,
  GenericInternalRow,
  GetStructField,
  Predicate,
  RowOrdering,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.unsafe.Platform

import sparkcer.engine.compare.EventValues
import sparkcer.internal.prepare.Payload

/** The comparisons of a query, bound to the row of an event's payload. It is sent to tasks as it is.
  *
  * @param terms
  *   for each term of the program an expression over that row, in the normal form of [[Comparable]]
  * @param expressions
  *   for each expression of the program, a Boolean expression over the rows of its events
  */
final case class BoundComparisons(terms: Vector[Expression], expressions: Vector[Expression]) {

  /** The columns of the payload that they read. */
  def columns: Set[Int] = BoundComparisons.columns(terms, expressions)
}

object BoundComparisons {
  val None: BoundComparisons = BoundComparisons(Vector.empty, Vector.empty)

  private def columns(terms: Seq[Expression], expressions: Seq[Expression]): Set[Int] =
    (terms.flatMap(_.collect { case BoundReference(i, _, _) => i }) ++
      expressions.flatMap(_.collect { case GetStructField(_: BoundReference, i, _) => i })).toSet
}

/** Evaluates comparisons on the payloads of events, in generated code where Spark has it. For one thread. */
final private[sparkcer] class ComparedValues(comparisons: BoundComparisons, fields: Int) extends EventValues {
  private val row = new UnsafeRow(fields)
  private val projections: Array[UnsafeProjection] = comparisons.terms.map(UnsafeProjection.create(_)).toArray
  private val orderings = new Array[BaseOrdering](projections.length)
  private val (left, right) = (new UnsafeRow(1), new UnsafeRow(1))
  private val expressions: Array[BasePredicate] = comparisons.expressions.map(Predicate.create).toArray

  // The events of each expression.
  private val rows = new Array[Array[UnsafeRow]](expressions.length)
  private val joined = new Array[InternalRow](expressions.length)

  /** A row with one value, which is not NULL. */
  def value(term: Int, event: Array[Byte]): Array[Byte] = {
    point(row, event)
    val found = projections(term)(row)
    if (found.isNullAt(0)) null
    else {
      val bytes = new Array[Byte](found.getSizeInBytes)
      found.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET.toLong)
      bytes
    }
  }

  def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int = {
    if (orderings(term) == null)
      orderings(term) = RowOrdering.createNaturalAscendingOrdering(Seq(comparisons.terms(term).dataType))
    left.pointTo(a, a.length)
    right.pointTo(b, b.length)
    orderings(term).compare(left, right)
  }

  def holds(expression: Int, events: Array[Array[Byte]]): Boolean = {
    if (rows(expression) == null) {
      rows(expression) = Array.fill(events.length)(new UnsafeRow(fields))
      joined(expression) = new GenericInternalRow(rows(expression).toArray[Any])
    }
    var i = 0
    while (i < events.length) { point(rows(expression)(i), events(i)); i += 1 }
    expressions(expression).eval(joined(expression))
  }

  private def point(row: UnsafeRow, payload: Array[Byte]): Unit =
    row.pointTo(payload, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong, payload.length - Payload.Head)
}
