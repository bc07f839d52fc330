package sparkcer.engine.state

/** Writes numbers as varints, small ones in few bytes: 7 bits in each byte, with the sign in the lowest bit (zigzag).
  */
final class WireWriter(arrays: SharedArrays = null) {
  private var bytes = new Array[Byte](256)
  private var size = 0

  def length: Int = size

  def byte(b: Int): Unit = {
    room(1)
    bytes(size) = b.toByte
    size += 1
  }

  def long(value: Long): Unit = {
    room(10)
    var v = (value << 1) ^ (value >> 63)
    while ((v & ~0x7fL) != 0) {
      bytes(size) = (v & 0x7f | 0x80).toByte
      size += 1
      v >>>= 7
    }
    bytes(size) = v.toByte
    size += 1
  }

  def int(value: Int): Unit = long(value.toLong)

  /** An array of bytes, or null. */
  def array(a: Array[Byte]): Unit =
    if (a == null) int(-1)
    else {
      int(a.length)
      room(a.length)
      System.arraycopy(a, 0, bytes, size, a.length)
      size += a.length
    }

  /** An array that other pieces may have too, see [[SharedArrays]]. */
  def shared(a: Array[Byte]): Unit = if (arrays == null) array(a) else if (a == null) int(-1) else int(arrays.number(a))

  def words(a: Array[Long]): Unit = {
    int(a.length)
    a.foreach(long)
  }

  def result(): Array[Byte] = java.util.Arrays.copyOf(bytes, size)

  private def room(n: Int): Unit =
    if (size + n > bytes.length) bytes = java.util.Arrays.copyOf(bytes, math.max(size + n, 2 * bytes.length))
}

/** Reads what [[WireWriter]] wrote. It throws [[StateException]] if the bytes end too early. */
final class WireReader(bytes: Array[Byte], private var at: Int, end: Int, arrays: SharedArrays = null) {
  def done: Boolean = at == end

  def byte(): Int = {
    if (at >= end) throw new StateException("CER_STATE_DAMAGED.CUT_OFF")
    at += 1
    bytes(at - 1) & 0xff
  }

  def long(): Long = {
    var v = 0L
    var shift = 0
    var b = byte()
    while ((b & 0x80) != 0) {
      v |= (b & 0x7fL) << shift
      shift += 7
      if (shift > 63) throw new StateException("CER_STATE_DAMAGED.NUMBER")
      b = byte()
    }
    v |= b.toLong << shift
    (v >>> 1) ^ -(v & 1)
  }

  def int(): Int = long().toInt

  def array(): Array[Byte] = {
    val n = int()
    if (n < 0) null
    else {
      if (n > end - at) throw new StateException("CER_STATE_DAMAGED.CUT_OFF")
      at += n
      java.util.Arrays.copyOfRange(bytes, at - n, at)
    }
  }

  def shared(): Array[Byte] =
    if (arrays == null) array()
    else {
      val number = int()
      if (number < 0) null else arrays(number)
    }

  def words(): Array[Long] = {
    val n = int()
    if (n < 0 || n > end - at) throw new StateException("CER_STATE_DAMAGED.CUT_OFF")
    Array.fill(n)(long())
  }
}
