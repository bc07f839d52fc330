package sparkcer.internal.rules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkcer.engine.evaluate.{Matches, Program, Substream}
import sparkcer.internal.output.{MatchIdentity, MatchRows, MatchWriter, View}
import sparkcer.internal.prepare.Payload

/** Makes the rows of all rules of a set. Generating its code for each of a thousand rules would take seconds. For one
  * thread.
  */
final private[rules] class RuleRows(set: RuleSetPlan) {
  private lazy val projection = UnsafeProjection.create(RuleWriter.schema(set))

  def apply(row: InternalRow): UnsafeRow = projection(row)
}

/** The rows of a rule's matches, which look alike whatever the rule is, see [[RuleWriter.schema]].
  *
  * @param identified
  *   the columns of an event that its `match_id` is made of
  * @param matchRow
  *   writes the row that the rule alone would have, for measures and HAVING; null if it has neither
  */
final private[rules] class RuleWriter(
    rule: RulePlan,
    program: Program,
    set: RuleSetPlan,
    identified: View,
    matchRow: MatchWriter,
    rows: RuleRows
) extends MatchRows {
  private val id = UTF8String.fromString(rule.id)
  private val identity = new MatchIdentity(rule.fingerprint, identified)
  private val clock = rule.plan.clock
  private val row = new GenericInternalRow(RuleWriter.schema(set).length) // without a late event
  private val measures = rule.output.measures.map(e => UnsafeProjection.create(Seq(e)))
  private val having = rule.output.having.map(Predicate.create(_))

  /** For each label its variables, of those that are selected. */
  private val variables: Array[GenericArrayData] = program.cea.labels
    .map(label => new GenericArrayData(label.toArray.sorted.map(UTF8String.fromString(_): Any)))
    .toArray

  private val keyFields = rule.plan.schema.key
  private val keyRow = new UnsafeRow(keyFields.length)
  private val keyNames = new GenericArrayData(keyFields.fieldNames.map(UTF8String.fromString(_): Any))
  private val keyTexts = keyFields.zipWithIndex.map { case (f, i) =>
    Cast(BoundReference(i, f.dataType, f.nullable), StringType, Some(set.zone))
  }

  private def key(bytes: Array[Byte]): ArrayBasedMapData = {
    keyRow.pointTo(bytes, bytes.length)
    new ArrayBasedMapData(keyNames, new GenericArrayData(keyTexts.map(_.eval(keyRow)).toArray[Any]))
  }

  def write(
      keyBytes: Array[Byte],
      end: Long,
      deadline: Long,
      substream: Substream,
      m: Matches
  ): UnsafeRow = {
    val own = if (matchRow == null) null else matchRow.write(keyBytes, end, deadline, substream, m)
    if (!having.forall(_.eval(own))) null
    else {
      row(0) = id
      row(1) = UTF8String.fromBytes(identity(keyBytes, substream, m, deadline).clone())
      row(2) = key(keyBytes)
      row(3) = clock.value(Payload.time(substream.payload(m.start)))
      row(4) = clock.value(end)
      row(5) = new GenericArrayData(Array.tabulate[Any](m.length)(i => event(substream, m, m.length - 1 - i)))
      row(6) = measures.fold[Any](null)(_.apply(own).getVariant(0))
      row(7) = null
      row(RuleWriter.Truncated) = false
      rows(row)
    }
  }

  def writeCount(keyBytes: Array[Byte], end: Long, n: Long): UnsafeRow = {
    val own = if (matchRow == null) null else matchRow.writeCount(keyBytes, end, n)
    if (!having.forall(_.eval(own))) null
    else {
      row(0) = id
      row(1) = null
      row(2) = key(keyBytes)
      row(3) = null
      row(4) = clock.value(end)
      row(5) = null
      row(6) = null
      row(7) = n
      row(RuleWriter.Truncated) = n == Long.MaxValue
      rows(row)
    }
  }

  def cut(row: UnsafeRow): Unit = row.setBoolean(RuleWriter.Truncated, true)

  private def event(substream: Substream, m: Matches, i: Int): InternalRow = {
    val payload = substream.payload(m.event(i))
    val columns = new UnsafeRow(set.event.length)
    columns.pointTo(payload, Platform.BYTE_ARRAY_OFFSET + Payload.Head.toLong, payload.length - Payload.Head)
    new GenericInternalRow(Array[Any](variables(m.label(i)), columns))
  }
}

private[sparkcer] object RuleWriter {
  private val Truncated = 8

  /** The events of a match are in order, each once, with all its variables. A late event is a row by itself. */
  def schema(set: RuleSetPlan): StructType = StructType(
    Seq(
      StructField("rule_id", StringType, nullable = set.lateRows),
      StructField("match_id", StringType),
      StructField("key", MapType(StringType, StringType), nullable = set.lateRows),
      StructField("start", set.time),
      StructField("end", set.time, nullable = set.lateRows),
      StructField(
        "events",
        ArrayType(
          StructType(
            Seq(
              StructField("variables", ArrayType(StringType, containsNull = false), nullable = false),
              StructField("event", set.event, nullable = false)
            )
          ),
          containsNull = false
        )
      ),
      StructField("measures", VariantType),
      StructField("matches", LongType),
      StructField("truncated", BooleanType, nullable = set.lateRows)
    ) ++ (if (set.lateRows) Seq(StructField("late", set.event)) else Nil)
  )
}
