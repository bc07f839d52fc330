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
  */
private[views] final case class Part(
    index: Long,
    folders: Vector[String],
    rows: Long,
    changed: Long,
    updated: Long,
    stale: Vector[PartName] = Vector.empty,
    frozen: Boolean = false
)

private[views] final case class PartName(table: String, index: Long) {
  override def toString: String = s"$table[$index]"
}

/** A folder with Parquet files that are never changed. It has rows of one part. If parts were rolled up, it has rows of
  * several parts, and a column with the number of the part.
  *
  * @param path
  *   relative to the root folder of the views
  */
private[views] final case class DataFolder(path: String, rolled: Boolean, files: Vector[DataFile])

private[views] final case class DataFile(name: String, size: Long, modified: Long)
