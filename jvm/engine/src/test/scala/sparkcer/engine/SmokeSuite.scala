package sparkcer.engine

import sparkcer.engine.evaluate._

class SmokeSuite extends munit.FunSuite {
  def run(q: String, types: String): Vector[String] = {
    val p = Program(q)
    val e = new Evaluator(p)
    val s = e.newSubstream()
    types.zipWithIndex.toVector.flatMap { case (t, i) =>
      val mask = p.guards.zipWithIndex.map { case (g, k) => if ((g.eventType == t.toString) != g.negated) 1L << k else 0L }.sum
      val out = Vector.newBuilder[String]
      if (s.read(e.classOf(mask), i.toLong, i - 100L, null)) {
        val m = e.matches
        while (m.next()) out += (0 until m.length).reverse.map(k => s.time(m.event(k))).mkString(s"${s.time(m.start)}-${s.time(m.end)}:", ",", "")
      }
      s.checkInvariants()
      out.result()
    }
  }
  test("x") {
    println(run("SELECT * FROM S WHERE A ; B ; C", "ABABC"))
    println(run("SELECT NEXT * FROM S WHERE A ; B ; C", "ABABC"))
    println(run("SELECT LAST * FROM S WHERE A ; B ; C", "ABABC"))
    println(run("SELECT MAX * FROM S WHERE A ; B ; C", "ABABC"))
    println(run("SELECT STRICT * FROM S WHERE A ; B ; C", "ABABC"))
    for (x <- Seq("", "NEXT", "LAST", "MAX", "STRICT")) println(x + run(s"SELECT $x * FROM S WHERE A+ ; B", "AAXAB"))
    println(run("SELECT * FROM S WHERE (A : NOT(B):+ : C)", "AXXC"))
  }
}
