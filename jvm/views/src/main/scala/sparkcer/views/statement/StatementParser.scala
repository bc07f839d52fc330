package sparkcer.views.statement

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.engine.ceql.Token
import sparkcer.internal.bind.Durations

/** Parses a statement with INITIALIZE and UPDATE. */
private[views] object StatementParser {

  /** An error of a statement, with its place. */
  def wrong(error: String, where: String, parameters: (String, String)*): CerException =
    new CerException(s"CER_VIEW_DEFINITION.$error", ("where" -> where) +: parameters: _*)

  def parse(statement: StatementText): Statement = new StatementParser(statement).statement()
}

private[views] final class StatementParser private (source: StatementText) {
  private val text = source.text
  private val tokens = source.tokens
  private var at = 0

  def statement(): Statement = {
    expect("CREATE")
    expect("VIEW")
    val name = identifier("EXPECTED_NAME")
    accept("AS") // one listing of the ViewDF paper leaves it out
    expect("INITIALIZE")
    val i = head(name, "INITIALIZE")
    val updateAt = clauseAt(
      at,
      (t, n) =>
        t.isWord("UPDATE") && (isHead(n, name) || tokens.lift(n).exists(_.isWord("VIEW")) && isHead(n + 1, name))
    )
    if (updateAt < 0)
      fail(tokens.last.end, "NO_UPDATE", "view" -> name)
    val initialize = query(i, at, updateAt, s"INITIALIZE of view $name")
    at = updateAt + 1
    accept("VIEW")
    val j = head(name, "UPDATE")
    val lengthAt = clauseAt(at, (t, n) => t.isWord("PARTITION") && tokens.lift(n).exists(_.isWord("LENGTH")))
    if (lengthAt < 0)
      fail(tokens.last.end, "NO_LENGTH")
    val update = query(j, at, lengthAt, s"UPDATE of view $name")
    at = lengthAt + 2
    Statement(name, initialize, update, length(), source.stored)
  }

  /** Reads `name[j] AS`, and returns the variable. */
  private def head(name: String, clause: String): String = {
    val start = here
    val named = identifier("EXPECTED", "expected" -> s"$clause $name[…]")
    if (!named.equalsIgnoreCase(name))
      fail(start, "OTHER_VIEW", "clause" -> clause, "name" -> named, "view" -> name)
    symbol("[")
    val variable = identifier("EXPECTED_SUBSCRIPT")
    symbol("]")
    expect("AS")
    variable
  }

  private def isHead(n: Int, name: String): Boolean =
    nameAt(n).exists(_.equalsIgnoreCase(name)) && tokens.lift(n + 1).exists(_.isSymbol("["))

  /** The number of the first token outside of brackets where a clause begins, or -1. */
  private def clauseAt(from: Int, begins: (Token, Int) => Boolean): Int = {
    var depth = 0
    tokens.indices
      .drop(from)
      .find { n =>
        val t = tokens(n)
        if (t.opens) depth += 1
        else if (t.closes) depth -= 1
        depth == 0 && begins(t, n + 1)
      }
      .getOrElse(-1)
  }

  private def query(variable: String, from: Int, until: Int, clause: String): PartQuery = {
    if (from >= until) throw StatementParser.wrong("NO_QUERY", s"the $clause, ${StatementLexer.place(text, here)}")
    PartQueryParser(text, tokens.slice(from, until), Some(variable), clause)
  }

  private def length(): Long = {
    val start = here
    val words = tokens.drop(at)
    val seconds = words.map(_.text) match {
      case Vector(n) if words.head.kind == Token.Number => n.toLongOption
      case _ if words.nonEmpty                          =>
        Durations.seconds(text.substring(words.head.start, words.last.end).stripPrefix("'").stripSuffix("'"))
      case _ => None
    }
    seconds
      .filter(_ > 0)
      .getOrElse(fail(start, "LENGTH"))
  }

  private def nameAt(n: Int): Option[String] = tokens.lift(n).filter(_.isName).map(_.text)

  private def here: Int = tokens.lift(at).fold(tokens.last.end)(_.start)

  private def accept(word: String): Unit = if (tokens.lift(at).exists(_.isWord(word))) at += 1

  private def expect(word: String): Unit =
    if (tokens.lift(at).exists(_.isWord(word))) at += 1 else fail(here, "EXPECTED", "expected" -> word)

  private def symbol(text: String): Unit =
    if (tokens.lift(at).exists(_.isSymbol(text))) at += 1 else fail(here, "EXPECTED", "expected" -> s"'$text'")

  private def identifier(error: String, parameters: (String, String)*): String = nameAt(at) match {
    case Some(name) =>
      at += 1
      name
    case None => fail(here, error, parameters: _*)
  }

  private def fail(at: Int, error: String, parameters: (String, String)*): Nothing = {
    val view = nameAt(2).fold("")(n => s" of view $n")
    throw StatementParser.wrong(error, s"the statement$view, ${StatementLexer.place(text, at)}", parameters: _*)
  }
}
