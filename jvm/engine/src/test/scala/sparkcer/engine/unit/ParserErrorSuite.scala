package sparkcer.engine.unit

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.evaluate.Program

/** The exact text of errors: where, what was expected, what was found, and what was probably meant. */
class ParserErrorSuite extends munit.FunSuite {

  /** The query is refused at `line:column`, and the message shows that line with a caret under the column. */
  private def refused(query: String, at: (Int, Int), problem: String, condition: String = "CER_SYNTAX")(implicit
      loc: munit.Location
  ): Unit = {
    val (line, column) = at
    val shown = query.split("\n", -1)(line - 1).replace('\t', ' ')
    val message = intercept[CeqlException](Program(query)).getMessage
    assertEquals(message, s"[$condition] Line $line, column $column: $problem\n$shown\n${" " * (column - 1)}^")
  }

  private val operators = "an operator (; : ALL OR + :+ * ? {n,m} AS FILTER PART-BY WITHOUT)"
  private val clauses = "PARTITION BY, WITHIN, CONSUME BY, LIMIT, HAVING or the end of the query"

  /** What follows WHERE. */
  private def formula(text: String, column: Int, problem: String)(implicit loc: munit.Location): Unit = {
    val head = "SELECT * FROM S WHERE "
    refused(head + text, (1, head.length + column), problem)
  }

  test("the whole message") {
    val message = intercept[CeqlException](Program("SELECT *\nFROM S\nWHERE A ;\n  B FILTR B[p = 1]")).getMessage
    val expected =
      s"""[CER_SYNTAX] Line 4, column 5: expected $operators, $clauses, found 'FILTR'. Did you mean 'FILTER'?
                      |  B FILTR B[p = 1]
                      |    ^""".stripMargin
    assertEquals(message, expected)
  }

  test("a missing or misspelt clause") {
    refused("", (1, 1), "expected SELECT, found the end of the query.")
    refused("SELCT * FROM S WHERE A", (1, 1), "expected SELECT, found 'SELCT'. Did you mean 'SELECT'?")
    refused("SELECT * FORM S WHERE A", (1, 10), "expected FROM, found 'FORM'. Did you mean 'FROM'?")
    refused("SELECT * FROM S WERE A", (1, 17), "expected WHERE, found 'WERE'. Did you mean 'WHERE'?")
    refused("SELECT * FROM S", (1, 16), "expected WHERE, found the end of the query.")
    formula("A WITHN 3 EVENTS", 3, s"expected $operators, $clauses, found 'WITHN'. Did you mean 'WITHIN'?")
    formula("A PARTITON BY [k]", 3, s"expected $operators, $clauses, found 'PARTITON'. Did you mean 'PARTITION'?")
  }

  test("after the first clause only clauses that are left are expected") {
    formula(
      "A LIMIT 1 foo",
      11,
      "expected PARTITION BY, WITHIN, CONSUME BY, HAVING or the end of the query, found 'foo'."
    )
    formula("A WITHIN 3 EVENTS WITHIN 4 EVENTS", 19, "WITHIN is given twice.")
  }

  test("formulas") {
    val operand = "expected an event type, NOT(…) or '('"
    formula("", 1, s"$operand, found the end of the query.")
    formula("A ; ; B", 5, s"$operand, found ';'.")
    formula("; A", 1, s"$operand, found ';'.")
    formula("+ A", 1, s"$operand, found '+'.")
    formula("A B", 3, s"expected $operators, $clauses, found 'B'.")
    formula("A, B", 2, s"expected $operators, $clauses, found ','.")
    formula("A ; B)", 6, s"expected $operators, $clauses, found ')'.")
    formula("(A B)", 4, s"expected $operators or ')', found 'B'.")
    formula("A AS", 5, "expected a variable name after AS, found the end of the query.")
    formula("A AS 1", 6, "expected a variable name after AS, found '1'.")
    formula("S>", 3, "expected an event type after '>', found the end of the query.")
    formula("NOT A", 5, "expected '(', found 'A'.")
    formula("A # B", 3, "the character '#' has no meaning here.")
  }

