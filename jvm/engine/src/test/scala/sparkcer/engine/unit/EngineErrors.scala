package sparkcer.engine.unit

import sparkcer.engine.ceql.Parser
import sparkcer.engine.compare.Content
import sparkcer.engine.error.Errors
import sparkcer.engine.evaluate.{Evaluator, Partitions, Program, Tecs}
import sparkcer.engine.state.{Frame, WireReader}
import sparkcer.engine.testkit.{ErrorCase, Event, Harness}

/** All errors that come from the engine. */
object EngineErrors {
  private val head = "SELECT * FROM S WHERE "

  /** A query of one line that is refused at a column of it. */
  private def query(key: String, text: String, column: Int, problem: String): ErrorCase =
    new ErrorCase(
      key,
      s"[${Errors.condition(key)}] Line 1, column $column: $problem\n$text\n${" " * (column - 1)}^",
      Program(text)
    )

  /** What follows WHERE. */
  private def formula(key: String, text: String, column: Int, problem: String): ErrorCase =
    query(key, head + text, head.length + column, problem)

  /** A longer text, of which the beginning is shown. */
  private def long(key: String, text: String, problem: String): ErrorCase =
    new ErrorCase(key, s"[CER_QUERY_TOO_LARGE] Line 1, column 1: $problem\n${text.take(100)}…\n^", Program(text))

