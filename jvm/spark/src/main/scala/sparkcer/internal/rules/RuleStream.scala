package sparkcer.internal.rules

import org.apache.spark.sql.{Column, DataFrame, Encoders, SparkSession}
import org.apache.spark.sql.cerbridge.{Columns, Plans, Sessions}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.StructType

import sparkcer.internal.output.Unpack
import sparkcer.internal.prepare.{RunStarts, Tally}
import sparkcer.internal.stream.{StreamQuery, StreamWarnings}

/** A set of rules over a stream: one operator with one checkpoint for all of them. */
private[sparkcer] object RuleStream {

  def apply(spark: SparkSession, events: RuleEvents, set: RuleSetPlan, bound: BoundRules): DataFrame = {
    val stream = bound.stream
    StreamWarnings.atStart(bound.plans, stream)
    Sessions.listen(spark, RuleChanges)
    // A rule that is gone, or was for a while, must leave no state in any bucket.
    val rows = Plans.dataFrame(spark, Tally(events, Some(new RunStarts))).as[RuleEvent](Encoders.product[RuleEvent])
    val processor =
      new RuleProcessor(ForTasks(Sessions.session(spark).sparkContext, set), stream, StreamQuery.cacheBytes(spark))
    val metrics = RuleMetrics(spark, bound.leftOut, set.rules.map(_.id))
    // Buckets are of keys alone: the numbers of groups are others when the set changes.
    val found = StreamQuery.run(rows, processor, stream, oneTask = false, spark, col("group"), metrics)(
      Encoders.product[RuleEvent]
    )
    val schema = RuleWriter.schema(set)
    val watermarked = stream.watermark.isDefined
    def unpacked(name: String, as: StructType, always: Boolean): Column =
      Columns.column(Unpack(Columns.expression(col(name)), as, always))
    found
      .select(
        unpacked("row", schema, always = !set.lateRows).as("m"),
        unpacked("late", set.event, always = false).as("late"),
        col("end")
      )
      .select(schema.fieldNames.toSeq.map {
        case "end" if watermarked => col("end")
        case "late"               => col("late")
        case n                    => col("m").getField(n).as(n)
      }: _*)
  }
}
