package sparkcer.internal.output

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.cerbridge.Columns
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.{MetadataBuilder, StructType}

import sparkcer.engine.evaluate.Program
import sparkcer.internal.bind.{Binding, Plan}
import sparkcer.internal.prepare.AsLong

/** Match rows as the columns that users see. */
object MatchColumns {

  /** Typed columns from the bytes of a stream's match rows and late events. With a watermark, `end` is the column that
    * Spark knows to carry it, so that a windowed aggregation over matches works.
    */
  def unpacked(rows: DataFrame, plan: Plan): DataFrame = {
    val watermarked = plan.stream.watermark.isDefined
    val columns = plan.schema.named.fieldNames.toVector.filterNot(_ == "end" && watermarked)
    rows
      .select(
        unpack(col("row"), plan.schema.named, always = !plan.stream.lateRows).as("m"),
        unpack(col("late"), plan.schema.event, always = false).as("late"),
        col("end")
      )
      .select(
        columns.map(n => col("m").getField(n).as(n)) ++
          (if (watermarked) Seq(col("end")) else Nil) ++ (if (plan.stream.lateRows) Seq(col("late")) else Nil): _*
      )
  }

  /** Typed columns from the bytes of rows that are all matches: those that end at `from` or later. */
  def unpackedMatches(rows: DataFrame, plan: Plan, from: Column): DataFrame =
    rows
      .select(unpack(col("row"), plan.schema.named, always = true).as("m"), from.as("from"))
      .where(AsLong.of(col("m").getField("end")) >= col("from"))
      .select("m.*")

  private def unpack(c: Column, schema: StructType, always: Boolean): Column =
    Columns.column(Unpack(Columns.expression(c), schema, always))

  /** The columns of the result. Each is a new column, so that a result can be joined with itself. */
  def apply(rows: DataFrame, b: Binding, plan: Plan): DataFrame = {
    def field(name: String): Column = col(s"`${name.replace("`", "``")}`").as(name)
    val keys = b.keys.map(k => col(MatchSchema.Key).getField(k.name).as(k.name))
    val end = if (plan.stream.watermark.isDefined) col("end") else field("end")
    val columns =
      if (b.program.counts) keys ++ Vector(end, field("matches"))
      else
        Vector(field("match_id")) ++ keys ++ Vector(field("start"), end) ++
          b.program.columns.map { c =>
            val whole = field(c.variable)
            b.attributes(c).fold(whole)(fields => narrowed(whole, c, fields.map(_.name)).as(c.variable))
          }
    // No event of a batch is late.
    val late = if (b.df.isStreaming) col("late") else lit(null).cast(plan.schema.event).as("late")
    rows.select(columns ++ (if (plan.stream.lateRows) Vector(late) else Vector.empty): _*)
  }

  /** `x[a, b]`: some columns of the events of a variable. */
  private def narrowed(whole: Column, c: Program.Column, names: Vector[String]): Column = {
    def pick(e: Column): Column = struct(names.map(n => e.getField(n).as(n)): _*)
    if (!c.multiplicity.atMostOne) transform(whole, pick(_))
    else if (c.multiplicity.atLeastOne) pick(whole)
    else when(whole.isNotNull, pick(whole))
  }

  /** Notes the name of the time column in the metadata of `start`, for code that orders the events of a match. */
  def withTimeNoted(matches: DataFrame, b: Binding): DataFrame =
    if (b.program.counts) matches
    else matches.withMetadata("start", new MetadataBuilder().putString(TimeColumn, b.time.name).build())

  private val TimeColumn = "spark.cer.time"
}