  private def syntax: Vector[ErrorCase] = Vector(
    formula(
      "CER_SYNTAX.AGGREGATE_COLUMN",
      "A+ AS x FILTER max(x) > 3",
      16,
      "max(x) does not say of which column. Write the column too, such as max(x.price)."
    ),
    formula(
      "CER_SYNTAX.COUNT",
      "A+ AS x FILTER count(x) > 2.5",
      16,
      "count(x) is compared with a whole number, 0 or more, or a parameter, but this is 2.5."
    ),
    formula(
      "CER_SYNTAX.NO_ROUND",
      "A ; B{0,0}",
      6,
      "the largest number of rounds must be 1 or more. Leave this part of the pattern out instead."
    ),
    formula(
      "CER_SYNTAX.ROUNDS",
      "A{1.5}",
      3,
      "a number of rounds is a whole number, as in {2}, {2,} or {2,5}, but this is 1.5."
    ),
    formula(
      "CER_SYNTAX.ROUNDS_ORDER",
      "A{3,2}",
      2,
      "{3,2} has its numbers in the wrong order. Write {2,3}."
    ),
    formula(
      "CER_SYNTAX.VARIABLE_LIKE_END",
      "A AS `first(x)`",
      6,
      "a variable cannot be called 'first(x)', which means an event of another variable. Choose another name."
    ),
    formula(
      "CER_SYNTAX.COMPARISON_WITHOUT_VARIABLE",
      "A FILTER 1 = 1",
      10,
      "the comparison has no variable. Compare columns of events, such as x.price > y.price."
    ),
    query(
      "CER_SYNTAX.COUNT_BESIDE",
      "SELECT x, COUNT(*) FROM S WHERE A AS x",
      11,
      "COUNT(*) counts matches instead of listing them, so it is alone in SELECT. " +
        "To count the events of a variable, write count(x)."
    ),
    formula("CER_SYNTAX.EMPTY_CONDITION", "A FILTER A[ ]", 11, "the condition is empty."),
    formula("CER_SYNTAX.EMPTY_NAME", "``", 1, "a name in backticks needs at least one character."),
    query(
      "CER_SYNTAX.EXPECTED",
      "SELECT * FORM S WHERE A",
      10,
      "expected FROM, found 'FORM'. Did you mean 'FROM'?"
    ),
    formula(
      "CER_SYNTAX.EXPECTED_IN_BRACKETS",
      "A AS x ; B AS y FILTER x.id LIKE y.id",
      29,
      "expected a comparison (= != < <= > >=), found 'LIKE'. " +
        "Other expressions go in brackets after a variable, such as x[name LIKE 'a%']."
    ),
    formula(
      "CER_SYNTAX.EXPECTED_NOT_KEYWORD",
      "A AS select",
      6,
      "expected a variable name after AS, found 'select'. To use 'select' as a name, put it in backticks."
    ),
    formula("CER_SYNTAX.LIMIT", "A LIMIT 0", 9, "LIMIT takes a whole number, 1 or more."),
    query(
      "CER_SYNTAX.MEASURE_NAME",
      "SELECT x, x.price * 2 FROM S WHERE A AS x",
      11,
      "'x.price * 2' needs a name. Add AS and a name after it."
    ),
    formula(
      "CER_SYNTAX.PART_BY_LEAVES_OUT",
      "A AS x ; B PART-BY [x.id]",
      12,
      "PART-BY leaves out the events of 'B'. Add one of their columns to the list, such as B.id."
    ),
    formula(
      "CER_SYNTAX.PART_BY_LIST",
      "A ; B PART-BY [a, b]",
      7,
      "PART-BY takes one column of all events, such as [id], or one column of each variable, such as [x.id, y.id]."
    ),
    formula(
      "CER_SYNTAX.PREV_OUTSIDE",
      "A AS x FILTER x.a > PREV.a",
      21,
      "PREV is used inside the brackets of its variable, such as x[price > PREV.price]."
    ),
    formula(
      "CER_SYNTAX.RANGE_ARGUMENTS",
      "A FILTER A[p IN RANGE(1)]",
      17,
      "RANGE takes a lower and an upper bound, such as RANGE(1, 5)."
    ),
    formula(
      "CER_SYNTAX.RANGE_BOUNDS",
      "A FILTER A[p IN {..}]",
      17,
      "a range needs a bound, such as {1..5}, {1..} or {..5}."
    ),
    formula("CER_SYNTAX.TWICE", "A LIMIT 1 LIMIT 2", 11, "LIMIT is given twice."),
    formula("CER_SYNTAX.UNCLOSED_BACKTICK", "`A", 1, "the backtick opened here is never closed."),
    formula("CER_SYNTAX.UNCLOSED_BRACKET", "A FILTER A[p = 1", 11, "the bracket opened here is never closed."),
    formula("CER_SYNTAX.UNCLOSED_COMMENT", "A /* ; B", 3, "the comment opened here is never closed."),
    formula("CER_SYNTAX.UNCLOSED_PARENTHESIS", "(A ; B", 1, "the parenthesis opened here is never closed."),
    formula("CER_SYNTAX.UNCLOSED_SIGN", "A FILTER A[p IN {1..5]", 17, "the '{' opened here is never closed."),
    formula("CER_SYNTAX.UNCLOSED_STRING", "A FILTER A[k = 'x]", 16, "the string opened here is never closed."),
    formula("CER_SYNTAX.UNKNOWN_CHARACTER", "A # B", 3, "the character '#' has no meaning here."),
    formula(
      "CER_SYNTAX.WHOSE_COLUMN",
      "A AS x ; B FILTER amount > 3",
      19,
      "whose amount? Write x[amount > 3] or x.amount > 3 for the events of x. The variables here are A, B, x."
    ),
    formula(
      "CER_SYNTAX.WHOSE_COLUMN_COMPARED",
      "A AS x ; B FILTER 3 < amount",
      23,
      "whose amount? Write x.amount for the events of x. The variables here are A, B, x."
    ),
    formula(
      "CER_SYNTAX.WHOSE_COLUMN_IN_BRACKETS",
      "A ; B FILTER name LIKE 'a%' AND A[p]",
      14,
      "whose name? Write A[name LIKE 'a%'] for the events of A. The variables here are A, B."
    ),
    formula("CER_SYNTAX.WINDOW_COLUMN", "A WITHIN 3 [a, b]", 12, "WITHIN takes one column, such as WITHIN 30 [ts]."),
    formula(
      "CER_SYNTAX.WINDOW_EVENTS",
      "A WITHIN 2.5 EVENTS",
      10,
      "a window of events takes a whole number of events."
    ),
    formula(
      "CER_SYNTAX.WINDOW_MICROSECONDS",
      "A WITHIN 0.0000001 seconds",
      20,
      "a window of time takes a whole number of microseconds."
    ),
    formula(
      "CER_SYNTAX.WINDOW_TOO_LONG",
      "A WITHIN 9999999999999 days",
      28,
      "the window is longer than 292,000 years."
    )
  )

