package sparkcer.engine.explain

/** A text in a picture, in lines that are aligned at the left. Sizes are those of a monospaced font of 11 pixels. */
final private[explain] case class Label(lines: Vector[Label.Line]) {
  val width: Double = lines.map(_.end).maxOption.getOrElse(0) * Label.Letter
  val height: Double = lines.length * Label.LineHeight
}

private[explain] object Label {

  /** The width of a letter. Fonts differ, and this is the widest of the common ones. */
  val Letter = 6.8
  val LineHeight = 14.0

  /** @param indent
    *   how many letters it stands to the right; the continuation of a text is indented
    */
  final case class Line(text: String, indent: Int) {
    def end: Int = indent + cells(text)
  }

  /** Texts below each other. Each is broken into lines where that makes it compact, if it is long. */
  def of(texts: Vector[String]): Label = {
    val lines = texts.flatMap(t => compact(spaced(t)))
    if (lines.length <= MaxLines) Label(lines) else Label(lines.take(MaxLines - 1) :+ Line("…", 0))
  }

  /** One text, in lines of `most` letters. */
  def filled(text: String, most: Int): Vector[Line] = wrap(spaced(text), most).lines

  private val MaxLines = 40
  private val Indent = 2
  private val Short = 28
  private val Narrowest = 20
  private val Widest = 72

  /** The lines, and how many of them end at a place where a reader would not pause. */
  final private case class Wrapped(lines: Vector[Line], awkward: Int) {

    /** Height counts three times as much as width, because a picture is read from left to right. */
    def cost: Double = lines.map(_.end).max * Letter / 3 + lines.length * LineHeight + awkward * 60
  }

  private def compact(text: String): Vector[Line] =
    if (cells(text) <= Short) Vector(Line(text, 0))
    else (Narrowest to math.min(Widest, cells(text))).map(wrap(text, _)).minBy(_.cost).lines

  private def wrap(text: String, most: Int): Wrapped = {
    val lines = Vector.newBuilder[Line]
    var rest = text
    var indent = 0
    var awkward = 0
    while (indent + cells(rest) > most) {
      val (at, good) = break(rest, fitting(rest, most - indent))
      if (!good) awkward += 1
      lines += Line(rest.take(at).trim, indent)
      rest = rest.drop(at).trim
      indent = Indent
    }
    if (rest.nonEmpty || indent == 0) lines += Line(rest, indent)
    Wrapped(lines.result(), awkward)
  }

  /** Where to break a text whose first `room` characters fit in the line: preferably before AND, OR, `/` or a clause or
    * after a comma, else at a space, and inside a word if there is no other place.
    */
  private def break(text: String, room: Int): (Int, Boolean) = {
    val quoted = text.scanLeft(false)((in, c) => if (c == '\'' || c == '"' || c == '`') !in else in)
    val spaces = (room to math.max(1, room / 4) by -1).filter(i => i < text.length && text(i) == ' ')
    val outside = spaces.filterNot(quoted(_))
    outside
      .find(i => text(i - 1) == ',' || Pauses.exists(text.startsWith(_, i)))
      .map((_, true))
      .orElse(outside.headOption.orElse(spaces.headOption).map((_, false)))
      .getOrElse((if (room > 1 && Character.isHighSurrogate(text(room - 1))) room - 1 else room, false))
  }

  private val Pauses =
    Vector(" AND ", " and ", " OR ", " / ", " WHERE ", " PARTITION BY ", " WITHIN ", " CONSUME BY ", " LIMIT ")

  /** How many characters fit in a line. */
  private def fitting(text: String, most: Int): Int =
    math.max(1, text.scanLeft(0)((n, c) => n + cells(c)).indexWhere(_ > most) - 1)

  private def spaced(text: String): String = text.replaceAll("\\s+", " ").trim

  private def cells(text: String): Int = text.iterator.map(cells).sum

  /** Letters of East Asian scripts are twice as wide. */
  private def cells(c: Char): Int = if (c < 0x1100 || (c >= 0x2000 && c < 0x2e80)) 1 else 2
}
