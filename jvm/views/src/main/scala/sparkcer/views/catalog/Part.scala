package sparkcer.views.catalog

/** The rows of a table that belong to one stretch of time.
  *
  * @param folders
  *   the paths of the folders with its rows, see [[DataFolder]]
  * @param changed
  *   the version of the catalog in which its rows last changed
  * @param updated
  *   when that was, in milliseconds
  * @param stale
  *   the source parts that changed after this part was computed
  * @param frozen
  *   whether the part keeps its rows although a source changed, because other parts that it needs were dropped
  * @param reasons
  *   what else makes the part stale, in words: a table outside of the views changed, or its files were lost
  * @param lost
  *   how many of its rows were lost with their files and could not be recomputed
  * @param without
  *   the parts whose lost rows were not there any more when it was computed
  */
private[views] final case class Part(
    index: Long,
    folders: Vector[String],
    rows: Long,
    changed: Long,
    updated: Long,
    stale: Vector[PartName] = Vector.empty,
    frozen: Boolean = false,
    reasons: Vector[String] = Vector.empty,
    lost: Long = 0,
    without: Vector[PartName] = Vector.empty
) {

  /** Have all rows that belong to it been there? */
  def isWhole: Boolean = lost == 0 && without.isEmpty

  def isStale: Boolean = stale.nonEmpty || reasons.nonEmpty

  /** Why it is stale: `M[7] changed`. */
  def because: Vector[String] = stale.map(n => s"$n changed") ++ reasons
}

/** A part of a view that could not be computed. The next run tries again.
  *
  * @param since
  *   when it first failed, in milliseconds
  */
private[views] final case class FailedPart(index: Long, error: String, since: Long)

private[views] final case class PartName(table: String, index: Long) {
  override def toString: String = s"$table[$index]"
}

/** A folder with Parquet files that are never changed. It has the rows of one part, or of several parts with the same
  * rows. If parts were rolled up, it has the different rows of several parts, and a column with the number of the part.
  *
  * @param path
  *   relative to the root folder of the views
  * @param parts
  *   how many parts were rolled up in it; zero if this is not known, or if it is not rolled up
  */
private[views] final case class DataFolder(path: String, rolled: Boolean, files: Vector[DataFile], parts: Long = 0)

private[views] final case class DataFile(name: String, size: Long, modified: Long)
