package sparkcer.engine.state

import java.util.zip.CRC32C

/** The frame around a piece of saved state: a byte that says what it is, the version of the format, and at the end a
  * checksum over everything before it.
  */
object Frame {

  /** Raise it when the bytes inside change their meaning, and keep reading the old formats.
    *
    *   - 1: the first.
    *   - 2: the same bytes. The checkpoint also has a digest of what their numbers mean (`Program.digest`).
    */
  val Version = 2

  private val Magic = 0xce
  private val Checksum = 4

  def write(body: WireWriter => Unit): Array[Byte] = write(null: SharedArrays)(body)

  /** @param arrays
    *   where arrays go that other pieces may have too
    */
  def write(arrays: SharedArrays)(body: WireWriter => Unit): Array[Byte] = {
    val out = new WireWriter(arrays)
    out.byte(Magic)
    out.byte(Version)
    body(out)
    val sum = checksum(out.result(), out.length)
    (0 until Checksum).foreach(i => out.byte((sum >>> (8 * i)).toInt & 0xff))
    out.result()
  }

  def read(bytes: Array[Byte], arrays: SharedArrays = null): WireReader = {
    val end = bytes.length - Checksum
    if (end < 2 || (bytes(0) & 0xff) != Magic)
      throw new StateException("CER_STATE_DAMAGED.NOT_STATE")
    val version = bytes(1) & 0xff
    if (version > Version)
      throw new StateException(
        "CER_STATE_MISMATCH.NEWER_STATE",
        "format" -> version.toString,
        "most" -> Version.toString
      )
    val sum = (0 until Checksum).map(i => (bytes(end + i) & 0xffL) << (8 * i)).sum
    if (sum != checksum(bytes, end)) throw new StateException("CER_STATE_DAMAGED.CHECKSUM")
    new WireReader(bytes, 2, end, arrays)
  }

  private def checksum(bytes: Array[Byte], length: Int): Long = {
    val crc = new CRC32C
    crc.update(bytes, 0, length)
    crc.getValue
  }
}
