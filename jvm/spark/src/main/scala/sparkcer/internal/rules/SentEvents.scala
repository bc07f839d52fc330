package sparkcer.internal.rules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.unsafe.Platform

import sparkcer.internal.prepare.{EventLayout, Payload, PrepareExec}

/** The rows of [[RuleEvents]] of one partition. A row is valid until the next one is asked for.
  *
  * @param at
  *   the time, and the order if there is one; this and other columns are bound to those of `rows`
  * @param fields
  *   how many columns a row has
  * @param metrics
  *   of the operator
  */
final private[rules] class SentEvents(
    table: ConditionTable,
    groups: RuleGroups,
    at: Seq[Expression],
    keyColumns: Seq[Seq[Expression]],
    columns: Seq[Expression],
    fields: Int,
    rows: Iterator[InternalRow],
    partition: Int,
    metrics: Map[String, SQLMetric]
) extends Iterator[InternalRow] {
  private val (read, nullTimes, nullKeys) = (metrics("events"), metrics("nullTimes"), metrics("nullKeys"))
  private val (dropped, sent) = (metrics("dropped"), metrics("sent"))
  private val conditions = new table.Finder
  private val times = UnsafeProjection.create(at)
  private val keys = keyColumns.map(UnsafeProjection.create(_)).toArray
  private val kept = UnsafeProjection.create(columns)

  private val out = new UnsafeRowWriter(fields)
  private val wanted = new Array[Boolean](keys.length)

  private var row: InternalRow = _
  private var group = keys.length // the next one to which the event may be sent
  private var arrival = partition.toLong << PrepareExec.RowBits
  private var time = 0L
  private var order = 0L
  private var payload: Array[Byte] = _
  private var first = true // the event was not sent yet
  private var ready = false

  def hasNext: Boolean = {
    while (!ready && (group < keys.length || rows.hasNext))
      if (group == keys.length) begin(rows.next())
      else {
        if (wanted(group)) ready = send(group)
        group += 1
      }
    ready
  }

  def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    ready = false
    out.getRow()
  }

  /** Reads an event, and finds the groups that it is sent to. */
  private def begin(event: InternalRow): Unit = {
    read.add(1)
    row = event
    arrival += 1
    payload = null
    first = true
    val now = times(event)
    if (now.isNullAt(0)) nullTimes.add(1)
    else {
      time = now.getLong(0)
      order = if (at.length == 1) 0L else now.getLong(1)
      try conditions(event)
      catch { case NonFatal(e) => throw FailedRule(groups.rules(conditions.evaluated), e) }
      System.arraycopy(groups.needAll, 0, wanted, 0, wanted.length)
      var i = 0
      while (i < conditions.count) {
        groups.of(conditions.met(i)).foreach(g => wanted(g) = true)
        i += 1
      }
      if (wanted.contains(true)) group = 0 else dropped.add(1)
    }
  }

  private def send(g: Int): Boolean = {
    val key = keys(g)(row)
    val isNull = key.anyNull()
    if (isNull) nullKeys.add(1)
    else {
      sent.add(1)
      if (payload == null) payload = packed(kept(row))
      out.reset()
      out.zeroOutNullBytes()
      out.write(RuleEvents.Group, g)
      out.write(RuleEvents.Key, bytes(key))
      out.write(RuleEvents.Time, time)
      out.write(RuleEvents.Order, order)
      out.write(RuleEvents.Arrival, arrival)
      out.write(RuleEvents.Met, metIn(g))
      out.write(RuleEvents.Payload, payload)
      if (fields > RuleEvents.First) {
        out.write(RuleEvents.First, first)
        out.setNullAt(RuleEvents.Tally)
      }
      first = false
    }
    !isNull
  }

  private def bytes(r: UnsafeRow): Array[Byte] =
    if (r.numFields == 0) EventLayout.NoKey
    else {
      val all = new Array[Byte](r.getSizeInBytes)
      r.writeToMemory(all, Platform.BYTE_ARRAY_OFFSET.toLong)
      all
    }

  private def packed(r: UnsafeRow): Array[Byte] = {
    val all = new Array[Byte](Payload.Head + r.getSizeInBytes)
    Payload.setTime(all, time)
    r.writeToMemory(all, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong)
    all
  }

  /** The conditions of the group's rules that the event meets. */
  private def metIn(g: Int): Array[Byte] = {
    val all = new Array[Byte](4 * conditions.count)
    var n = 0
    var i = 0
    while (i < conditions.count) {
      if (groups.of(conditions.met(i)).contains(g)) {
        Platform.putInt(all, Platform.BYTE_ARRAY_OFFSET + 4L * n, conditions.met(i))
        n += 1
      }
      i += 1
    }
    if (4 * n == all.length) all else java.util.Arrays.copyOf(all, 4 * n)
  }
}
