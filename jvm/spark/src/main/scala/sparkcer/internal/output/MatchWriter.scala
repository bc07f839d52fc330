package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.{UnsafeArrayWriter, UnsafeRowWriter}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

import sparkcer.engine.evaluate.{Matches, Program, Substream}
import sparkcer.internal.bind.Clock
import sparkcer.internal.prepare.Payload

/** The rows of matches, each with its own columns. The rows of events are copied as bytes, without reading their
  * columns. Columns that nobody reads stay empty.
  */
final class MatchWriter(
    schema: MatchSchema,
    program: Program,
    clock: Clock,
    fingerprint: Long,
    unread: Set[Int],
    view: View = View.Whole
) extends MatchRows {
  private val columns = schema.columns
  private val out = new UnsafeRowWriter(schema.row.length)
  private val array = new UnsafeArrayWriter(out, 8)
  private val single = columns.map(_.multiplicity.atMostOne).toArray

  /** For each label, the columns that its event belongs to. */
  private val columnsOf: Array[Array[Int]] =
    program.cea.labels
      .map(label => columns.indices.filter(i => !unread(MatchWriter.Fixed + i) && label(columns(i).variable)).toArray)
      .toArray

  private val bound = Array.fill(columns.length)(new Array[Int](4))
  private val counts = new Array[Int](columns.length)
  private val isLong = Set[DataType](LongType, TimestampType, TimestampNTZType)(schema.time)
  private val identified = !unread(0)
  private val identity = new MatchIdentity(fingerprint, view)
  private val eventRow = new UnsafeRow(schema.event.length)
  private val keyRow = new UnsafeRow(schema.key.length)

  def write(
      key: Array[Byte],
      end: Long,
      deadline: Long,
      substream: Substream,
      m: Matches
  ): UnsafeRow = {
    gather(m)
    out.reset()
    out.zeroOutNullBytes()
    out.write(0, if (identified) identity(key, substream, m, deadline) else MatchWriter.Nothing)
    keyRow.pointTo(key, key.length)
    writeRow(1, keyRow)
    writeTime(2, Payload.time(substream.payload(m.start)))
    writeTime(3, end)
    var c = 0
    while (c < columns.length) {
      if (!single(c)) writeArray(c, substream)
      else if (counts(c) == 0) out.setNullAt(MatchWriter.Fixed + c)
      else writeRow(MatchWriter.Fixed + c, event(substream, bound(c)(0)))
      c += 1
    }
    out.getRow()
  }

  def writeCount(key: Array[Byte], end: Long, n: Long): UnsafeRow = {
    out.reset()
    out.zeroOutNullBytes()
    keyRow.pointTo(key, key.length)
    writeRow(0, keyRow)
    clock.write(out, 1, end)
    out.write(2, n)
    out.getRow()
  }

  /** A query by itself returns all matches, or as many as its LIMIT says. */
  def cut(row: UnsafeRow): Unit = throw new IllegalStateException("a row without a mark")

  private def gather(m: Matches): Unit = {
    java.util.Arrays.fill(counts, 0)
    var i = m.length - 1
    while (i >= 0) {
      val targets = columnsOf(m.label(i))
      var t = 0
      while (t < targets.length) {
        val c = targets(t)
        if (counts(c) == bound(c).length) bound(c) = java.util.Arrays.copyOf(bound(c), 2 * counts(c))
        bound(c)(counts(c)) = m.event(i)
        counts(c) += 1
        t += 1
      }
      i -= 1
    }
  }

  private def writeTime(i: Int, time: Long): Unit = if (isLong) out.write(i, time) else clock.write(out, i, time)

  private def event(substream: Substream, e: Int): UnsafeRow = {
    val p = view(substream.payload(e))
    eventRow.pointTo(p, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong, p.length - Payload.Head)
    eventRow
  }

  private def writeRow(i: Int, row: UnsafeRow): Unit = {
    val before = out.cursor
    copy(row)
    out.setOffsetAndSizeFromPreviousCursor(i, before)
  }

  private def writeArray(c: Int, substream: Substream): Unit = {
    val before = out.cursor
    array.initialize(counts(c))
    var i = 0
    while (i < counts(c)) {
      val at = out.cursor
      copy(event(substream, bound(c)(i)))
      array.setOffsetAndSizeFromPreviousCursor(i, at)
      i += 1
    }
    out.setOffsetAndSizeFromPreviousCursor(MatchWriter.Fixed + c, before)
  }

  private def copy(row: UnsafeRow): Unit = {
    val size = row.getSizeInBytes
    out.grow(size)
    row.writeToMemory(out.getBuffer, out.cursor.toLong)
    out.increaseCursor(size)
  }
}

private[sparkcer] object MatchWriter {

  /** match_id, key, start, end. */
  val Fixed = 4

  private val Nothing = Array.empty[Byte]
}
