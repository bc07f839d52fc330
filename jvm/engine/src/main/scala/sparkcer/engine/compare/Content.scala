package sparkcer.engine.compare

import sparkcer.engine.state.{Bytes, StateException, WireReader, WireWriter}

/** What a register holds: nothing (null), a value ([[Bytes]]), several values, events, or [[Content.Spoilt]], with
  * which every comparison fails (a NULL, or two values where there must be one). Contents are never changed, and two
  * contents are equal if they hold the same.
  */
private[engine] object Content {
  case object Spoilt

  /** At least two values, sorted by their bytes. */
  final class ValueSet(val values: Array[Bytes]) {
    override val hashCode: Int = java.util.Arrays.hashCode(values.asInstanceOf[Array[AnyRef]])
    override def equals(other: Any): Boolean = other match {
      case s: ValueSet =>
        java.util.Arrays.equals(values.asInstanceOf[Array[AnyRef]], s.values.asInstanceOf[Array[AnyRef]])
      case _ => false
    }

    def contains(v: Bytes): Boolean = values.contains(v)
    def add(v: Bytes): ValueSet = if (contains(v)) this else new ValueSet((values :+ v).sortWith(compare(_, _) < 0))
  }

  /** Numbers of events, oldest first. */
  final class Events(val numbers: Array[Int]) {
    override val hashCode: Int = java.util.Arrays.hashCode(numbers)
    override def equals(other: Any): Boolean = other match {
      case e: Events => java.util.Arrays.equals(numbers, e.numbers)
      case _         => false
    }
  }

  val Nothing = 0
  val Value = 1
  val Spoiled = 2
  val Set = 3
  val Refs = 4

  def kind(content: AnyRef): Int = content match {
    case null        => Nothing
    case _: Bytes    => Value
    case Spoilt      => Spoiled
    case _: ValueSet => Set
    case _: Events   => Refs
    case other       => throw new IllegalStateException(s"$other in a register")
  }

  private def compare(a: Bytes, b: Bytes): Int = java.util.Arrays.compareUnsigned(a.array, b.array)

  /** An order that depends on the contents only. */
  def compare(a: AnyRef, b: AnyRef): Int = (a, b) match {
    case (x: Bytes, y: Bytes)       => compare(x, y)
    case (x: ValueSet, y: ValueSet) => lexical(x.values.length, y.values.length, i => compare(x.values(i), y.values(i)))
    case (x: Events, y: Events)     =>
      lexical(x.numbers.length, y.numbers.length, i => x.numbers(i) - y.numbers(i))
    case _ => kind(a) - kind(b)
  }

  private def lexical(n: Int, m: Int, at: Int => Int): Int = {
    var i = 0
    while (i < n && i < m) { val o = at(i); if (o != 0) return o; i += 1 }
    n - m
  }

  def write(out: WireWriter, content: AnyRef): Unit = {
    out.byte(kind(content))
    content match {
      case v: Bytes    => out.array(v.array)
      case s: ValueSet => out.int(s.values.length); s.values.foreach(v => out.array(v.array))
      case e: Events   => out.int(e.numbers.length); e.numbers.foreach(out.int)
      case _           => ()
    }
  }

  def read(in: WireReader): AnyRef = in.byte() match {
    case Nothing => null
    case Value   => new Bytes(in.array())
    case Spoiled => Spoilt
    case Set     => new ValueSet(Array.fill(in.int())(new Bytes(in.array())))
    case Refs    => new Events(Array.fill(in.int())(in.int()))
    case _       => throw new StateException("CER_STATE_DAMAGED.REGISTER")
  }

  def bytes(content: AnyRef): Long = content match {
    case v: Bytes    => 40L + v.array.length
    case s: ValueSet => 32L + s.values.iterator.map(v => 48L + v.array.length).sum
    case e: Events   => 40L + 4L * e.numbers.length
    case _           => 0L
  }
}
