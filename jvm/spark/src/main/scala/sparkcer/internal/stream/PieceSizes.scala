package sparkcer.internal.stream

/** The bytes of the pieces in a bucket's log. A full piece replaces the log once the pieces since the last full one are
  * more than twice its size.
  */
final private[sparkcer] class PieceSizes {
  private var full = 0L
  private var later = 0L

  def ofFull: Long = full

  def total: Long = full + later

  def wantFull: Boolean = later > 2 * full + PieceSizes.SmallLog

  def note(isFull: Boolean, piece: Array[Byte]): Unit =
    if (isFull) { full = piece.length.toLong; later = 0 }
    else later += piece.length
}

private object PieceSizes {

  /** A log whose later pieces have fewer bytes is not replaced. */
  private val SmallLog = 65536L
}
