package sparkcer.engine.evaluate

import sparkcer.engine.automaton.Determinized
import sparkcer.engine.compare.Cell
import sparkcer.engine.state.{WireReader, WireWriter}

/** What the three kinds of [[Substream]] do in different ways: keep partial matches, and move them with each event. */
abstract class PartialMatches private[evaluate] {

  /** Moves the partial matches with an event, and says whether it closes a match.
    *
    * @param bound
    *   the earliest time at which a match that ends here may start
    * @param timed
    *   whether the event has a time: one without can neither start nor end a match
    */
  private[evaluate] def step(cls: Int, time: Long, bound: Long, payload: Array[Byte], timed: Boolean): Boolean

  /** Drops all partial matches. */
  private[evaluate] def clear(): Unit

  /** Removes the partial matches that have left the window. */
  private[evaluate] def sweep(): Unit

  /** Switches to the evaluator's new automaton, which numbers states and classes in another way. */
  private[evaluate] def renumber(old: Determinized): Unit

  // For a query that ends with `NO α FOR d`.

  /** The matches that the last step has found, as they wait until the deadline. */
  private[evaluate] def found(deadline: Long): Pending.Item

  /** For each head of the last step, the cells in which its matches end, in a query whose automaton keeps them. */
  private[evaluate] def endsOfHeads: Array[Array[Cell]] = null

  /** Drops the matches that wait and for which an event of the class is an α. */
  private[evaluate] def dropPending(cls: Int, payload: Array[Byte]): Unit

  /** Gives matches that have waited to the evaluator, as a step does with those that it closes. */
  private[evaluate] def close(due: Pending.Item): Unit

  // Saved state.

  /** Writes all partial matches, or, unless `full`, what is new since they were last saved. */
  private[evaluate] def write(out: WireWriter, full: Boolean): Unit

  /** Adds what `write` wrote to what is here. */
  private[evaluate] def readBack(in: WireReader): Unit
}
