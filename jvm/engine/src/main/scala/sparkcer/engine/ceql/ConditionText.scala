package sparkcer.engine.ceql

/** Writes CEQL's own condition forms in Spark SQL, and leaves everything else as it is:
  *
  * {{{
  * a IN {1, 2}      a IN (1, 2)
  * a IN {1..5}      a BETWEEN 1 AND 5        a NOT IN {1..5}   a NOT BETWEEN 1 AND 5
  * a IN {1..}       a >= 1                   a NOT IN {1..}    NOT (…) is written as a < 1
  * a IN {..5}       a <= 5
  * e IN RANGE(l, h) e BETWEEN l AND h
  * a IN :list       a IN (:list)
  * }}}
  */
private[ceql] object ConditionText {

  def toSql(text: String, query: String, offset: Int): String = {
    val out = new StringBuilder
    var at = 0
    while (at < text.length) {
      val past = Lexer.skipOpaque(text, at)
      out ++= text.substring(at, past)
      at = past
      if (at < text.length) {
        if (Lexer.isNameStart(text(at))) {
          val end = wordEnd(text, at)
          val word = text.substring(at, end)
          if (word.equalsIgnoreCase("IN")) at = membership(text, end, out, query, offset)
          else { out ++= word; at = end }
        } else if (text(at).isDigit) {
          val end = wordEnd(text, at)
          out ++= text.substring(at, end)
          at = end
        } else { out += text(at); at += 1 }
      }
    }
    out.toString.trim
  }

  /** After the word IN: writes the condition that a value is in the list, and returns where the text goes on. */
  private def membership(text: String, from: Int, out: StringBuilder, query: String, offset: Int): Int = {
    val open = Lexer.skipBlank(text, from)
    val range = wordEnd(text, open)
    if (open < text.length && text(open) == '{') {
      val close = closing(text, open, '{', '}', query, offset)
      val inside = text.substring(open + 1, close)
      topLevel(inside, "..") match {
        case None       => out ++= s"IN ($inside)"
        case Some(dots) =>
          between(inside.substring(0, dots).trim, inside.substring(dots + 2).trim, out, query, offset + open)
      }
      close + 1
    } else if (text.substring(open, range).equalsIgnoreCase("RANGE")) {
      val paren = Lexer.skipBlank(text, range)
      if (paren >= text.length || text(paren) != '(') { out ++= "IN"; from }
      else {
        val close = closing(text, paren, '(', ')', query, offset)
        val inside = text.substring(paren + 1, close)
        topLevel(inside, ",") match {
          case Some(comma) =>
            between(inside.substring(0, comma).trim, inside.substring(comma + 1).trim, out, query, offset + open)
          case None => fail(query, offset + open, "CER_SYNTAX.RANGE_ARGUMENTS")
        }
        close + 1
      }
    } else if (open < text.length && text(open) == ':' && wordEnd(text, open + 1) > open + 1) {
      val end = wordEnd(text, open + 1)
      out ++= s"IN (${text.substring(open, end)})"
      end
    } else { out ++= "IN"; from }
  }

  private def between(low: String, high: String, out: StringBuilder, query: String, offset: Int): Unit = {
    val negated = dropNot(out, low.isEmpty || high.isEmpty)
    if (low.isEmpty && high.isEmpty) fail(query, offset, "CER_SYNTAX.RANGE_BOUNDS")
    else if (low.isEmpty) out ++= s"${if (negated) ">" else "<="} ($high)"
    else if (high.isEmpty) out ++= s"${if (negated) "<" else ">="} ($low)"
    else out ++= s"BETWEEN ($low) AND ($high)"
  }

  /** Takes a trailing NOT off what is written so far, if `wanted`. */
  private def dropNot(out: StringBuilder, wanted: Boolean): Boolean = {
    val written = out.toString.reverse.dropWhile(_.isWhitespace).reverse
    val negated = wanted && written.matches("(?is).*\\bNOT")
    if (negated) {
      out.clear()
      out ++= written.dropRight(3)
    }
    negated
  }

  private def wordEnd(text: String, from: Int): Int = {
    var end = from
    while (end < text.length && Lexer.isNamePart(text(end))) end += 1
    end
  }

  private def closing(text: String, open: Int, left: Char, right: Char, query: String, offset: Int): Int = {
    var depth = 0
    var at = open
    do {
      at = Lexer.skipOpaque(text, at)
      if (at >= text.length) fail(query, offset + open, "CER_SYNTAX.UNCLOSED_SIGN", "sign" -> left.toString)
      if (text(at) == left) depth += 1
      if (text(at) == right) depth -= 1
      at += 1
    } while (depth > 0)
    at - 1
  }

  /** The first `mark` outside any parentheses and literals. */
  private def topLevel(text: String, mark: String): Option[Int] = {
    var depth = 0
    var at = Lexer.skipOpaque(text, 0)
    while (at < text.length && !(depth == 0 && text.startsWith(mark, at))) {
      if (text(at) == '(') depth += 1
      if (text(at) == ')') depth -= 1
      at = Lexer.skipOpaque(text, at + 1)
    }
    if (at < text.length) Some(at) else None
  }

  private def fail(query: String, offset: Int, key: String, parameters: (String, String)*): Nothing =
    throw new CeqlException(query, offset, key, parameters: _*)
}
