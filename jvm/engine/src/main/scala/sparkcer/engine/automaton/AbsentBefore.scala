package sparkcer.engine.automaton

import sparkcer.engine.ceql.Window

/** `NO α FOR d ; φ`, at the beginning of a query: an event starts no match if an α came in the `length` before it.
  *
  * Whether one came is a bit of the event's mask, after those of the conditions. No operator before the engine knows
  * it: a substream sets it, because it keeps the time of the last α. It is set if one came, so that the bit is 0 in
  * queries, and for events, that know of none.
  *
  * @param conditions
  *   an event that meets one of them is an α
  */
final case class AbsentBefore[C](conditions: Set[C], length: Window)
