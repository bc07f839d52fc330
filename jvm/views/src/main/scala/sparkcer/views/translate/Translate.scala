package sparkcer.views.translate

import org.apache.spark.sql.types.StructType

import sparkcer.Cer

/** What a translation knows of a table or a view: its columns, and the length of its parts in seconds. */
final case class Source(schema: StructType, length: Long)

/** Views that are defined by a query, as statements that keep them up to date part by part (Section 5 of ViewDF): a
  * pattern becomes a state machine in a helper view, a sliding window becomes partial aggregates or prefix sums in a
  * helper view. Only text goes in and comes out; Spark's active session is asked for the types of expressions.
  */
object Translate {

  /** The statements, each after those that it reads, the view itself last. */
  def apply(statement: String, sources: String => Option[Source]): Seq[String] = Cer.inWords {
    val query = ViewQuery(statement, sources)
    if (query.pattern.isDefined) PatternQuery(query) else WindowQuery(query)
  }

  /** The text of a statement. The queries, as lines, are given the subscript of the part that they make. */
  private[views] def viewDF(
      name: String,
      length: Long,
      initialize: String => Seq[String],
      update: String => Seq[String]
  ): String = {
    def indented(lines: Seq[String]) = lines.map("  " + _)
    (Seq(s"CREATE VIEW $name AS", s"INITIALIZE $name[i] AS") ++ indented(initialize("i")) ++
      Seq(s"UPDATE $name[j] AS") ++ indented(update("j")) :+ s"PARTITION LENGTH $length").mkString("\n")
  }

  private val Width = 100

  /** SELECT on one line, or with a line for each item if that would be long. */
  private[views] def select(items: Seq[String]): Seq[String] = selectLines(items.map(Seq(_)))

  /** Items of several lines each. */
  private[views] def selectLines(items: Seq[Seq[String]]): Seq[String] = {
    val short = s"SELECT ${items.map(_.mkString(" ")).mkString(", ")}"
    if (short.length <= Width) Seq(short)
    else
      "SELECT" +: items.zipWithIndex.flatMap { case (lines, i) =>
        val comma = if (i + 1 < items.length) "," else ""
        (lines.init :+ (lines.last + comma)).map("  " + _)
      }
  }
}