  test("one ';' ends the query, and a second is too many") {
    val operand = "expected an event type, NOT(…) or '('"
    formula("A ;;", 4, s"$operand, found ';'.")
    formula("A ; B ; ; -- end", 9, s"$operand, found ';'.")
    formula("A ; B ; FILTER A[p = 1]", 9, s"$operand, found 'FILTER'. To use 'FILTER' as a name, put it in backticks.")
    formula("A LIMIT 1 ;;", 11, "expected PARTITION BY, WITHIN, CONSUME BY, HAVING or the end of the query, found ';'.")
    formula(
      "A LIMIT 1 ; WITHIN 3 EVENTS",
      11,
      "expected PARTITION BY, WITHIN, CONSUME BY, HAVING or the end of the query, found ';'."
    )
    formula("A AS ;", 6, "expected a variable name after AS, found the end of the query.")
    formula("(A ; B ;", 1, "the parenthesis opened here is never closed.")
    formula("(A ;) ;", 5, s"$operand, found ')'.")
    formula(";", 1, s"$operand, found the end of the query.")
    refused(";", (1, 1), "expected SELECT, found the end of the query.")
    refused("SELECT *\nFROM S ;", (2, 8), "expected WHERE, found the end of the query.")
  }

  test("what NOT does not take") {
    formula("NOT(A B)", 7, "expected OR, FILTER or ')', found 'B'.")
    formula("NOT(A FILTR A[p])", 7, "expected OR, FILTER or ')', found 'FILTR'. Did you mean 'FILTER'?")
    val alternatives =
      "NOT takes one event: types with or without FILTER, joined by OR, such as NOT(BUY), NOT(BUY OR SELL) " +
        "or NOT(BUY FILTER BUY[price > 20])."
    val head = "SELECT * FROM S WHERE B ; "
    Seq("NOT(A ; B)", "NOT(A OR (B : C))", "NOT(A+)", "NOT(A OR NOT(B))", "NOT(A ALL B)", "NOT(A PART-BY [k])")
      .foreach { not =>
        refused(head + not, (1, head.length + 1), alternatives, "CER_UNSUPPORTED")
      }
  }

  test("a keyword where a name belongs") {
    formula(
      "A AS select",
      6,
      "expected a variable name after AS, found 'select'. To use 'select' as a name, put it in backticks."
    )
    refused(
      "SELECT * FROM WHERE A",
      (1, 15),
      "expected a name after FROM, found 'WHERE'. To use 'WHERE' as a name, put it in backticks."
    )
  }

  test("what is opened is closed, and the place shown is where it was opened") {
    formula("(A ; B", 1, "the parenthesis opened here is never closed.")
    formula("NOT(A", 4, "the parenthesis opened here is never closed.")
    formula("A FILTER (A[p = 1]", 10, "the parenthesis opened here is never closed.")
    formula("A FILTER A[p = 1", 11, "the bracket opened here is never closed.")
    formula("A FILTER A[k = 'x]", 16, "the string opened here is never closed.")
    formula("A FILTER A[k = \"x]", 16, "the string opened here is never closed.")
    formula("`A", 1, "the backtick opened here is never closed.")
    formula("A /* ; B", 3, "the comment opened here is never closed.")
    formula("A FILTER A[p /* = 1]", 14, "the comment opened here is never closed.")
    formula("A FILTER A[p IN {1..5]", 17, "the '{' opened here is never closed.")
    formula("A FILTER A[p IN RANGE(1, 2]", 22, "the '(' opened here is never closed.")
  }

  test("conditions") {
    formula(
      "A FILTER",
      9,
      "expected a variable with a condition in brackets, such as x[price > 20], found the end of the query."
    )
    formula(
      "A FILTER A",
      11,
      "expected a condition in brackets after 'A', such as A[price > 20], found the end of the query."
    )
    formula("A FILTER A[ ]", 11, "the condition is empty.")
    formula("A FILTER A[p] ADN A[q]", 15, s"expected $operators, $clauses, found 'ADN'. Did you mean 'AND'?")
    formula("A FILTER (A[p] A[q])", 16, "expected AND, OR or ')', found 'A'.")
    formula("A FILTER A[p IN {..}]", 17, "a range needs a bound, such as {1..5}, {1..} or {..5}.")
    formula("A FILTER A[p IN RANGE(1)]", 17, "RANGE takes a lower and an upper bound, such as RANGE(1, 5).")
  }

