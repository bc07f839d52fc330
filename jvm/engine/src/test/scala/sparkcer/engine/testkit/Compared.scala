package sparkcer.engine.testkit

import sparkcer.engine.ceql.Comparison
import sparkcer.engine.compare.EventValues
import sparkcer.engine.evaluate.Program

/** The values of test events for the engine, which has only their positions. */
final class Compared(program: Program, event: Array[Byte] => Event) extends EventValues {

  def value(term: Int, payload: Array[Byte]): Array[Byte] =
    Sql.value(program.terms(term)._2.sql, Sql.Row(event(payload))) match {
      case Value.Null    => null
      case Value.Num(n)  => n.bigDecimal.stripTrailingZeros.toPlainString.getBytes("UTF-8")
      case Value.Text(t) => ("'" + t).getBytes("UTF-8")
      case other         => other.show.getBytes("UTF-8")
    }

  private def decoded(bytes: Array[Byte]): Value = {
    val text = new String(bytes, "UTF-8")
    if (text.startsWith("'")) Value.Text(text.drop(1)) else Value.Num(BigDecimal(text))
  }

  def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int = {
    val (x, y) = (decoded(a), decoded(b))
    if (Sql.compare(x, "<", y)) -1 else if (Sql.compare(x, "=", y)) 0 else 1
  }

  def test(expression: Int, events: Array[Array[Byte]]): Boolean = {
    val e = program.expressions(expression)
    val names = e.variables ++ (if (e.previous) Vector(Comparison.Prev) else Vector.empty)
    require(names.length == events.length, s"${events.length} events for ${names.mkString(", ")}")
    val rows = names.zip(events.map(event)).toMap
    Sql.holds(e.sql, Sql.Row(e.own.fold(Sql.NoColumns)(rows), rows))
  }
}
