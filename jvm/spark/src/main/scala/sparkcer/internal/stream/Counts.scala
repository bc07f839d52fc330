package sparkcer.internal.stream

/** What happened in a bucket in one micro-batch, and, from `buckets` on, the size of its state after it.
  *
  * @param input
  *   all events: `dropped` could not be part of a match, `nullKeys` and `nullTimes` have no key or time, and `events`
  *   were read
  * @param lateness
  *   in milliseconds: so much longer must the delay of the watermark be, so that none of the late events is late
  * @param rules
  *   of a set: what its rules did
  */
final case class Counts(
    var input: Long = 0,
    var dropped: Long = 0,
    var nullKeys: Long = 0,
    var nullTimes: Long = 0,
    var events: Long = 0,
    var matches: Long = 0,
    var late: Long = 0,
    var idle: Long = 0,
    var buckets: Long = 0,
    var held: Long = 0,
    var pending: Long = 0,
    var keys: Long = 0,
    var nodes: Long = 0,
    var bytes: Long = 0,
    var largest: Long = 0,
    var lateness: Long = 0,
    var rules: Option[RuleTally] = None
) {

  /** In the order of [[Counts.Names]]. */
  def numbers: Array[Long] = productIterator.collect { case n: Long => n }.toArray
}

private[sparkcer] object Counts {
  val Names: Vector[String] = {
    val none = Counts()
    none.productElementNames.zip(none.productIterator).collect { case (name, _: Long) => name }.toVector
  }

  /** Of these, the largest of all buckets is told, and of the others the sum. */
  val Largest: Set[String] = Set("largest", "lateness")
}