  test("comparisons between events") {
    formula("A AS x ; B AS y FILTER x.id", 28, "expected a comparison (= != < <= > >=), found the end of the query.")
    formula(
      "A AS x ; B AS y FILTER x.id = y",
      32,
      "expected '.' and a column after 'y', such as y.price, found the end of the query."
    )
    formula("A AS x FILTER x. = 1", 18, "expected a column of a variable, such as x.price, found '='.")
    formula(
      "A AS x ; B AS y FILTER x.id LIKE y.id",
      29,
      "expected a comparison (= != < <= > >=), found 'LIKE'. Other expressions go in brackets after a variable, such as x[name LIKE 'a%']."
    )
    formula("A AS x FILTER x.a < x.b < x.c", 25, "expected AND, OR or the end of the comparison, found '<'.")
    formula("A AS x FILTER (x.a + 1 = 2", 15, "the parenthesis opened here is never closed.")
    formula("A AS x FILTER f(x.a = 2", 21, "expected ')', found '='.")
    formula(
      "A AS x FILTER x.a > PREV.a",
      21,
      "PREV is used inside the brackets of its variable, such as x[price > PREV.price]."
    )
    formula(
      "A FILTER 1 = 1",
      10,
      "the comparison has no variable. Compare columns of events, such as x.price > y.price."
    )
    refused(
      "SELECT * FROM S WHERE A AS high ; B FILTER high.p > lwo.p",
      (1, 53),
      "FILTER names 'lwo', which is not a variable of the pattern before it. Its variables are A, B, high.",
      "CER_UNKNOWN_VARIABLE"
    )
  }

  test("a column without its variable") {
    def whose(filter: String, column: Int, name: String, write: String) = formula(
      s"(A AS x ; B) FILTER $filter",
      column + 20,
      s"whose $name? Write $write for the events of x. The variables here are A, B, x."
    )
    whose("amount > 3", 1, "amount", "x[amount > 3] or x.amount > 3")
    whose("amount = 3 OR B[p]", 1, "amount", "x[amount = 3] or x.amount = 3")
    whose("B[p] AND (amount * (2 + p) > 3)", 11, "amount", "x[amount * (2 + p) > 3] or x.amount * (2 + p) > 3")
    whose("`the amount` != 3 WITHIN 3 EVENTS", 1, "`the amount`", "x[`the amount` != 3] or x.`the amount` != 3")
    whose("a BETWEEN 1 AND 2 AND B[p]", 1, "a", "x[a BETWEEN 1 AND 2]")
    whose("a NOT IN (1, 2) LIMIT 3", 1, "a", "x[a NOT IN (1, 2)]")
    whose("a IS NULL", 1, "a", "x[a IS NULL]")
    whose("3 < amount", 5, "amount", "x.amount")
    whose("x.amount > least", 12, "least", "x.least")
    formula(
      "NOT(A) FILTER amount > 3",
      15,
      "whose amount? Write x[amount > 3] or x.amount > 3 for the events of x. The variables here are none."
    )
    formula(
      "A AS x FILTER x.ts < INTERVAL 1 DAY",
      22,
      "expected a column of a variable, such as x.price, found 'INTERVAL'. " +
        "Other expressions go in brackets after a variable, such as x[name LIKE 'a%']."
    )
  }

