package sparkcer.engine.automaton

import sparkcer.engine.ceql.Window

/** `φ ; NO α FOR d`, at the end of a query or of a side of OR: a match of φ ends at its deadline, which is the `length`
  * after its last event, if no α comes until then.
  *
  * @param absent
  *   what an α is
  */
final case class Ending[C](absent: Set[Unless[C]], length: Window)
