package sparkcer.internal.stream

import sparkcer.engine.evaluate.Substream
import sparkcer.internal.output.{Deadlines, Ties, View}

/** The substream of a key in a [[Bucket]]. */
final private[stream] class KeyReader(val key: Array[Byte], val substream: Substream, view: View)
    extends Deadlines.Waiting {
  val ties: Ties = Ties.load(substream.attachment, view)

  /** Has it changed since the last piece? */
  var unsaved = false

  /** Was it dropped? */
  var gone = false

  val size = new KeySizes.One
}
