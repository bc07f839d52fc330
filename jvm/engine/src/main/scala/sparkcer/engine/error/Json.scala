package sparkcer.engine.error

/** The JSON that the catalogue of errors is written in: objects, arrays and strings. */
sealed private[sparkcer] trait Json
private[sparkcer] object Json {
  final case class Object(fields: Vector[(String, Json)]) extends Json
  final case class Array(items: Vector[Json]) extends Json
  final case class Text(value: String) extends Json

  /** Strict: anything else, and a name that an object has twice, is an IllegalArgumentException. */
  def parse(text: String): Json = {
    val reader = new Reader(text)
    val value = reader.value()
    reader.end()
    value
  }

  final private class Reader(text: String) {
    private var at = 0

    def value(): Json = next() match {
      case '{' => Json.Object(unique(listed('}')(field())))
      case '[' => Json.Array(listed(']')(value()))
      case '"' => Text(string())
      case _   => fail()
    }

    def end(): Unit = { blank(); if (at < text.length) fail() }

    private def field(): (String, Json) = {
      if (next() != '"') fail()
      val name = string()
      if (next() != ':') fail()
      at += 1
      name -> value()
    }

    private def unique(fields: Vector[(String, Json)]): Vector[(String, Json)] =
      if (fields.map(_._1).distinct.length == fields.length) fields else fail()

    private def listed[A](close: Char)(item: => A): Vector[A] = {
      val items = Vector.newBuilder[A]
      at += 1
      if (next() != close) {
        items += item
        while (next() == ',') { at += 1; items += item }
      }
      if (next() != close) fail()
      at += 1
      items.result()
    }

    private def string(): String = {
      val out = new StringBuilder
      at += 1
      while (character() != '"') {
        if (character() < ' ') fail()
        else if (character() != '\\') { out += character(); at += 1 }
        else { at += 1; out += escaped() }
      }
      at += 1
      out.toString
    }

    private def escaped(): Char = {
      val c = character()
      at += 1
      if (c != 'u') Escapes.getOrElse(c, fail())
      else {
        val digits = text.slice(at, at + 4)
        if (!digits.matches("[0-9a-fA-F]{4}")) fail()
        at += 4
        Integer.parseInt(digits, 16).toChar
      }
    }

    /** The first character that is not blank. */
    private def next(): Char = { blank(); character() }

    private def character(): Char = if (at < text.length) text(at) else fail()

    private def blank(): Unit = while (at < text.length && " \t\r\n".indexOf(text(at).toInt) >= 0) at += 1

    private def fail(): Nothing = throw new IllegalArgumentException(s"This is not JSON of errors, at offset $at.")
  }

  private val Escapes =
    Map('"' -> '"', '\\' -> '\\', '/' -> '/', 'b' -> '\b', 'f' -> '\f', 'n' -> '\n', 'r' -> '\r', 't' -> '\t')
}
