package sparkcer.internal.rules

/** An event of a stream that is sent to a group of rules, see [[RuleEvents]].
  *
  * @param met
  *   the numbers of the conditions that it meets, each in four bytes
  * @param first
  *   whether the event was sent to no group before this one
  * @param tally
  *   null; or the numbers of a [[sparkcer.internal.prepare.Tally]], in a row that is no event
  */
final case class RuleEvent(
    group: Int,
    key: Array[Byte],
    time: Long,
    order: Long,
    arrival: Long,
    met: Array[Byte],
    payload: Array[Byte],
    first: Boolean,
    tally: Array[Long] = null
)
