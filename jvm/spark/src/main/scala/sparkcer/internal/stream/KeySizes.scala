package sparkcer.internal.stream

import sparkcer.engine.evaluate.Substream

/** The sizes of all keys of a bucket together, kept up to date as keys change, so that nobody walks over the keys. */
final private[stream] class KeySizes {
  var bytes = 0L
  var nodes = 0L

  /** The last events of matches that wait for their deadline. */
  var pending = 0L

  /** How many events the largest of the keys keeps that have changed last. */
  var largest = 0L

  def update(one: KeySizes.One, s: Substream): Unit =
    set(one, KeySizes.OfKey + s.bytes, s.nodes.toLong, s.waiting.toLong)

  def remove(one: KeySizes.One): Unit = set(one, 0, 0, 0)

  /** A match has consumed what began in all keys. Those in which something waits again have changed, and are updated.
    */
  def nothingPending(): Unit = {
    pending = 0
    round += 1
  }

  /** What keys had pending in an earlier round is gone. */
  private var round = 0L

  private def set(one: KeySizes.One, b: Long, n: Long, p: Long): Unit = {
    bytes += b - one.bytes
    nodes += n - one.nodes
    pending += p - (if (one.round == round) one.pending else 0)
    one.round = round
    one.bytes = b
    one.nodes = n
    one.pending = p
  }
}

private[stream] object KeySizes {

  /** About what a key takes beside its substream. */
  private val OfKey = 200L

  /** The sizes of one key that are part of the sums. */
  final class One {
    private[KeySizes] var bytes = 0L
    private[KeySizes] var nodes = 0L
    private[KeySizes] var pending = 0L
    private[KeySizes] var round = 0L
  }
}
