package sparkcer.views.translate

import org.apache.spark.sql.types.StructType

import sparkcer.Cer

/** A table or view that is read: its columns, and the length of its parts in seconds. */
final case class SourceTable(schema: StructType, length: Long)

/** Translates a view that is defined by a query to statements with INITIALIZE and UPDATE (Section 5 of ViewDF). The
  * helper view of a pattern has a state machine, and that of a sliding window has partial aggregates or prefix sums.
  * The translation is from text to text. Only the types of expressions are looked up in the active session.
  */
object Translate {

  /** The statements, sources first. The last one is the view itself. */
  def apply(statement: String, sources: String => Option[SourceTable]): Seq[String] = Cer.inWords {
    val query = ViewQuery(statement, sources)
    if (query.pattern.isDefined) PatternQuery(query) else WindowQuery(query)
  }

  /** The text of a statement. The functions get the name of the subscript, and return the lines of the query. */
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

  /** SELECT on one line, or with a line for each item if one line would be long. */
  private[views] def select(items: Seq[String]): Seq[String] = selectLines(items.map(Seq(_)))

  /** The same for items that have several lines. */
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
