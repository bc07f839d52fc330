package sparkcer.engine.unit

import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Event, Harness, Value}

class LimitOrderSuite extends munit.FunSuite {
  private def event(t: Int) = Event("A", Map("t" -> Value.Num(t)))

  for (strategy <- Vector("", "NEXT ", "LAST ", "MAX ", "STRICT ", "DISTINCT "))
    test(s"which matches 'SELECT $strategy… LIMIT 1' returns does not depend on events before the window") {
      val program = Program(s"SELECT $strategy* FROM S WHERE (A ; A)+ AS x WITHIN 6 [t] LIMIT 1")
      def found(before: Int): Set[String] = {
        val events = Vector.fill(before)(event(0)) ++ Vector(100, 101, 104, 105, 106).map(event)
        val matches = new Harness(program).feed(events).matches.filter(_.start >= before)
        matches.map(m => m.bound.values.map(_.map(_ - before)).mkString(s"${m.end - before} "))
      }
      val first = found(0)
      assert(first.nonEmpty)
      (1 to 24).foreach(n => assertEquals(found(n), first, s"after $n other events"))
    }
}