  test("measures and HAVING") {
    def select(list: String, column: Int, problem: String) =
      refused(s"SELECT $list FROM S WHERE A AS x", (1, 7 + column), problem)
    def unnamed(sql: String) = s"'$sql' needs a name. Add AS and a name after it."
    select("x.", 4, "expected a column after '.', found 'FROM'. To use 'FROM' as a name, put it in backticks.")
    select("last(x).ts", 1, unnamed("last(x).ts"))
    select("x, sum(x.a) total", 4, unnamed("sum(x.a) total"))
    select("1", 1, unnamed("1"))
    select("x.a + (x.b AS c", 7, "the '(' opened here is never closed.")
    select("x.a AS", 8, "expected a name after AS, found 'FROM'. To use 'FROM' as a name, put it in backticks.")
    select("x AS b c", 8, "expected FROM, found 'c'.")
    select("x.a AS b)", 9, "expected FROM, found ')'.")
    select("FLAT NONE AS", 14, "expected a name after AS, found 'FROM'. To use 'FROM' as a name, put it in backticks.")
    select("FLAT )", 6, "expected a variable or '*' after FLAT, found ')'.")
    val beside = "COUNT(*) counts matches instead of listing them, so it is alone in SELECT. " +
      "To count the events of a variable, write count(x)."
    select("COUNT(*), x", 1, beside)
    select("x, count( * ) AS n", 4, beside)
    select("COUNT(*) AS n", 10, "expected FROM, found 'AS'.")
    refused(
      "SELECT z AS y FROM S WHERE A AS x PARTITION BY [k]",
      (1, 8),
      "SELECT names 'z', which is not a variable of the pattern. Its variables are A, x.",
      "CER_UNKNOWN_VARIABLE"
    )
    formula("A HAVING", 9, "expected a condition after HAVING, found the end of the query.")
    formula(
      "A HAVING LIMIT 1",
      10,
      "expected a condition after HAVING, found 'LIMIT'. To use 'LIMIT' as a name, put it in backticks."
    )
    formula("A HAVING count(A > 1", 15, "the '(' opened here is never closed.")
    formula(
      "A HAVING count(A) > 1)",
      22,
      "expected PARTITION BY, WITHIN, CONSUME BY, LIMIT or the end of the query, found ')'."
    )
    formula("A HAVING true LIMIT 1 HAVING true", 23, "HAVING is given twice.")
    formula("A HAVIN true", 3, s"expected $operators, $clauses, found 'HAVIN'. Did you mean 'HAVING'?")
  }

  test("PART-BY and ALL") {
    formula(
      "A PART-BY k",
      11,
      "expected columns in brackets after PART-BY, such as [x.id, y.id] or [id], found 'k'."
    )
    formula("A PART-BY [a + b]", 12, "expected a column name, found 'a + b'.")
    formula(
      "A ; B PART-BY [a, b]",
      7,
      "PART-BY takes one column of all events, such as [id], or one column of each variable, such as [x.id, y.id]."
    )
    formula(
      "A AS x ; B ; NOT(C) PART-BY [x.id, A.id]",
      21,
      "PART-BY leaves out the events of 'B'. Add one of their columns to the list, such as B.id."
    )
    formula("A PARTBY [k]", 3, s"expected $operators, $clauses, found 'PARTBY'. Did you mean 'PART-BY'?")
    formula("A ALL", 6, "expected an event type, NOT(…) or '(', found the end of the query.")
    formula(
      "A ALL ALL B",
      7,
      "expected an event type, NOT(…) or '(', found 'ALL'. To use 'ALL' as a name, put it in backticks."
    )
  }

  test("windows") {
    val time = "a unit of time (weeks, days, hours, minutes, seconds, milliseconds, microseconds)"
    val units = s"$time, EVENTS, or a column in brackets, such as [ts]"
    formula("A WITHIN", 9, "expected a number after WITHIN, found the end of the query.")
    formula("A WITHIN 3", 11, s"expected $units, found the end of the query.")
    formula("A WITHIN 3 mintues", 12, s"expected $units, found 'mintues'. Did you mean 'minutes'?")
    formula("A WITHIN 3 m", 12, s"expected $units, found 'm'.")
    formula("A WITHIN 3 months", 12, s"expected $units, found 'months'.")
    formula("A WITHIN :n 3 minutes", 13, s"expected $units, found '3'.")
    formula("A WITHIN :n mintues", 13, s"expected $units, found 'mintues'. Did you mean 'minutes'?")
    formula("A WITHIN INTERVAL", 18, "expected a number after INTERVAL, found the end of the query.")
    formula("A WITHIN INTERVAL '5'", 22, s"expected $time, found the end of the query.")
    formula("A WITHIN INTERVAL 5 EVENTS", 21, s"expected $time, found 'EVENTS'.")
    formula("A WITHIN INTERVAL '5 mintues'", 22, s"expected $time, found 'mintues'. Did you mean 'minutes'?")
    formula("A WITHIN INTERVAL '1:30' HOUR TO MINUTE", 19, "expected a number after INTERVAL, found '1:30'.")
    formula("A WITHIN INTERVAL '-5' MINUTE", 19, "expected a number after INTERVAL, found '-5'.")
    formula("A WITHIN INTERVAL '' MINUTE", 22, "expected a number after INTERVAL, found 'MINUTE'.")
    formula("A WITHIN 3 EVENST", 12, s"expected $units, found 'EVENST'. Did you mean 'EVENTS'?")
    formula("A WITHIN 3 [a, b]", 12, "WITHIN takes one column, such as WITHIN 30 [ts].")
    formula("A WITHIN 0.0000001 seconds", 20, "a window of time takes a whole number of microseconds.")
    formula("A WITHIN 9999999999999 days", 28, "the window is longer than 292,000 years.")
  }

