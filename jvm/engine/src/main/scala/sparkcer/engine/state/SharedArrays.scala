package sparkcer.engine.state

import scala.collection.mutable.ArrayBuffer

/** Arrays of bytes that several pieces of saved state have in common, such as an event that many queries keep. Each is
  * written once, and the pieces have its number. When they are read, all of them have the same array again.
  *
  * Arrays are told apart by reference: comparing them would cost more than writing the few that are equal by chance.
  */
final class SharedArrays {
  private val arrays = ArrayBuffer.empty[Array[Byte]]
  private val numbers = new java.util.IdentityHashMap[Array[Byte], Integer]

  private var used = 0L
  private var once = 0L

  /** The number of an array, which is added if it is new. */
  def number(a: Array[Byte]): Int = {
    used += a.length
    val known = numbers.get(a)
    if (known != null) known
    else add(a)
  }

  private def add(a: Array[Byte]): Int = {
    once += a.length
    numbers.put(a, arrays.length)
    arrays += a
    arrays.length - 1
  }

  def apply(number: Int): Array[Byte] = {
    if (number < 0 || number >= arrays.length) throw new StateException("CER_STATE_DAMAGED.CUT_OFF")
    used += arrays(number).length
    arrays(number)
  }

  /** How many bytes are saved because arrays are there once. */
  def repeated: Long = math.max(0, used - once)

  def save(out: WireWriter): Unit = {
    out.int(arrays.length)
    arrays.foreach(out.array)
  }
}

object SharedArrays {

  /** @param change
    *   what each array becomes
    */
  def load(in: WireReader, change: Array[Byte] => Array[Byte]): SharedArrays = {
    val shared = new SharedArrays
    (0 until in.int()).foreach(_ => shared.add(change(in.array())): Unit)
    shared
  }
}