  private def others: Vector[ErrorCase] = Vector(
    formula(
      "CER_EMPTY_PATTERN",
      "A? ; B*",
      1,
      "the pattern can match without any event, and such a match would have no place in the stream. " +
        "Make one part of it obligatory: write A instead of A?, A+ instead of A*, or {1,5} instead of {0,5}."
    ),
    formula(
      "CER_UNSUPPORTED.AGGREGATE",
      "A+ AS x FILTER sum(x.amount) > 10",
      16,
      "sum(x.amount) cannot stand in this FILTER. FILTER takes count(x), min(x.a) and max(x.a), each compared with a " +
        "constant, and first(x) and last(x). Write any other condition on whole matches in HAVING, at the end of the query."
    ),
    formula(
      "CER_UNSUPPORTED.OTHER_VARIABLE",
      "(A+ AS x ; B AS y) FILTER last(x)[price < y.price]",
      35,
      "the condition on last(x) names y, but a condition on one event of a repetition can only name the columns of that " +
        "event. Compare the two without brackets, such as last(x).price < y.price."
    ),
    formula(
      "CER_UNSUPPORTED.SUB_WINDOW_EVENTS",
      "(A ; B WITHIN 5 EVENTS) ; C",
      8,
      "WITHIN inside a pattern limits time and cannot count events. " +
        "Write a length of time, such as 5 minutes, or a column, such as 30 [t]."
    ),
    query(
      "CER_UNKNOWN_STREAM.NOT_IN_FROM",
      "SELECT * FROM Stream WHERE Strem>A",
      28,
      "'Strem' is not in FROM, which names Stream. Did you mean 'Stream'?"
    ),
    formula(
      "CER_UNKNOWN_VARIABLE.BEFORE",
      "A AS x FILTER y[p]",
      15,
      "FILTER names 'y', which is not a variable of the pattern before it. Its variables are A, x."
    ),
    query(
      "CER_UNKNOWN_VARIABLE.SELECT",
      "SELECT hihg FROM S WHERE A AS high",
      8,
      "SELECT names 'hihg', which is not a variable of the pattern. Its variables are A, high. Did you mean 'high'?"
    ),
    query(
      "CER_UNKNOWN_VARIABLE.SELECT_COLUMN",
      "SELECT card, x FROM S WHERE A AS x PARTITION BY [card]",
      8,
      "Every match has the column 'card', so SELECT does not name it. Leave it out, or give it another name: card AS my_card."
    ),
    formula(
      "CER_UNSUPPORTED.FUNCTION_OF_EVENTS",
      "A+ AS x FILTER cuont(x) > 2",
      16,
      "'cuont' is not a function of all events of 'x': FILTER has count, first and last. Other functions take a column, " +
        "such as cuont(x.price). Did you mean 'count'?"
    ),
    formula(
      "CER_UNSUPPORTED.NOT",
      "NOT(A ; B)",
      1,
      "NOT takes one event: types with or without FILTER, joined by OR, such as NOT(BUY), NOT(BUY OR SELL) or NOT(BUY FILTER BUY[price > 20])."
    )
  )

