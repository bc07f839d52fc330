package sparkcer.peers

/** An engine. */
trait Peer {

  /** Reads the events of a job into memory. */
  def load(job: Job): Loaded
}

/** The events of a job, as the engine takes them. */
trait Loaded {
  def size: Int

  /** A new instance of the engine that has read nothing yet; making it is not measured. */
  def newPass(): Pass
}

trait Pass {

  /** Reads what the feed hands out and returns the number of matches. */
  def run(feed: Feed): Long

  /** The matches so far, for a pass that is cut off. */
  def matches: Long

  def close(): Unit
}
