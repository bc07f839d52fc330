package sparkcer.engine.ceql

import java.util.Locale

import scala.collection.mutable

/** The grammar of CEQL by recursive descent. Written by hand rather than with a parser library so that an error can say
  * what was expected and what was probably meant, and the engine stays without dependencies. Each class of the chain
  * that ends here reads a part of the grammar, with those before it: [[TokenReader]], [[WindowReader]],
  * [[ConditionReader]], [[AbsenceReader]], [[FormulaReader]], [[SelectReader]].
  *
  * {{{
  * query     := SELECT select FROM names WHERE formula clause* [';']
  * formula   := or (FILTER condition | PART-BY '[' keys ']' | WITHOUT absent | WITHIN window)*
  *                                                                                      WITHIN in parentheses only
  * or        := all (OR all)*
  * all       := adjacent (ALL adjacent)*
  * adjacent  := [NO absent FOR window ';'] sequence (':' sequence)* [';' NO absent [FOR window]]
  * sequence  := suffixed (';' [NO absent ';'] suffixed)*
  * absent    := [name '>'] name | '(' formula ')'                                       see [[AbsenceReader]]
  * suffixed  := primary (AS name | '+' | ':+' | '*' | ':*' | '?' | ('{' | ':{') bounds '}')*
  * bounds    := n | n ',' | [n] ',' n
  * primary   := '(' formula ')' | NOT '(' formula ')' | [name '>'] name
  * condition := both (OR both)*    both := part (AND part)*
  * part      := '(' condition ')' | [SOME] variable '[' condition ']' | (first | last) '(' variable ')' '[' condition ']'
  *            | operand sign operand | aggregate sign constant                    see [[Operands]] and [[Aggregates]]
  * clause    := PARTITION BY '[' names ']' … | WITHIN window | CONSUME BY word | LIMIT n | HAVING sql
  * window    := n EVENTS | n '[' name ']' | [INTERVAL] (n unit)+ | ':' name
  * select    := [DISTINCT] [strategy] (COUNT(*) | NONE | [FLAT] item (',' item)*)
  * item      := '*' | variable ['[' names ']'] [AS name] | sql AS name | variable '.' path
  * }}}
  */
object Parser {

  /** Larger queries are refused. No real query is that large, and the code after the parser may then use recursion. */
  val MaxLength = 100000
  val MaxDepth = 256
  val MaxAtoms = 4096

  def parse(text: String): Query = withPlaces(text)._1

  private[ceql] def withPlaces(text: String): (Query, RecognizedQuery.Places) = {
    if (text.length > MaxLength)
      throw new CeqlException(
        text,
        MaxLength,
        "CER_QUERY_TOO_LARGE.CHARACTERS",
        "characters" -> text.length.toString,
        "most" -> MaxLength.toString
      )
    val parser = new Parser(text)
    (parser.query(), parser.places)
  }

  /** The microseconds of a length of time as WITHIN takes it: `5 minutes`. */
  def micros(text: String): Option[Long] =
    try new Parser(text).length()
    catch { case _: CeqlException => None }

  /** Words that are names only in backticks. */
  private[ceql] val Reserved =
    Set(
      "SELECT",
      "FROM",
      "WHERE",
      "FILTER",
      "AND",
      "OR",
      "ALL",
      "NOT",
      "AS",
      "PART-BY",
      "PARTITION",
      "WITHIN",
      "CONSUME",
      "LIMIT",
      "HAVING"
    )

  private[ceql] def isName(t: Token): Boolean =
    t.isName && !t.isOneOf(Reserved)

  private[ceql] val Operators = "an operator (; : ALL OR + :+ * ? {n,m} AS FILTER PART-BY WITHOUT)"
  private val Clauses = Vector("PARTITION BY", "WITHIN", "CONSUME BY", "LIMIT", "HAVING")

}

final private class Parser(text: String) extends SelectReader(text) {
  import Parser._

