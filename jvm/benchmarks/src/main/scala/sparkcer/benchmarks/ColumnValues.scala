package sparkcer.benchmarks

import java.nio.charset.StandardCharsets.ISO_8859_1

import sparkcer.engine.compare.EventValues
import sparkcer.engine.evaluate.Program

/** The values that a query compares, from the columns of a stream. A row is the number of its event.
  *
  * @param encoded
  *   whether the bytes of strings are in memory already, or made for each event
  */
final class ColumnValues(program: Program, events: Events, encoded: Boolean) extends EventValues {
  private val columns: Array[Int] = program.terms.map { case (_, term) => events.column(term.sql) }.toArray
  private val bytes: Array[Array[Array[Byte]]] =
    if (encoded) columns.map(c => Array.tabulate(events.size)(i => of(c, i))) else null

  private def of(column: Int, event: Int): Array[Byte] = {
    val s = events.string(column, event)
    if (s == null) null else s.getBytes(ISO_8859_1)
  }

  def value(term: Int, row: Array[Byte]): Array[Byte] =
    if (encoded) bytes(term)(ColumnValues.number(row)) else of(columns(term), ColumnValues.number(row))

  /** All that is compared are strings. */
  def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int = java.util.Arrays.compareUnsigned(a, b)

  def holds(expression: Int, rows: Array[Array[Byte]]): Boolean =
    throw new IllegalArgumentException("the workloads compare terms")
}

object ColumnValues {
  def row(i: Int): Array[Byte] = Array((i >>> 24).toByte, (i >>> 16).toByte, (i >>> 8).toByte, i.toByte)

  private def number(row: Array[Byte]): Int =
    (row(0) & 0xff) << 24 | (row(1) & 0xff) << 16 | (row(2) & 0xff) << 8 | (row(3) & 0xff)
}
