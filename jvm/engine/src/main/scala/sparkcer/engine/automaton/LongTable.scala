package sparkcer.engine.automaton

/** A hash table from masks to the numbers of their classes, with open addressing and no boxed values. Nothing is ever
  * removed.
  */
final private[automaton] class LongTable {
  private var keys = new Array[Long](64)
  private var values = Array.fill(64)(LongTable.Absent)
  private var size = 0

  /** The value, or a negative number if the key is not there. */
  def apply(key: Long): Int = values(slot(key))

  /** Adds a key that is not there. */
  def update(key: Long, value: Int): Unit = {
    if (2 * size >= keys.length) grow()
    val at = slot(key)
    keys(at) = key
    values(at) = value
    size += 1
  }

  private def slot(key: Long): Int = {
    val mask = keys.length - 1
    val hash = key * 0x9e3779b97f4a7c15L
    var at = (hash ^ (hash >>> 32)).toInt & mask
    while (values(at) != LongTable.Absent && keys(at) != key) at = (at + 1) & mask
    at
  }

  private def grow(): Unit = {
    val (oldKeys, oldValues) = (keys, values)
    keys = new Array[Long](2 * oldKeys.length)
    values = Array.fill(2 * oldKeys.length)(LongTable.Absent)
    oldKeys.indices.foreach { i =>
      if (oldValues(i) != LongTable.Absent) {
        val at = slot(oldKeys(i))
        keys(at) = oldKeys(i)
        values(at) = oldValues(i)
      }
    }
  }
}

private[automaton] object LongTable {
  private val Absent = -1
}
