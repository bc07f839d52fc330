package sparkcer.engine.evaluate

/** The matches that an event or a deadline closed, one at a time. They are valid until the evaluator reads another
  * event or fires another deadline.
  *
  * A match is an interval and its marked events, in order from the *last* (index 0) to the first. An event is given by
  * its number in the substream, which has its payload, and a label by its number in `Cea.labels`, which has its
  * variables.
  */
trait Matches {

  /** Moves to the next match; false after the last. */
  def next(): Boolean

  /** The first and the last event of the interval. A deadline comes after the last event. */
  def start: Int
  def end: Int

  /** How many events are marked, and which. */
  def length: Int
  def event(i: Int): Int
  def label(i: Int): Int
}

/** The first `limit` of some matches. */
final private[evaluate] class Limited(all: Matches, limit: Long) extends Matches {
  private var shown = 0L

  def next(): Boolean = { shown += 1; shown <= limit && all.next() }
  def start: Int = all.start
  def end: Int = all.end
  def length: Int = all.length
  def event(i: Int): Int = all.event(i)
  def label(i: Int): Int = all.label(i)
}
