package sparkcer.engine.automaton

/** An event that a step must not take, for `NO α` and `WITHOUT α`: it meets the condition, and all comparisons with
  * earlier events hold. Whether they hold changes no register.
  *
  * The condition is one that α meets, and not its negation. So an event that is no α needs no bit in its mask, and can
  * be dropped before it reaches an evaluator.
  */
final case class Unless[C](condition: C, uses: Vector[ComparisonUse])