  def query(): Query = {
    word("SELECT")
    val chosen = select()
    word("FROM")
    val from = listOf("a name after FROM")(name)
    word("WHERE")
    val where = formula()
    checkPlaces(where)
    var query = Query(chosen, from, where)(text)
    val seen = mutable.Set.empty[String]
    while (token.kind != Token.End) query = clause(query, seen)
    ofMatches(query)
  }

  /** The SQL over matches with the variables of the pattern. `start AS x` and `card AS x` are measures too. */
  private def ofMatches(q: Query): Query = {
    val bound = q.where.variables
    val columns = q.ofEveryMatch.map(_.toLowerCase(Locale.ROOT)).toSet
    def shown(s: SelectList.Shown): SelectList.Shown = s match {
      case SelectList.Item(x, None, Some(as)) if !bound(x.value) && columns(x.value.toLowerCase(Locale.ROOT)) =>
        SelectList.Measure(Printer.name(x.value), as)(x.offset)
      case m: SelectList.Measure => m.copy(sql = MatchSql.quoted(m.sql, bound))(m.offset)
      case other                 => other
    }
    val list = q.select.list match {
      case SelectList.Columns(items, flat) => SelectList.Columns(items.map(shown), flat)
      case other                           => other
    }
    val having = q.having.map(h => h.copy(sql = MatchSql.quoted(h.sql, bound))(h.offset))
    q.copy(select = q.select.copy(list = list), having = having)(text)
  }

  /** A text that is nothing but a length of time. */
  private def length(): Option[Long] = window() match {
    case Window.Duration(micros) if token.kind == Token.End => Some(micros)
    case _                                                  => None
  }

  private def clause(query: Query, seen: mutable.Set[String]): Query = {
    val start = token
    def once(clause: String): Unit = {
      index += clause.count(_ == ' ') + 1
      if (!seen.add(clause)) throw new CeqlException(text, start.start, "CER_SYNTAX.TWICE", "clause" -> clause)
    }
    if ((start.isWord("PARTITION") || start.isWord("CONSUME")) && !ahead(1).isWord("BY")) {
      index += 1
      expected(s"BY after ${start.text}", Nil)
    } else if (start.isWord("PARTITION")) {
      once("PARTITION BY")
      query.copy(partitionBy = listOf("a column in brackets, such as [card]")(what => bracket(what)).flatten)(text)
    } else if (start.isWord("WITHIN")) {
      once("WITHIN")
      query.copy(within = Some(window()))(text)
    } else if (start.isWord("CONSUME")) {
      once("CONSUME BY")
      query.copy(consumeBy = choice(Consume.byWord))(text)
    } else if (start.isWord("LIMIT")) {
      once("LIMIT")
      val at = token
      val n = quantity("a number after LIMIT")
      n match {
        case Quantity.Number(v) if !Parameters.isLimit(v) =>
          throw new CeqlException(text, at.start, "CER_SYNTAX.LIMIT")
        case _ => query.copy(limit = Some(n))(text)
      }
    } else if (start.isWord("HAVING")) {
      once("HAVING")
      query.copy(having = Some(having()))(text)
    } else {
      val open = Clauses.filterNot(seen)
      val operators = if (seen.isEmpty) s"$Operators, " else ""
      val words = if (seen.isEmpty) Vector("OR", "ALL", "AS", "FILTER", "PART-BY", "WITHOUT", "AND") else Vector.empty
      val places = if (open.isEmpty) "" else open.mkString("", ", ", " or ")
      expected(s"$operators${places}the end of the query", words ++ open.map(_.takeWhile(_ != ' ')))
    }
  }

  private def having(): SqlCondition = {
    val (word, first) = (tokens(index - 1), token)
    toEnd(t => Clauses.exists(c => t.isWord(c.takeWhile(_ != ' '))))
    if (token eq first) expected("a condition after HAVING", Nil)
    val end = tokens(index - 1).end
    val cut =
      if (token.kind == Token.End) RecognizedQuery.Edit(tokens(tokens.indexOf(word) - 1).end, end, "")
      else RecognizedQuery.Edit(word.start, token.start, "")
    places = places.copy(having = Some(cut))
    SqlCondition(MatchSql.of(text.substring(first.start, end), text, first.start))(first.start)
  }
}
