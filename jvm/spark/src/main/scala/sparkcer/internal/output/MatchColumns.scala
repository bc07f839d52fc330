package sparkcer.internal.output

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.cerbridge.{Columns, Plans}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.{ArrayType, DataType, Metadata, MetadataBuilder, StructType}

import sparkcer.engine.evaluate.Program
import sparkcer.internal.bind.{Binding, Plan, ShownAttribute}
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

  /** The columns of the result. Each is a new column, so that a result can be joined with itself. HAVING and measures
    * are evaluated here, after all else, and for matches only: a late event is a row without measures.
    */
  def apply(rows: DataFrame, b: Binding, plan: Plan): DataFrame = {
    def field(name: String): Column = col(s"`${name.replace("`", "``")}`").as(name)
    val keys = b.keys.map(k => col(MatchSchema.Key).getField(k.name).as(k.name))
    val end = if (plan.stream.watermark.isDefined) col("end") else field("end")
    val isLate = if (b.df.isStreaming && plan.stream.lateRows) Some(col("late").isNotNull) else None
    val over = new Over(rows)
    val matches =
      b.measures.condition.fold(rows)(h => rows.where(isLate.fold(over(h))(when(_, true).otherwise(over(h)))))
    val measures = b.measures.bound.iterator
    val columns =
      if (b.program.counts) keys ++ Vector(end, field("matches"))
      else
        Vector(field("match_id")) ++ keys ++ Vector(field("start"), end) ++ b.program.shown.flatMap {
          case v: Program.ShownVariable => shown(field(v.column.variable), v, b)
          case _: Program.ShownMeasure  =>
            val (m, e) = measures.next()
            Vector(isLate.fold(over(e))(l => when(!l, over(e))).as(m.name.value, marked(e.dataType)))
        }
    // No event of a batch is late.
    val late = if (b.df.isStreaming) col("late") else lit(null).cast(plan.schema.event).as("late")
    matches.select(columns ++ (if (plan.stream.lateRows) Vector(late) else Vector.empty): _*)
  }

  /** Expressions over the columns of match rows, by the names of these. */
  final private class Over(rows: DataFrame) {
    private val columns = Plans.planOf(rows).output.map(a => a.name -> a).toMap

    def apply(e: Expression): Column = Columns.column(e.transform { case a: Attribute => columns(a.name) })
  }

  /** The columns for one variable. */
  private def shown(whole: Column, v: Program.ShownVariable, b: Binding): Vector[Column] = {
    val attributes = v.attributes.map(_.map(b.attribute))
    if (v.flat)
      attributes.getOrElse(b.kept.map(f => ShownAttribute(f.name, Vector.empty, f.name)).toVector).map { a =>
        picked(whole, a).as(s"${v.name}_${a.name}", Metadata.empty)
      }
    else Vector(attributes.fold(whole)(narrowed(whole, v.column, _)).as(v.name))
  }

  private def picked(event: Column, a: ShownAttribute): Column =
    a.fields.foldLeft(event.getField(a.column))(_.getField(_))

  /** `x[a, b.c]`: some columns of the events of a variable. */
  private def narrowed(whole: Column, c: Program.Column, attributes: Vector[ShownAttribute]): Column = {
    def pick(e: Column): Column = struct(attributes.map(a => picked(e, a).as(a.name)): _*)
    if (!c.multiplicity.atMostOne) transform(whole, pick(_))
    else if (c.multiplicity.atLeastOne) pick(whole)
    else when(whole.isNotNull, pick(whole))
  }

  /** Of a measure: nothing of the columns that it is made of, such as their watermark. One that looks like a variable
    * says that it is none, for code that lists the events of a match.
    */
  private def marked(t: DataType): Metadata = t match {
    case _: StructType | ArrayType(_: StructType, _) => new MetadataBuilder().putBoolean(Measure, value = true).build()
    case _                                           => Metadata.empty
  }

  /** Notes the name of the time column in the metadata of `start`, for code that orders the events of a match. */
  def withTimeNoted(matches: DataFrame, b: Binding): DataFrame =
    if (b.program.counts) matches
    else matches.withMetadata("start", new MetadataBuilder().putString(TimeColumn, b.time.name).build())

  private val TimeColumn = "spark.cer.time"
  private val Measure = "spark.cer.measure"
}
