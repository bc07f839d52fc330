package sparkcer.internal.rules

import org.apache.spark.unsafe.Platform

/** Finds the rules that read an event: those that have a condition which it meets, and those that must see all events
  * of their keys. The others cost nothing. For one thread.
  */
final private[rules] class Dispatch(set: RuleSetPlan) {
  private val groups: Array[OfGroup] = Array.tabulate(set.groups)(new OfGroup(_))

  /** For each rule the conditions of its program that the event meets, as bits. */
  private val masks: Array[Array[Long]] =
    set.rules.map(r => new Array[Long](math.max(1, (r.conditions.length + 63) / 64))).toArray
  private val touched = new Array[Boolean](set.rules.length)

  /** The rules that read the last event: the first `count` of these numbers. */
  val reading = new Array[Int](set.rules.length)
  var count = 0

  final private class OfGroup(number: Int) {
    private val own = set.rulesOf(number)

    /** For each condition of the set the rules of the group that read an event which meets it, and which of their own
      * it is, or -1 if it is none: two numbers each.
      */
    val uses = new java.util.HashMap[Int, Array[Int]]
    own
      .flatMap { r =>
        val plan = set.rules(r)
        plan.conditions.zipWithIndex.map { case (c, bit) => (c, r, bit) } ++ plan.reads.condition.map((_, r, -1))
      }
      .groupBy(_._1)
      .foreach { case (c, all) => uses.put(c, all.flatMap(u => Seq(u._2, u._3)).toArray) }
    val needingAll: Array[Int] = own.filter(set.rules(_).reads == RulePlan.All).toArray
  }

  /** @param met
    *   the numbers of the conditions that the event meets, each in four bytes
    */
  def apply(group: Int, met: Array[Byte]): Unit = {
    clear()
    val g = groups(group)
    var i = 0
    while (i < met.length) {
      val all = g.uses.get(Platform.getInt(met, Platform.BYTE_ARRAY_OFFSET + i.toLong))
      var u = 0
      while (u < all.length) {
        touch(all(u))
        if (all(u + 1) >= 0) masks(all(u))(all(u + 1) >> 6) |= 1L << all(u + 1)
        u += 2
      }
      i += 4
    }
    i = 0
    while (i < g.needingAll.length) { touch(g.needingAll(i)); i += 1 }
  }

  private def touch(rule: Int): Unit = if (!touched(rule)) {
    touched(rule) = true
    reading(count) = rule
    count += 1
  }

  private def clear(): Unit = {
    var i = 0
    while (i < count) {
      touched(reading(i)) = false
      java.util.Arrays.fill(masks(reading(i)), 0L)
      i += 1
    }
    count = 0
  }

  /** Does the last event meet any condition of a rule? */
  def meetsOne(rule: Int): Boolean = masks(rule).exists(_ != 0)

  /** The mask of a rule that reads the last event: its first word, and the others, or null if there are none. */
  def mask(rule: Int): Long = masks(rule)(0)
  def more(rule: Int): Array[Long] = if (masks(rule).length == 1) null else masks(rule).tail
}
