package sparkcer.internal.stream

/** The live state of a bucket, and what a micro-batch does with it: its events are of type E. */
trait LiveBucket[E] {

  /** Where its log ends. */
  var head: LogHead = LogHead.Empty

  /** Reads the events of a micro-batch.
    *
    * @param watermark
    *   the time before which Spark regards everything as past after this micro-batch
    */
  def read(events: Array[E], watermark: Long, out: BucketOutput): Unit

  /** Does what the time alone brings about. */
  def advance(watermark: Long, out: BucketOutput): Unit

  /** The time at which it must be visited even if no event comes. */
  def wakeAt: Option[Long]

  def isEmpty: Boolean

  /** About what it takes in memory, as of the last piece. */
  def bytes: Long

  /** Its sizes, as of the last piece. */
  def measure(counts: Counts): Unit

  /** A piece with what changed since the last one; or, with `true`, a full piece with everything. */
  def save(): (Array[Byte], Boolean)
}
