package sparkcer.engine.compare

import sparkcer.engine.state.{WireReader, WireWriter}

/** A state of the automaton with the contents of its live registers. It is never changed. */
final private[engine] class Cell(val state: Int, val registers: Array[AnyRef]) {
  override val hashCode: Int = {
    var h = state
    var i = 0
    while (i < registers.length) { h = 31 * h + (if (registers(i) == null) 0 else registers(i).hashCode); i += 1 }
    h
  }

  override def equals(other: Any): Boolean = other match {
    case c: Cell =>
      (this eq c) || state == c.state && hashCode == c.hashCode && hasRegistersOf(c)
    case _ => false
  }

  def hasRegistersOf(c: Cell): Boolean = {
    var i = 0
    while (
      i < registers.length && ((registers(i) eq c.registers(i)) || registers(i) != null && registers(i)
        .equals(c.registers(i)))
    ) i += 1
    i == registers.length
  }
}

private[engine] object Cell {
  val none = new Array[Cell](0)

  def write(out: WireWriter, c: Cell): Unit = {
    out.int(c.state)
    out.byte(c.registers.length)
    c.registers.foreach(Content.write(out, _))
  }

  def read(in: WireReader): Cell = new Cell(in.int(), Array.fill(in.byte())(Content.read(in)))

  def compare(a: Cell, b: Cell): Int =
    if (a.state != b.state) a.state - b.state
    else {
      var i = 0
      while (i < a.registers.length) {
        val o = Content.compare(a.registers(i), b.registers(i))
        if (o != 0) return o
        i += 1
      }
      0
    }

  /** The cells as a set: sorted, each once. It sorts the array that it is given. */
  def set(cells: Array[Cell]): Array[Cell] =
    if (cells.length < 2) cells
    else {
      java.util.Arrays.sort(cells, (a: Cell, b: Cell) => compare(a, b))
      var n = 1
      var i = 1
      while (i < cells.length) {
        if (!(cells(i) == cells(n - 1))) { cells(n) = cells(i); n += 1 }
        i += 1
      }
      if (n == cells.length) cells else java.util.Arrays.copyOf(cells, n)
    }
}

/** A determinized state of a query that compares events: one set of cells or three, and a flag, as the `StrategyRules`
  * of its strategy need them. It is never changed.
  */
final private[engine] class Configuration(val parts: Array[Array[Cell]], val flag: Int) {
  override val hashCode: Int = {
    var h = flag
    var p = 0
    while (p < parts.length) {
      h = 31 * h + parts(p).length
      var i = 0
      while (i < parts(p).length) { h = 31 * h + parts(p)(i).hashCode; i += 1 }
      p += 1
    }
    h ^ (h >>> 15)
  }

  override def equals(other: Any): Boolean = other match {
    case c: Configuration => (this eq c) || hashCode == c.hashCode && flag == c.flag && same(c)
    case _                => false
  }

  private def same(c: Configuration): Boolean = {
    var p = 0
    while (p < parts.length) {
      val (a, b) = (parts(p), c.parts(p))
      if (a.length != b.length) return false
      var i = 0
      while (i < a.length) { if (!(a(i) == b(i))) return false; i += 1 }
      p += 1
    }
    true
  }

  def foreach(f: Cell => Unit): Unit = parts.foreach(_.foreach(f))

  def bytes: Long = 48L + parts.iterator.flatten.map(c => 48L + c.registers.iterator.map(Content.bytes).sum).sum

  def write(out: WireWriter): Unit = {
    out.byte(flag)
    out.byte(parts.length)
    parts.foreach { cells =>
      out.int(cells.length)
      cells.foreach(Cell.write(out, _))
    }
  }
}

private[engine] object Configuration {
  def compare(a: Configuration, b: Configuration): Int = {
    if (a.flag != b.flag) return a.flag - b.flag
    var p = 0
    while (p < a.parts.length) {
      val (x, y) = (a.parts(p), b.parts(p))
      var i = 0
      while (i < x.length && i < y.length) { val o = Cell.compare(x(i), y(i)); if (o != 0) return o; i += 1 }
      if (x.length != y.length) return x.length - y.length
      p += 1
    }
    0
  }

  def read(in: WireReader): Configuration = {
    val flag = in.byte()
    val parts = Array.fill(in.byte()) {
      Array.fill(in.int())(Cell.read(in))
    }
    new Configuration(parts, flag)
  }
}
