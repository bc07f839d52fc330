package sparkcer.internal.unit

import scala.util.Random

import sparkcer.engine.evaluate.{Evaluator, Program, Substream}
import sparkcer.internal.output.Deadlines

/** The first deadlines of many substreams. */
class DeadlinesSuite extends munit.FunSuite {

  final private class Key(val key: Array[Byte], val substream: Substream) extends Deadlines.Waiting

  test("a key that is silent for long does not keep what other keys had waiting before") {
    val wait = 1000000L
    val evaluator = new Evaluator(Program("SELECT * FROM S WHERE beat ; NO beat FOR 1000000 [t]"))
    val beat = evaluator.classOf(1L)
    val keys = Vector.tabulate(20)(i => new Key(Array(i.toByte), evaluator.newSubstream()))
    val deadlines = new Deadlines
    val rng = new Random(4)
    val last = Array.fill(keys.length)(0L)
    var largest = 0
    for (t <- 0L until 50000L) {
      // The first key has one beat only.
      val k = if (t == 0) 0 else 1 + rng.nextInt(keys.length - 1)
      keys(k).substream.readWithDeadlines(beat, t, t - wait, Array(t + wait), Array(t), null): Unit
      last(k) = t
      deadlines.note(keys(k))
      largest = math.max(largest, deadlines.size)
      assertEquals(deadlines.first, wait)
    }
    assert(largest <= 4 * keys.length + 64, s"$largest entries for ${keys.length} keys")
    // All come out, in order.
    val order = Vector.fill(keys.length) {
      val due = deadlines.first
      val of = deadlines.poll()
      assert(of.substream.fire(Long.MaxValue))
      deadlines.note(of)
      (due - wait, of.key.head.toInt)
    }
    assertEquals(order, keys.indices.map(k => (last(k), k)).toVector.sorted)
    assertEquals(deadlines.first, Long.MaxValue)
  }
}