  private def tooLarge: Vector[ErrorCase] = {
    val types = (1 to 500).map(i => s"T$i").mkString(" OR ")
    val either = (1 to 8).map(i => s"(x[p = $i] OR y[p = $i])").mkString(" AND ")
    val variables = (1 to 32).map(i => s"A AS x$i").mkString(" ; ")
    val sum = (2 to 32).map(i => s"x$i.p").mkString(" + ")
    val blank = head + " " * Parser.MaxLength
    val atoms = head + "A ; " * 4096
    val nested = head + "(" * 256
    val befores = (1 to 32).map(i => s"(NO B FOR $i [t] ; A)").mkString(" OR ")
    Vector(
      long(
        "CER_QUERY_TOO_LARGE.ALTERNATIVES",
        s"${head}A AS x ; ${"A ; " * 1000}A AS y FILTER $either",
        "the automaton of this query is too large. Use fewer OR between different variables in one FILTER."
      ),
      new ErrorCase(
        "CER_QUERY_TOO_LARGE.BEFORE",
        "[CER_QUERY_TOO_LARGE] Line 1, column 793: " +
          s"the query has more than 31 different NO … FOR at the beginning of its parts.\n…${(head + befores).drop(692)}\n${" " * 101}^",
        Program(head + befores)
      ),
      formula(
        "CER_QUERY_TOO_LARGE.COUNT",
        "A+ AS x FILTER count(x) >= 2000",
        16,
        "FILTER compares count(x) with at most 1000, and this is 2000. " +
          "Write the condition in HAVING instead, such as HAVING count(x) >= 2000."
      ),
      formula(
        "CER_QUERY_TOO_LARGE.REPEATED",
        "(A{900} ; B){900}",
        13,
        "the automaton of this query is too large, because it has a copy of the pattern for each round of {…}. " +
          "Use smaller numbers in braces."
      ),
      formula(
        "CER_QUERY_TOO_LARGE.ROUNDS",
        "A{1001}",
        2,
        "{…} takes at most 1000 rounds, and this has 1001. Write '+' and select the matches with HAVING, " +
          "such as HAVING count(x) >= 1001, or count matches with SELECT COUNT(*)."
      ),
      long("CER_QUERY_TOO_LARGE.AUTOMATON", s"$head($types)+", "the automaton of this query is too large."),
      long(
        "CER_QUERY_TOO_LARGE.COMPARED_VARIABLES",
        s"$head$variables FILTER x1[p < $sum]",
        s"a comparison takes at most 31 variables, and this one has more: ${s"x1[p < $sum".take(100)} …"
      ),
      new ErrorCase(
        "CER_QUERY_TOO_LARGE.CHARACTERS",
        "[CER_QUERY_TOO_LARGE] Line 1, column 100001: " +
          s"the query has 100022 characters, and at most 100000 are allowed.\n…${" " * 122}\n${" " * 101}^",
        Program(blank)
      ),
      new ErrorCase(
        "CER_QUERY_TOO_LARGE.EVENT_TYPES",
        "[CER_QUERY_TOO_LARGE] Line 1, column 16407: " +
          s"the query has more than 4096 event types.\n…${"A ; " * 25}A\n${" " * 101}^",
        Program(atoms + "A")
      ),
      new ErrorCase(
        "CER_QUERY_TOO_LARGE.NESTED",
        "[CER_QUERY_TOO_LARGE] Line 1, column 279: " +
          s"the query is nested more than 256 levels deep.\n…${"(" * 100}A\n${" " * 101}^",
        Program(nested + "A")
      )
    )
  }

  private def parameters: Vector[ErrorCase] = {
    def refused(key: String, clause: String, n: BigDecimal, problem: String) = {
      val text = s"${head}A $clause"
      val at = text.indexOf(":n") + 1
      val message = s"[CER_PARAMETER] Line 1, column ${at + 1}: $problem\n$text\n${" " * at}^"
      new ErrorCase(s"CER_PARAMETER.$key", message, Program(text, Map("n" -> n)))
    }
    Vector(
      refused(
        "EVENTS",
        "WITHIN :n EVENTS",
        1.5,
        "a window of events takes a whole number of events, but the parameter :n is 1.5."
      ),
      refused("LIMIT", "LIMIT :n", 0, "LIMIT takes a whole number, 1 or more, but the parameter :n is 0."),
      refused(
        "MICROSECONDS",
        "WITHIN :n seconds",
        BigDecimal("1e-7"),
        "a window of time takes a whole number of microseconds, but the parameter :n is 0.0000001."
      ),
      refused(
        "ROUNDS",
        "; B{:n}",
        -1,
        "a number of rounds or events is a whole number, 0 or more, but the parameter :n is -1."
      ),
      refused("NEGATIVE", "WITHIN :n minutes", -1, "a window cannot be negative, but the parameter :n is -1."),
      refused("TOO_LONG", "WITHIN :n weeks", BigDecimal("1e9"), "the window is longer than 292,000 years.")
    )
  }

  private def state: Vector[ErrorCase] = {
    val program = Program(s"${head}A ; B")
    val saved = new Harness(program).feed(Event.stream("A")).save()
    def load(bytes: Array[Byte]) = Partitions.load(new Evaluator(program), Seq(bytes -> null))
    def damaged(key: String, message: String, provoke: => Any) =
      new ErrorCase(s"CER_STATE_DAMAGED.$key", s"[CER_STATE_DAMAGED] $message", provoke)
    def newer(key: String, message: String, provoke: => Any) =
      new ErrorCase(
        s"CER_STATE_MISMATCH.$key",
        s"[CER_STATE_MISMATCH] $message. Use that newer version.",
        provoke
      )
    def reader(bytes: Int*) = new WireReader(bytes.map(_.toByte).toArray, 0, bytes.length)
    Vector(
      damaged(
        "CHECKSUM",
        "The saved state is damaged: its checksum is wrong.",
        load(saved.updated(2, (~saved(2)).toByte))
      ),
      damaged("CUT_OFF", "The saved state is damaged: it ends too early.", reader(4, 1).array()),
      damaged("NOT_STATE", "These bytes are not a saved state of spark-cer.", load(Array.empty)),
      damaged(
        "NUMBER",
        "The saved state is damaged: it has a number that is too long.",
        reader(Seq.fill(11)(0xff): _*).long()
      ),
      damaged(
        "REGISTER",
        "The saved state is damaged: it has a register of an unknown kind.",
        Content.read(reader(99))
      ),
      damaged(
        "TOO_LONG",
        "The saved state is damaged: it has more bytes than it says.",
        load(Frame.write { out => body(saved).foreach(b => out.byte(b & 0xff)); out.byte(0) })
      ),
      newer(
        "NEWER_COMPARISONS",
        "The state of comparisons between events was saved in format 9 by a newer spark-cer, and this one reads formats up to 1", {
          val comparing = Program(s"$head(A AS x ; B AS y) FILTER x.p = y.p")
          val bytes = body(new Harness(comparing).feed(Event.stream("A(p=7)")).save())
          // What is compared comes last: its format, nothing removed, one entry.
          val format = bytes.lastIndexOfSlice(Seq[Byte](1, 0, 2))
          val later = Frame.write(out => bytes.updated(format, 9.toByte).foreach(b => out.byte(b & 0xff)))
          new Harness(comparing).restart(Seq(later))
        }
      ),
      newer(
        "NEWER_STATE",
        "The state was saved in format 3 by a newer spark-cer, and this one reads formats up to 2",
        load(saved.updated(1, (Frame.Version + 1).toByte))
      ),
      new ErrorCase(
        "CER_STATE_TOO_LARGE",
        "[CER_STATE_TOO_LARGE] One substream holds more than 134217728 nodes of partial matches. " +
          "Use a shorter WITHIN, or PARTITION BY more columns.",
        throw Tecs.tooLarge // which no test has the memory to reach
      ),
      new ErrorCase(
        "CER_TOO_MANY_RUNS",
        "[CER_TOO_MANY_RUNS] NEXT, LAST and MAX have to keep more than 1000 partial matches with the same first event, " +
          "because NO at the end is compared with different values of each. Compare it by '=' or with a variable that is " +
          "bound to one event, or use a shorter WITHIN.",
        // Each match has another set of values, which a C may have or not.
        Harness.run(
          "SELECT MAX x FROM S WHERE A+ AS x ; NO (C FILTER C.k <> x.k) FOR 9 [t]",
          (0 until 20).map(i => s"A(k=$i)@$i").mkString(" ")
        )
      )
    )
  }

  private def absence: Vector[ErrorCase] = {
    def absent(key: String, text: String, column: Int, problem: String) =
      formula(s"CER_ABSENCE.$key", text, column, problem)
    Vector(
      absent(
        "AFTER_INSIDE",
        "(A ; NO B FOR 5 minutes) ; C",
        9,
        "NO after the last part can only stand at the end of the whole pattern, also inside OR, AS, FILTER and WITHOUT. " +
          "To say that no such event comes between two parts, write A ; NO B ; C."
      ),
      absent(
        "AGGREGATE",
        "A ; NO (B FILTER count(B) > 1) ; C",
        8,
        "NO and WITHOUT are about one event that must not come, so count, first, last, min, max and SOME cannot describe it."
      ),
      absent(
        "BEFORE_COMPARED",
        "NO (B FILTER B.k = a.k) FOR 5 minutes ; A AS a",
        20,
        "NO at the beginning names 'a', but events before a match cannot be compared with the events of the match. " +
          "To look back at events with equal values only, write PARTITION BY [column]."
      ),
      absent(
        "BEFORE_INSIDE",
        "A ; (NO B FOR 5 minutes ; C)",
        9,
        "NO before the first part can only stand at the beginning of the whole pattern, also inside OR, AS, FILTER and WITHOUT. " +
          "To say that no such event comes between two parts, write A ; NO B ; C."
      ),
      absent(
        "BEFORE_NEEDS_FOR",
        "NO B ; C",
        1,
        "NO at the beginning needs to know how far to look back. " +
          "Say for how long no such event came: NO B FOR 10 minutes ; …"
      ),
      absent(
        "CONTIGUOUS",
        "A : NO B : C",
        5,
        "NO cannot stand beside ':', because there is nothing between neighbours. Join the parts by ';', such as A ; NO B ; C."
      ),
      absent(
        "FORM",
        "A ; NO (B ; C) ; D",
        8,
        "NO and WITHOUT take one event that must not come: a type, or in parentheses types with FILTER, joined by OR, " +
          "such as NO (B OR C)."
      ),
      absent(
        "FOR_BETWEEN",
        "A ; NO B FOR 5 minutes ; C",
        5,
        "NO … FOR can stand at the beginning or at the end of the pattern, not between two parts. " +
          "Between two parts leave FOR out, such as A ; NO B ; C."
      ),
      absent(
        "FOR_EVENTS",
        "A ; NO B FOR 5 EVENTS",
        10,
        "FOR takes a length of time, such as FOR 10 minutes, and not a number of events."
      ),
      absent(
        "NEIGHBOUR",
        "A ; B? ; NO C ; D",
        10,
        "'B?' can be without events, so it is not clear where the gap beside it begins or ends. " +
          "Put it in parentheses with the part next to it, such as (A ; B?) ; NO C ; D."
      ),
      absent(
        "NOT_ABOUT",
        "A ; NO (B FILTER A[v > 1]) ; C",
        20,
        "'A[v > 1]' says nothing about the event that must not come. " +
          "Each condition after NO and WITHOUT names it, such as NO (B AS b FILTER b.id = a.id)."
      ),
      absent(
        "NOT_BOUND",
        "A AS a ; NO (B FILTER B.k = c.k) FOR 5 minutes",
        29,
        "NO and WITHOUT name 'c', which is not a variable before them. " +
          "What must not come is compared with what has come: A, a."
      ),
      absent(
        "TWICE",
        "A ; NO B ; NO C ; D",
        12,
        "There can be one NO between two parts, and one before the first part. Join what must not come by OR, such as NO (B OR C)."
      ),
      absent(
        "WITHOUT_VARIABLE",
        "(A ; C) WITHOUT (B FILTER B.k = C.k)",
        27,
        "WITHOUT can compare an event with 'C' only if 'C' is one event that comes before everything that the pattern passes over. " +
          "Say which gap is meant, such as A ; NO (B FILTER B.id = A.id) ; C."
      )
    )
  }

  /** NO at the end of a pattern. */
  private def waiting: Vector[ErrorCase] = Vector(
    formula(
      "CER_ABSENCE.AFTER_COLUMNS",
      "A ; NO B FOR 5 [t] WITHIN 9 [u]",
      8,
      "NO … FOR at the end and WITHIN measure the same time, but FOR names the column 't' and WITHIN 'u'. Use the time column in both."
    ),
    formula(
      "CER_ABSENCE.AFTER_EVENTS",
      "A ; NO B FOR 5 minutes WITHIN 9 EVENTS",
      8,
      "NO at the end waits for time to pass, so WITHIN cannot be a number of events. Write a length of time, such as WITHIN 1 hour."
    ),
    formula(
      "CER_ABSENCE.AFTER_NEEDS_FOR",
      "A ; B ; NO C WITHIN 1 hour",
      12,
      "NO at the end needs to know how long to wait. Say for how long no such event comes: NO C FOR 10 minutes. " +
        "FOR may be left out only after one single event, in a query with WITHIN."
    ),
    formula(
      "CER_ABSENCE.AFTER_TOO_LONG",
      "A ; NO B FOR 2 hours WITHIN 90 minutes",
      8,
      "A match lasts until no such event has come FOR 2 hours, which is longer than WITHIN 1 hour 30 minutes allows. " +
        "Write a longer WITHIN or a shorter FOR."
    )
  )

  /** Without the head and the checksum of the frame. */
  private def body(saved: Array[Byte]): Array[Byte] = saved.slice(2, saved.length - 4)

  def cases: Vector[ErrorCase] = syntax ++ others ++ absence ++ tooLarge ++ parameters ++ waiting ++ state
}
