package sparkcer.benchmarks

import sparkcer.benchmarks.masks.Row

/** A stream in memory, column by column: strings as objects, numbers as primitives. As a [[Row]] it is the event `at`.
  */
final class Events(val names: Vector[String], val size: Int, columns: Vector[Events.Column]) extends Row {
  private val strings: Array[Array[String]] = columns.map { case Events.Strings(v) => v; case _ => null }.toArray
  private val integers: Array[Array[Long]] = columns.map { case Events.Integers(v) => v; case _ => null }.toArray
  private val doubles: Array[Array[Double]] = columns.map { case Events.Doubles(v) => v; case _ => null }.toArray

  /** The event at hand, and the conditions that [[test]] knows by number. */
  var at = 0
  var conditions: Array[ColumnConditions.Test] = Array.empty

  def column(name: String): Int = {
    val i = names.indexOf(name)
    require(i >= 0, s"the stream has no column $name")
    i
  }

  def isDouble(column: Int): Boolean = doubles(column) != null
  def isNull(column: Int): Boolean = false // only strings are ever NULL
  def long(column: Int): Long = integers(column)(at)
  def double(column: Int): Double = doubles(column)(at)
  def ref(column: Int): AnyRef = strings(column)(at)
  def test(condition: Int): Boolean = conditions(condition).holds(this)

  def string(column: Int, event: Int): String = strings(column)(event)

  def integers(name: String): Array[Long] = integers(column(name))

  /** A column as texts, with NULL as the empty one. */
  def text(name: String): Int => String = {
    val c = column(name)
    if (strings(c) != null) i => if (strings(c)(i) == null) "" else strings(c)(i)
    else if (integers(c) != null) integers(c)(_).toString
    else doubles(c)(_).toString
  }

  /** A column as numbers: its own, or one for each different string. */
  def numbered(name: String): Array[Long] = {
    val c = column(name)
    if (integers(c) != null) integers(c)
    else {
      val ids = scala.collection.mutable.HashMap.empty[String, Long]
      strings(c).map(s => ids.getOrElseUpdate(s, ids.size.toLong))
    }
  }

  /** The same events with strings that nobody has hashed yet, as a reader of a file would hand them over. */
  def fresh(): Events = new Events(
    names,
    size,
    columns.map {
      case Events.Strings(v) => Events.Strings(v.map(s => if (s == null) null else new String(s.toCharArray)))
      case other             => other
    }
  )
}

object Events {
  sealed trait Column
  final case class Strings(values: Array[String]) extends Column
  final case class Integers(values: Array[Long]) extends Column
  final case class Doubles(values: Array[Double]) extends Column
}
