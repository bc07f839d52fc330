package sparkcer.internal.stream

/** What the rules of a set did in a bucket in one micro-batch, and the size of their state after it.
  *
  * @param rules
  *   how many rules there are
  */
final private[sparkcer] class RuleTally(rules: Int) {

  /** For each rule: those of [[RuleTally.Names]], and nanoseconds. All are 0 for a rule that did nothing. */
  val numbers = new Array[Long](rules * RuleTally.Size)

  /** The rules whose saved state was dropped because they are not the same any more. */
  var begunAnew: Seq[String] = Nil

  /** The rules whose saved state was dropped because the set does not have them any more. */
  var gone: Seq[String] = Nil

  /** Did the rule do something? Then it took some time. */
  def did(rule: Int): Boolean = numbers(rule * RuleTally.Size + RuleTally.Nanos) > 0

  def add(rule: Int, number: Int, n: Long): Unit = numbers(rule * RuleTally.Size + number) += n
}

private[sparkcer] object RuleTally {
  val Events = 0
  val Matches = 1
  val Nodes = 2
  val Bytes = 3
  val Nanos = 4

  /** How many numbers there are of a rule. */
  val Size = 5

  /** The names of the first of them. */
  val Names: Vector[String] = Vector("events", "matches", "nodes", "bytes")
}
