package sparkcer.internal.unit

import munit.FunSuite

import sparkcer.internal.prepare.Event
import sparkcer.internal.stream.Held

class HeldSuite extends FunSuite {
  private def event(time: Long) =
    Event(Array.empty, time, time, timed = true, 0, time, 0, null, new Array[Byte](16))

  test("after a burst, the room is that of the events that still wait") {
    val held = new Held
    (0 until 100000).foreach(i => held.add(event(i.toLong)))
    assert(held.room >= 100000)
    (0 until 99990).foreach(i => assertEquals(held.poll().time, i.toLong))
    held.trim()
    assertEquals(held.room, 20)
    held.add(event(5)) // out of order
    assertEquals((0 until 11).map(_ => held.poll().time), 5L +: (99990L until 100000L))
    assert(held.isEmpty)
    held.trim()
    assertEquals(held.room, 20)
  }
}
