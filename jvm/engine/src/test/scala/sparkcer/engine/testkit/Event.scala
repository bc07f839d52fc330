package sparkcer.engine.testkit

/** An attribute's value. A name that an event lacks reads as `Null`. */
sealed trait Value {
  def show: String
}

object Value {
  case object Null extends Value { def show = "null" }
  final case class Num(value: BigDecimal) extends Value { def show: String = value.bigDecimal.toPlainString }
  final case class Text(value: String) extends Value { def show: String = value }

  /** What a condition evaluates to. */
  final case class Bool(value: Boolean) extends Value { def show: String = value.toString }

  private val Number = """-?\d+(\.\d+)?""".r

  def apply(written: String): Value = written match {
    case "null"        => Null
    case n @ Number(_) => Num(BigDecimal(n))
    case text          => Text(text)
  }
}

/** A row of a test: its type, its attributes, and the stream it comes from. Attribute `t` is its time, in seconds where
  * a window is a duration.
  */
final case class Event(eventType: String, attributes: Map[String, Value], stream: String = Event.DefaultStream) {
  def apply(attribute: String): Value = attributes.getOrElse(attribute, Value.Null)

  /** In the notation of [[Event.stream]], at a position whose number is left out as time. */
  def show(position: Int): String = {
    val from = if (stream == Event.DefaultStream) "" else stream + ">"
    val others = (attributes - "t" - "v").toVector.sortBy(_._1)
    val digit = apply("v") match {
      case Value.Num(n) if n.isWhole && n >= 0 => n.toBigInt.toString
      case Value.Null                          => ""
      case other => throw new IllegalArgumentException(s"v is a whole number in this notation, not ${other.show}")
    }
    val list = if (others.isEmpty) "" else others.map { case (a, v) => s"$a=${v.show}" }.mkString("(", ",", ")")
    val time = if (apply("t") == Value.Num(position)) "" else "@" + apply("t").show
    from + eventType + digit + list + time
  }
}

object Event {
  val DefaultStream = "S"

  private val Notation = """(?:(\w+)>)?([A-Za-z_]+)(\d+)?(?:\(([^)]*)\))?(?:@(-?\d+|null))?""".r

  /** A stream in one line: `A B2 A(p=3, k=x)@7 T>C@null`.
    *
    *   - `B2` has attribute `v = 2`;
    *   - `@7` is the time, which otherwise is the position, from 0; `@null` is a time that is NULL;
    *   - `T>C` comes from stream T, the others from S.
    */
  def stream(line: String): Vector[Event] =
    """(?:[^\s(]|\([^)]*\))+""".r.findAllIn(line).toVector.zipWithIndex.map {
      case (Notation(from, kind, digit, list, time), position) =>
        val pairs = Option(list).toVector.flatMap(_.split(",").toVector).map { pair =>
          val equals = pair.indexOf('=')
          pair.take(equals).trim -> Value(pair.drop(equals + 1).trim)
        }
        val attributes =
          pairs.toMap ++ Option(digit).map("v" -> Value(_)) + ("t" -> Value(Option(time).getOrElse(s"$position")))
        Event(kind, attributes, Option(from).getOrElse(DefaultStream))
      case (other, _) => throw new IllegalArgumentException(s"'$other' is not an event")
    }

  def show(events: Seq[Event]): String = events.zipWithIndex.map { case (e, i) => e.show(i) }.mkString(" ")
}
