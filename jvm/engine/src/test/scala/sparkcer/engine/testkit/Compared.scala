package sparkcer.engine.testkit

import sparkcer.engine.ceql.{Comparison, Quantity, Window}
import sparkcer.engine.compare.EventValues
import sparkcer.engine.evaluate.Program

/** The values of test events for the engine, which has only their positions. */
final class Compared(program: Program, event: Array[Byte] => Event) extends EventValues {

  def value(term: Int, payload: Array[Byte]): Array[Byte] = {
    val found = program.terms(term) match {
      case (s: Comparison.Span, t) => time(s.window, event(payload), t == s.earliest)
      case (_, t)                  => Sql.value(t.sql, Sql.Row(event(payload)))
    }
    found match {
      case Value.Null    => null
      case Value.Num(n)  => n.bigDecimal.stripTrailingZeros.toPlainString.getBytes("UTF-8")
      case Value.Text(t) => ("'" + t).getBytes("UTF-8")
      case other         => other.show.getBytes("UTF-8")
    }
  }

  /** The time of an event, or the earliest one that is not too long before it. */
  private def time(window: Window, event: Event, earliest: Boolean): Value = {
    val (attribute, size) = window match {
      case Window.Attribute(Quantity.Number(n), a) => (a.value, n)
      case Window.Duration(micros)                 => ("t", BigDecimal(micros) / 1000000)
      case other                                   => throw new IllegalArgumentException(s"$other is no sub-window")
    }
    event(attribute) match {
      case Value.Num(t) => Value.Num(if (earliest) t - size else t)
      case other        => other
    }
  }

  private def decoded(bytes: Array[Byte]): Value = {
    val text = new String(bytes, "UTF-8")
    if (text.startsWith("'")) Value.Text(text.drop(1)) else Value.Num(BigDecimal(text))
  }

  def compare(term: Int, a: Array[Byte], b: Array[Byte]): Int = {
    val (x, y) = (decoded(a), decoded(b))
    if (Sql.compare(x, "<", y)) -1 else if (Sql.compare(x, "=", y)) 0 else 1
  }

  def holds(expression: Int, events: Array[Array[Byte]]): Boolean = {
    val e = program.expressions(expression)
    val names = e.variables ++ (if (e.previous) Vector(Comparison.Prev) else Vector.empty)
    require(names.length == events.length, s"${events.length} events for ${names.mkString(", ")}")
    val rows = names.zip(events.map(event)).toMap
    Sql.holds(e.sql, Sql.Row(e.own.fold(Sql.NoColumns)(rows), rows))
  }
}
