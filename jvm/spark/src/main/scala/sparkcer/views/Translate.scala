package sparkcer.views

import org.apache.spark.sql.types.StructType

/** What a translation knows of a table or a view: its columns, and the length of its parts in seconds. */
final case class Source(schema: StructType, length: Long)

/** Pattern and window queries as ViewDF statements. */
object Translate {
  def apply(statement: String, source: String => Option[Source]): Seq[String] = {
    val known = Lexer(statement).flatMap(_.name).filter(source(_).isDefined).distinct
    throw ViewsException.definition(
      "This is not a ViewDF statement: write CREATE VIEW v AS INITIALIZE v[i] AS … UPDATE v[j] AS … PARTITION LENGTH 60" +
        (if (known.isEmpty) "." else s", with parts of ${known.mkString(", ")}.")
    )
  }
}
