package sparkcer.engine.evaluate

import scala.collection.mutable

import sparkcer.engine.state.{Bytes, Frame, SharedArrays, StateException, WireReader}

/** The substreams of a query by key, and their saved state: a full piece, and then pieces with what changed since the
  * piece before. All pieces in order restore the same substreams. Determinized states are written as sets of automaton
  * states, so every evaluator of the query can read a piece.
  *
  * A piece holds the events and nodes that are new since the last one, and the entries of substreams that changed. So
  * its size is proportional to the events that were read, not to the partial matches that are kept.
  */
final class Partitions(val evaluator: Evaluator) {
  private val byKey = mutable.LinkedHashMap.empty[Bytes, Substream]
  private val gone = mutable.LinkedHashSet.empty[Bytes]

  def size: Int = byKey.size

  def getOrCreate(key: Array[Byte]): Substream =
    byKey.getOrElseUpdate(new Bytes(key), evaluator.newSubstream())

  def remove(key: Array[Byte]): Unit =
    byKey.remove(new Bytes(key)).foreach { s =>
      evaluator.remove(s)
      if (s.saved) gone += new Bytes(key)
    }

  def foreach(f: (Array[Byte], Substream) => Unit): Unit = byKey.foreach { case (k, s) => f(k.array, s) }

  /** Everything, as the first piece. */
  def save(arrays: SharedArrays = null): Array[Byte] = piece(byKey.iterator, full = true, arrays)

  /** What changed since the last call of `save` or `saveChanges`, if events of these keys only were read, and deadlines
    * of these only were fired, since then. It visits these keys only, unless a match consumed the events of all keys.
    */
  def saveChanges(read: Iterator[Array[Byte]], arrays: SharedArrays = null): Array[Byte] =
    if (evaluator.epoch != savedEpoch) piece(byKey.iterator, full = false, arrays)
    else piece(read.map(new Bytes(_)).flatMap(k => byKey.get(k).map(k -> _)), full = false, arrays)

  /** How often matches had consumed the events of all keys when the last piece was written. */
  private var savedEpoch = evaluator.epoch

  private def piece(candidates: Iterator[(Bytes, Substream)], full: Boolean, arrays: SharedArrays) =
    Frame.write(arrays) { out =>
      savedEpoch = evaluator.epoch
      out.byte(if (full) Partitions.Full else Partitions.Changes)
      if (!full) {
        out.int(gone.size)
        gone.foreach(k => out.array(k.array))
      }
      gone.clear()
      val written = candidates.filter { case (_, s) => full || s.changed }.toVector
      out.int(written.size)
      written.foreach { case (k, s) =>
        out.array(k.array)
        s.save(out, full)
      }
    }

  private def restore(in: WireReader): Unit = {
    if (in.byte() == Partitions.Full) {
      byKey.values.foreach(evaluator.remove)
      byKey.clear()
    } else (0 until in.int()).foreach(_ => byKey.remove(new Bytes(in.array())).foreach(evaluator.remove))
    (0 until in.int()).foreach { _ =>
      val key = in.array()
      getOrCreate(key).restore(in)
    }
    if (!in.done) throw new StateException("CER_STATE_DAMAGED.TOO_LONG")
  }
}

object Partitions {
  private val Full = 0
  private val Changes = 1

  /** The substreams that were saved in these pieces, each with the arrays that it shares with others, or null. */
  def load(evaluator: Evaluator, pieces: Iterable[(Array[Byte], SharedArrays)]): Partitions = {
    val partitions = new Partitions(evaluator)
    pieces.foreach { case (p, arrays) => partitions.restore(Frame.read(p, arrays)) }
    partitions
  }
}
