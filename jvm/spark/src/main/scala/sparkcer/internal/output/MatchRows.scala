package sparkcer.internal.output

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import sparkcer.engine.evaluate.{Matches, Substream}

/** Writes matches as rows. A row is valid until the next one is written. */
trait MatchRows {

  /** The row of the match that `m` is at, or null if the match is not shown.
    *
    * @param end
    *   the time of the closing event, or the deadline
    * @param deadline
    *   see [[MatchIdentity]]
    */
  def write(
      key: Array[Byte],
      end: Long,
      deadline: Long,
      substream: Substream,
      m: Matches
  ): UnsafeRow

  /** The row of COUNT(*): how many matches an event, or a deadline, closes; or null if it is not shown.
    *
    * @param n
    *   `Long.MaxValue` means that many or more
    */
  def writeCount(key: Array[Byte], end: Long, n: Long): UnsafeRow

  /** Notes in a row that there are more matches than are returned, of which it is the last. */
  def cut(row: UnsafeRow): Unit
}
