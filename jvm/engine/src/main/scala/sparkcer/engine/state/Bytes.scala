package sparkcer.engine.state

/** Bytes with equality by content, as the key of a map. The array must not be changed. */
final class Bytes(val array: Array[Byte]) {
  override val hashCode: Int = java.util.Arrays.hashCode(array)
  override def equals(other: Any): Boolean = other match {
    case b: Bytes => java.util.Arrays.equals(array, b.array)
    case _        => false
  }
}
