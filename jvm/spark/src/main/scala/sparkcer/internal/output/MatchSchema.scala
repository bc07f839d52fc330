package sparkcer.internal.output

import org.apache.spark.sql.types._

import sparkcer.engine.evaluate.Program

/** The shape of a match row: identity, key, interval, and for each variable a struct or an array of structs. */
final case class MatchSchema(
    key: StructType,
    time: DataType,
    event: StructType,
    columns: Vector[Program.Column],
    counts: Boolean
) {
  val row: StructType = if (counts) countRow else matchRow

  /** The row, with a name for the key that no variable can have. The names in `row` are part of every `match_id`, so
    * they do not change.
    */
  val named: StructType = {
    val place = if (counts) 0 else 1
    StructType(row.updated(place, row(place).copy(name = MatchSchema.Key)))
  }

  private def countRow = StructType(
    Vector(
      StructField("key", key, nullable = false),
      StructField("end", time, nullable = false),
      StructField("matches", LongType, nullable = false)
    )
  )

  private def matchRow = StructType(
    Vector(
      StructField("match_id", StringType, nullable = false),
      StructField("key", key, nullable = false),
      StructField("start", time, nullable = false),
      StructField("end", time, nullable = false)
    ) ++ columns.map(c =>
      if (c.multiplicity.atMostOne) StructField(c.variable, event, nullable = !c.multiplicity.atLeastOne)
      else StructField(c.variable, ArrayType(event, containsNull = false), nullable = false)
    )
  )
}

private[sparkcer] object MatchSchema {
  val Key = "__cer_key"
}
