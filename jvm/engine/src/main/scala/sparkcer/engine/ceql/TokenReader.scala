package sparkcer.engine.ceql

import java.util.Locale

/** Reads the tokens of a query one after the other: names, lists, parentheses, and what is said when something else was
  * expected.
  */
abstract private[ceql] class TokenReader(text: String) {
  import Parser.{isName, MaxDepth, Reserved}

  protected var tokens: Vector[Token] = new QueryLexer(text).query()
  protected var index = 0
  private var depth = 0

  protected def token: Token = tokens(index)
  protected def ahead(n: Int): Token = tokens(math.min(index + n, tokens.length - 1))

  protected def name(what: String): Name = {
    val t = token
    if (isName(t)) { index += 1; Name(t.text)(t.start) }
    else expected(what, Nil)
  }

  /** `x`, or `S>R` for the variable of an atom of one stream. */
  protected def variableName(what: String): Name = {
    val first = name(what)
    if (token.isSymbol(">")) {
      index += 1
      Name(first.value + ">" + name("an event type after '>'").value)(first.offset)
    } else first
  }

  protected def bracket(what: String): Vector[Name] =
    if (token.kind == Token.Bracket) bracketNames() else expected(what, Nil)

  /** The names in `[a, b.c, `d e`]`; a dotted name is one name, and a backtick keeps its dots apart from the path's. */
  protected def bracketNames(): Vector[Name] = {
    val open = token
    index += 1
    val inside = open.text.substring(1, open.text.length - 1)
    var names = Vector.empty[Name]
    var start = 0
    var at = 0
    def take(end: Int): Unit = {
      val raw = inside.substring(start, end)
      val offset = open.start + 1 + start + raw.takeWhile(_.isWhitespace).length
      val trimmed = raw.trim
      if (
        !trimmed.matches("(?U)(`([^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_]*)(\\.(`([^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_]*))*")
      )
        expectedAt(offset, "a column name", if (trimmed.isEmpty) "nothing" else s"'$trimmed'", "")
      names :+= Name(trimmed)(offset)
    }
    while (at < inside.length) {
      at = Lexer.skipOpaque(inside, at)
      if (at < inside.length && inside(at) == ',') { take(at); start = at + 1 }
      at += 1
    }
    take(inside.length)
    names
  }

  protected def choice[A](words: Map[String, A]): A =
    words.get(token.text.toUpperCase(Locale.ROOT)).filter(_ => token.kind == Token.Word) match {
      case Some(value) => index += 1; value
      case None => expected(words.keys.toVector.sorted.mkString(", ").replaceFirst(", (?=[A-Z]*$)", " or "), words.keys)
    }

  protected def listOf[A](what: String)(item: String => A): Vector[A] = {
    val items = Vector.newBuilder[A]
    items += item(what)
    while (token.isSymbol(",")) { index += 1; items += item(what) }
    items.result()
  }

  protected def chain[A](keyword: String, part: () => A, join: Vector[A] => A): A =
    joined(() => token.isWord(keyword), part, join)

  protected def separated(sign: String, part: () => Formula, join: Vector[Formula] => Formula): Formula =
    joined(() => token.isSymbol(sign), part, join)

  protected def joined[A](more: () => Boolean, part: () => A, join: Vector[A] => A): A = {
    val first = part()
    if (!more()) first
    else {
      val parts = Vector.newBuilder[A] += first
      while (more()) { index += 1; parts += part() }
      join(parts.result())
    }
  }

  protected def nested[A](body: => A): A = {
    depth += 1
    deeper(0)
    val result = body
    depth -= 1
    result
  }

  /** Suffixes nest too, without parentheses. */
  protected def deeper(levels: Int): Unit =
    if (depth + levels > MaxDepth)
      throw new CeqlException(text, token.start, "CER_QUERY_TOO_LARGE.NESTED", "most" -> MaxDepth.toString)

  protected def word(w: String): Unit = if (token.isWord(w)) index += 1 else expected(w, Seq(w))

  protected def symbol(s: String): Unit = if (token.isSymbol(s)) index += 1 else expected(s"'$s'", Nil)

  protected def close(open: Token, otherwise: String, words: Vector[String]): Unit =
    if (token.isSymbol(")")) index += 1
    else if (token.kind == Token.End)
      throw new CeqlException(text, open.start, "CER_SYNTAX.UNCLOSED_PARENTHESIS")
    else expected(s"$otherwise or ')'", words)

  protected def expected(what: String, keywords: Iterable[String]): Nothing = {
    val t = token
    if (t.isOneOf(Reserved) && keywords.isEmpty)
      throw new CeqlException(
        text,
        t.start,
        "CER_SYNTAX.EXPECTED_NOT_KEYWORD",
        "expected" -> what,
        "found" -> t.shown
      )
    else
      expectedAt(
        t.start,
        what,
        t.shown,
        if (t.kind == Token.Word) CeqlException.suggestion(t.text, keywords) else ""
      )
  }

  protected def expectedAt(offset: Int, what: String, found: String, suggestion: String): Nothing =
    throw new CeqlException(
      text,
      offset,
      "CER_SYNTAX.EXPECTED",
      "expected" -> what,
      "found" -> found,
      "suggestion" -> suggestion
    )
}