  test("other clauses") {
    formula("A PARTITION BY k", 16, "expected a column in brackets, such as [card], found 'k'.")
    formula("A PARTITION BY [k + 1]", 17, "expected a column name, found 'k + 1'.")
    formula("A LIMIT 0", 9, "LIMIT takes a whole number, 1 or more.")
    formula("A LIMIT 1.5", 9, "LIMIT takes a whole number, 1 or more.")
    formula("A LIMIT x", 9, "expected a number after LIMIT, found 'x'.")
    refused("SELECT COUNT(x) FROM S WHERE A", (1, 8), "'COUNT(x)' needs a name. Add AS and a name after it.")
    refused("SELECT x[a + 1] FROM S WHERE A AS x", (1, 10), "expected a column name, found 'a + 1'.")
  }

  test("words that are nearly right") {
    refused(
      "SELECT NXT * FROM S WHERE A",
      (1, 8),
      "expected a strategy (ALL, ANY, NEXT, LAST, MAX, STRICT) before '*', found 'NXT'. Did you mean 'NEXT'?"
    )
    refused("SELECT MAX LAST * FROM S WHERE A", (1, 12), "expected '*' after the strategy, found 'LAST'.")
    formula("A PARTITION [k]", 13, "expected BY after PARTITION, found '[k]'.")
    formula("A CONSUME ANY", 11, "expected BY after CONSUME, found 'ANY'.")
    formula("A WITHIN 2.5 EVENTS", 10, "a window of events takes a whole number of events.")
    refused("SELECT x[] FROM S WHERE A AS x", (1, 10), "expected a column name, found nothing.")
  }

  test("unknown variables and streams, with the ones there are") {
    val variable = "CER_UNKNOWN_VARIABLE"
    refused(
      "SELECT hihg FROM S WHERE A AS high",
      (1, 8),
      "SELECT names 'hihg', which is not a variable of the pattern. Its variables are A, high. Did you mean 'high'?",
      variable
    )
    refused(
      "SELECT y FROM S WHERE A AS x",
      (1, 8),
      "SELECT names 'y', which is not a variable of the pattern. Its variables are A, x.",
      variable
    )
    refused(
      "SELECT * FROM S WHERE (A AS low FILTER high[p]) ; B AS high",
      (1, 40),
      "FILTER names 'high', which is not a variable of the pattern before it. Its variables are A, low.",
      variable
    )
    refused(
      "SELECT * FROM Stream WHERE Strem>A",
      (1, 28),
      "'Strem' is not in FROM, which names Stream. Did you mean 'Stream'?",
      "CER_UNKNOWN_STREAM"
    )
    refused("SELECT * FROM S WHERE T>A", (1, 23), "'T' is not in FROM, which names S.", "CER_UNKNOWN_STREAM")
  }

  test("a name that differs in case is suggested") {
    refused(
      "SELECT X FROM S WHERE A AS x",
      (1, 8),
      "SELECT names 'X', which is not a variable of the pattern. Its variables are A, x. Did you mean 'x'?",
      "CER_UNKNOWN_VARIABLE"
    )
  }

  test("tabs are shown as one column, and a long line around its place") {
    refused("SELECT *\n\tFROM S WHERE A ]", (2, 17), "the character ']' has no meaning here.")
    val long = "SELECT * FROM S WHERE " + "A ; " * 100 + "# ; " + "B ; " * 100 + "C"
    val message = intercept[CeqlException](Program(long)).getMessage.linesIterator.toVector
    assertEquals(message(0), "[CER_SYNTAX] Line 1, column 423: the character '#' has no meaning here.")
    assertEquals(message(1), "…" + "A ; " * 25 + "# ; " + "B ; " * 24 + "…")
    assertEquals(message(2), " " * 101 + "^")
  }
}
