package sparkcer.engine.ceql

import java.util.Locale

/** Splits a Spark SQL condition at its top-level ANDs. An AND inside parentheses counts if only AND is outside of them.
  * An AND of BETWEEN, inside CASE … END, under OR or NOT, or inside a literal does not count.
  *
  * Linear in the length of the text.
  */
private[sparkcer] object Conjuncts {

  /** As written, without comments and without the parentheses that are not needed. */
  def apply(sql: String): Vector[String] = {
    val text = plain(sql)
    val levels = new Levels(text)
    val found = Vector.newBuilder[String]
    val work = scala.collection.mutable.Stack((0, text.length))
    while (work.nonEmpty) {
      val (from, until) = work.pop()
      levels.parts(from, until) match {
        case Vector((start, end)) =>
          levels.inside(start, end) match {
            case Some((a, b)) if !levels.isDisjunction(a, b) && !levels.isQuery(a, b) => work.push((a, b))
            case _ => found += text.substring(start, end)
          }
        case several => work.pushAll(several.reverseIterator)
      }
    }
    found.result()
  }

  /** One condition of several that have no comments. */
  def join(parts: Seq[String]): String =
    if (parts.length == 1) parts.head
    else parts.map(p => if (isDisjunction(p)) s"($p)" else p).mkString(" AND ")

  /** A condition that can be joined with others by AND or OR: in parentheses, unless it is simple enough without them.
    */
  def closed(sql: String): String = {
    val text = plain(sql)
    if (new Levels(text).isSimple) text else s"($text)"
  }

  private def isDisjunction(sql: String): Boolean = new Levels(sql).isDisjunction(0, sql.length)

  /** Without comments: text that is appended after a comment to the end of the line would become part of it. */
  def plain(sql: String): String = {
    val out = new StringBuilder
    var at = 0
    while (at < sql.length) {
      val c = sql(at)
      val past =
        if (c == '\'' || c == '"' || c == '`') Lexer.skipLiteral(sql, at)
        else if (c == '-' || c == '/') Lexer.skipBlank(sql, at)
        else at
      val isComment = past > at && (c == '-' || c == '/')
      out ++= (if (isComment) " " else sql.substring(at, math.max(past, at + 1)))
      at = math.max(past, at + 1)
    }
    out.toString.trim
  }

  final private case class Word(text: String, start: Int, end: Int)

  /** A text without comments, and where its parentheses and brackets are closed. */
  final private class Levels(text: String) {
    private val closing: Map[Int, Int] = {
      val open = scala.collection.mutable.Stack.empty[Int]
      val found = Map.newBuilder[Int, Int]
      var at = Lexer.skipOpaque(text, 0)
      while (at < text.length) {
        if (text(at) == '(' || text(at) == '[') open.push(at)
        else if ((text(at) == ')' || text(at) == ']') && open.nonEmpty) found += open.pop() -> at
        at = Lexer.skipOpaque(text, at + 1)
      }
      open.foreach(found += _ -> text.length)
      found.result()
    }

    def isSimple: Boolean =
      closing.valuesIterator.forall(_ < text.length) && !words(0, text.length).exists(w => Taking(w.text))

    def isDisjunction(from: Int, until: Int): Boolean = keywords(from, until).exists(_.text == "OR")

    def isQuery(from: Int, until: Int): Boolean = words(from, until).headOption.exists(w => Queries(w.text))

    /** What AND joins between two places, without the white space around it; all of it where a part is missing. */
    def parts(from: Int, until: Int): Vector[(Int, Int)] = {
      val words = keywords(from, until)
      var between = false
      val ands = words.filter { w =>
        val joins = w.text == "AND" && !between
        between = w.text == "BETWEEN" || between && w.text != "AND"
        joins
      }
      val parts = (from +: ands.map(_.end)).zip(ands.map(_.start) :+ until).map { case (a, b) => trimmed(a, b) }
      val isOne = words.exists(_.text == "OR") || parts.exists { case (a, b) => a == b }
      if (isOne) Vector(trimmed(from, until)) else parts
    }

    /** What is between the parentheses, if they are around all of it. */
    def inside(start: Int, end: Int): Option[(Int, Int)] =
      if (end - start > 2 && text(start) == '(' && closing.get(start).contains(end - 1)) Some((start + 1, end - 1))
      else None

    private def trimmed(from: Int, until: Int): (Int, Int) = {
      var (a, b) = (from, until)
      while (a < b && text(a).isWhitespace) a += 1
      while (a < b && text(b - 1).isWhitespace) b -= 1
      (a, b)
    }

    /** AND, OR and BETWEEN of this level that are in no CASE. A CASE that has no END is the name of a column. */
    private def keywords(from: Int, until: Int): Vector[Word] = {
      val all = words(from, until)
      val ends = all.scanRight(0)((w, after) => after + (if (w.text == "END") 1 else 0)).tail
      var cases = 0
      all.zip(ends).flatMap { case (w, endsAfter) =>
        if (w.text == "CASE" && endsAfter > cases) cases += 1
        else if (w.text == "END" && cases > 0) cases -= 1
        if (cases == 0 && Joining(w.text)) Some(w) else None
      }
    }

    /** The words of this level in capitals. What touches a dot or is compared is the name of a column. */
    private def words(from: Int, until: Int): Vector[Word] = {
      val found = Vector.newBuilder[Word]
      var at = from
      while (at < until) {
        val past = Lexer.skipOpaque(text, at)
        if (past > at) at = past
        else if (closing.contains(at)) at = closing(at) + 1
        else if (Lexer.isNamePart(text(at))) {
          var end = at
          while (end < until && Lexer.isNamePart(text(end))) end += 1
          val word = text.substring(at, end).toUpperCase(Locale.ROOT)
          if (!touchesDot(at, end) && (word == "END" || !isCompared(end))) found += Word(word, at, end)
          at = end
        } else at += 1
      }
      found.result()
    }

    private def touchesDot(start: Int, end: Int): Boolean =
      start > 0 && text(start - 1) == '.' || end < text.length && text(end) == '.'

    private def isCompared(end: Int): Boolean = {
      val next = Lexer.skipBlank(text, end)
      Signs.exists(text.startsWith(_, next))
    }
  }

  private val Joining = Set("AND", "OR", "BETWEEN")
  private val Taking = Joining ++ Set("CASE", "END")
  private val Queries = Set("SELECT", "WITH")
  private val Signs = Seq("=", "<", ">", "!=")
}
