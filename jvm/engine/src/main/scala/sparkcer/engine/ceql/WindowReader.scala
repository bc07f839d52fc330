package sparkcer.engine.ceql

import java.util.Locale

/** Reads windows: `5 EVENTS`, `30 [t]`, `2 hours 30 minutes`, `INTERVAL '5' MINUTE`, `:length`. */
abstract private[ceql] class WindowReader(text: String) extends TokenReader(text) {
  import Parser.Reserved
  import WindowReader._

  /** @param after the word before it, for messages */
  protected def window(after: String = "WITHIN"): Window =
    if (token.isWord("INTERVAL")) {
      index += 1
      unquote()
      duration(quantity("a number after INTERVAL"), UnitWords, UnitNames)
    } else {
      val start = token
      val n = quantity(s"a number after $after")
      if (token.isWord("EVENTS") || token.isWord("EVENT")) {
        n match {
          case Quantity.Number(v) if !v.isWhole =>
            throw new CeqlException(text, start.start, "CER_SYNTAX.WINDOW_EVENTS")
          case _ => index += 1
        }
        Window.Events(n)
      } else if (token.kind == Token.Bracket) {
        val at = token
        bracketNames() match {
          case Vector(one) => Window.Attribute(n, one)
          case _           => throw new CeqlException(text, at.start, "CER_SYNTAX.WINDOW_COLUMN")
        }
      } else
        n match {
          case Quantity.Parameter(p) if endsWindow(token) => Window.Length(p)
          case _ => duration(n, s"$UnitWords, EVENTS, or a column in brackets, such as [ts]", UnitNames :+ "EVENTS")
        }
    }

  protected def endsWindow(t: Token) =
    t.kind == Token.End || t.isSymbol(")") || t.isSymbol(";") || t.isWord("WITHOUT") ||
      t.isOneOf(Reserved)

  /** A duration whose first number is read already. */
  protected def duration(n: Quantity, unitWords: String, keywords: Vector[String]): Window = {
    var total = BigDecimal(0)
    var open = Vector.empty[(Name, Long)]
    def add(n: Quantity): Unit = {
      val at = token.start
      val size = unit(unitWords, keywords)
      n match {
        case Quantity.Parameter(p)                    => open :+= p -> size
        case Quantity.Number(v) if (v * size).isWhole => total += v * size
        case _ => throw new CeqlException(text, at, "CER_SYNTAX.WINDOW_MICROSECONDS")
      }
    }
    add(n)
    while (token.kind == Token.Number || token.isSymbol(":")) add(quantity("a number"))
    if (!total.isValidLong) throw new CeqlException(text, token.start, "CER_SYNTAX.WINDOW_TOO_LONG")
    if (open.isEmpty) Window.Duration(total.toLong) else Window.OpenDuration(total.toLong, open)
  }

  /** Puts the words of a string, `'5 minutes'` or the 5 of `'5' MINUTE`, in its place. */
  protected def unquote(): Unit = {
    val inside = token.text.drop(1).dropRight(1)
    if (token.kind == Token.Text && inside.forall(c => c.isLetterOrDigit || c == ' ' || c == '.')) {
      val words = new QueryLexer(inside).tokens().init
      val from = token.start + 1
      tokens = tokens.patch(index, words.map(t => t.copy(start = t.start + from, end = t.end + from)), 1)
    }
  }

  /** A word such as `hours`, in microseconds. */
  protected def unit(what: String, keywords: Vector[String]): Long = {
    val word = token.text.toUpperCase(Locale.ROOT)
    Sizes.get(ShortUnits.getOrElse(word, word.stripSuffix("S"))).filter(_ => token.kind == Token.Word) match {
      case Some(size) => index += 1; size
      case None       => expected(what, keywords)
    }
  }

  protected def quantity(what: String): Quantity = {
    val t = token
    if (t.kind == Token.Number) { index += 1; Quantity.Number(BigDecimal(t.text)) }
    else if (t.isSymbol(":")) { index += 1; Quantity.Parameter(name("a parameter name after ':'")) }
    else expected(what, Nil)
  }
}

private[ceql] object WindowReader {

  /** The units of time in microseconds, from the longest. */
  private val Units: Vector[(String, Long)] = Vector(
    "WEEK" -> 604800000000L,
    "DAY" -> 86400000000L,
    "HOUR" -> 3600000000L,
    "MINUTE" -> 60000000L,
    "SECOND" -> 1000000L,
    "MILLISECOND" -> 1000L,
    "MICROSECOND" -> 1L
  )

  private val Sizes = Units.toMap

  /** Short words for them. (`m` could be a month as well.) */
  private val ShortUnits: Map[String, String] = Map(
    "D" -> "DAY",
    "H" -> "HOUR",
    "HR" -> "HOUR",
    "HRS" -> "HOUR",
    "MIN" -> "MINUTE",
    "MINS" -> "MINUTE",
    "S" -> "SECOND",
    "SEC" -> "SECOND",
    "SECS" -> "SECOND",
    "MS" -> "MILLISECOND"
  )

  private[ceql] def unitOf(micros: Long): String = Units.collectFirst { case (word, `micros`) =>
    word.toLowerCase(Locale.ROOT)
  }.get

  private val UnitNames = Units.map(_._1.toLowerCase(Locale.ROOT) + "s")
  private val UnitWords = s"a unit of time (${UnitNames.mkString(", ")})"
}
