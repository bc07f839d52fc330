package sparkcer.engine.state

import java.nio.ByteBuffer

/** Bytes with equality by content, as the key of a map. The array must not be changed. */
final class Bytes(val array: Array[Byte]) {
  override val hashCode: Int = Bytes.hash(array)
  override def equals(other: Any): Boolean = other match {
    case b: Bytes => java.util.Arrays.equals(array, b.array)
    case _        => false
  }
}

private object Bytes {

  /** Keys are rows of Spark: many bytes, of which few differ. `Arrays.hashCode` takes them one by one, and gives keys
    * such as N001 and N002 hash codes that meet in the same places of a table. Here eight bytes are taken at once, and
    * each multiplication by an odd number with many bits moves what differs up, from where the shifts bring it down.
    */
  private def hash(array: Array[Byte]): Int = {
    val bytes = ByteBuffer.wrap(array)
    var h = array.length.toLong
    while (bytes.remaining >= 8) h = mix(h ^ bytes.getLong())
    while (bytes.hasRemaining) h = mix(h ^ bytes.get())
    (h ^ h >>> 32).toInt
  }

  private def mix(h: Long): Long = {
    val m = h * 0x9e3779b97f4a7c15L
    m ^ m >>> 29
  }
}
