package sparkcer.views.statement

import java.util.Locale

/** `CREATE VIEW name AS INITIALIZE name[i] AS … UPDATE name[j] AS … PARTITION LENGTH n`.
  *
  * @param length
  *   of a part, in seconds
  */
private[views] final case class Statement(
    name: String,
    initialize: PartQuery,
    update: PartQuery,
    length: Long,
    text: String
) {

  /** The tables and views that it reads, without the view itself. */
  lazy val sources: Vector[String] =
    (initialize.references ++ update.references)
      .map(_.table)
      .filterNot(_.equalsIgnoreCase(name))
      .distinctBy(_.toLowerCase(Locale.ROOT))
}
