package sparkcer.engine.unit

import scala.util.Random

import sparkcer.engine.compare.EventValues
import sparkcer.engine.evaluate.{Evaluator, Program, Substream}

/** What a substream keeps: as much as the window holds, however long the stream is. */
class MemorySuite extends munit.FunSuite {

  /** Feeds `n` events of random types, one each time unit, and returns the largest size in each half. */
  private def sizes(query: String, n: Int, window: Int): (Long, Long) = {
    val program = Program(query)
    val evaluator = new Evaluator(program)
    val substream = evaluator.newSubstream()
    val rng = new Random(3)
    val halves = Array(0L, 0L)
    (0 until n).foreach { i =>
      val mask = 1L << rng.nextInt(program.conditions.length + 2) & ((1L << program.conditions.length) - 1)
      substream.read(evaluator.classOf(mask), i.toLong, i.toLong - window, new Array[Byte](8)): Unit
      if (i % 64 == 0) halves(2 * i / n) = math.max(halves(2 * i / n), substream.bytes)
    }
    (halves(0), halves(1))
  }

  for (
    query <- Seq(
      "SELECT * FROM S WHERE A ; B ; C WITHIN 500 [t]",
      "SELECT * FROM S WHERE A ; B+ ; C WITHIN 500 [t]",
      "SELECT LAST * FROM S WHERE A+ ; B WITHIN 50 [t]",
      "SELECT COUNT(*) FROM S WHERE A ; B+ ; C WITHIN 500 [t]",
      "SELECT * FROM S WHERE A ; B ; C WITHIN 500 EVENTS"
    )
  )
    test(s"memory is flat: $query") {
      val (first, second) = sizes(query, 400000, if (query.contains(" 50 ")) 50 else 500)
      assert(second <= 2 * first, s"$first bytes in the first half, $second in the second")
      assert(second < 1000000, s"$second bytes")
    }

  test("memory is flat where matches wait, and those that an event ends are found by their value") {
    val query = "SELECT * FROM S WHERE A AS a ; NO (B AS b FILTER b.id = a.id) FOR 500 [t]"
    val values = new EventValues {
      def value(term: Int, event: Array[Byte]): Array[Byte] = event
      def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int = java.util.Arrays.compare(a, b)
      def holds(expression: Int, events: Array[Array[Byte]]): Boolean = fail("asked for an expression")
    }
    val evaluator = new Evaluator(Program(query), values = values)
    val substream = evaluator.newSubstream()
    val halves = Array(0L, 0L)
    var closed = 0
    val n = 100000
    (0 until n).foreach { i =>
      while (substream.fire(i.toLong)) closed += 1
      // Each A has its own id, and every other one is met by a B, 100 later.
      val (mask, id) = if (i % 2 == 0) (1L, i) else (2L, i - 101)
      val met = mask == 1L || id % 4 == 0
      if (met) {
        val row = BigInt(id).toByteArray
        substream.readWithDeadlines(
          evaluator.classOf(mask),
          i.toLong,
          i - 500L,
          Array(i + 500L),
          Array(i.toLong),
          row
        ): Unit
      }
      halves(2 * i / n) = math.max(halves(2 * i / n), if (i % 64 == 0) substream.bytes else 0L)
    }
    while (substream.fire(Long.MaxValue)) closed += 1
    assertEquals(closed, n / 4 + 25) // the last 25 are met by none
    assert(halves(1) <= 2 * halves(0), s"${halves(0)} bytes in the first half, ${halves(1)} in the second")
    assert(halves(1) < 1000000, s"${halves(1)} bytes")
  }

  private def fill(query: String, masks: Iterator[Long]): (Evaluator, Substream, Boolean) = {
    val evaluator = new Evaluator(Program(query))
    val substream = evaluator.newSubstream()
    var closes = false
    var i = 0L
    masks.foreach { m => closes = substream.read(evaluator.classOf(m), i, Long.MinValue, null); i += 1 }
    (evaluator, substream, closes)
  }

  test("events that pass no condition leave nothing behind") {
    val (_, substream, _) = fill("SELECT * FROM S WHERE A ; B", Iterator.single(1L) ++ Iterator.fill(1000000)(0L))
    assertEquals((substream.nodes, substream.eventsKept), (1, 1))
  }

  test("a consumed match leaves nothing behind") {
    val masks = Iterator.fill(100000)(Seq(1L, 0L, 2L)).flatten ++ Iterator.single(1L)
    val (_, substream, _) = fill("SELECT * FROM S WHERE A ; B CONSUME BY PARTITION", masks)
    assertEquals((substream.nodes, substream.eventsKept), (1, 1))
  }

  test("long matches are walked without recursion") {
    val (evaluator, _, closes) =
      fill("SELECT LAST * FROM S WHERE A+ ; B", Iterator.fill(4000)(1L) ++ Iterator.single(2L))
    assert(closes)
    val matches = evaluator.matches
    assert(matches.next())
    assertEquals(matches.length, 4001)
  }

  test("of very many matches the first are had at once") {
    val (evaluator, _, _) = fill("SELECT * FROM S WHERE A+ ; B", Iterator.fill(200000)(1L) ++ Iterator.single(2L))
    val matches = evaluator.matches
    assertEquals((1 to 1000).count(_ => matches.next()), 1000)
  }
}
