package sparkcer.views.unit

import org.apache.spark.sql.SparkSession

import sparkcer.engine.testkit.ErrorCase
import sparkcer.views.Views
import sparkcer.views.testkit.Network

/** Errors of statements with INITIALIZE and UPDATE, and of queries. Nothing is created. */
final class DefinitionErrors(spark: SparkSession) {
  private lazy val v: Views = {
    val v = Network.open(spark)
    v.createTable("H", "t TIMESTAMP, a INT", "t", "1 hour")
    v
  }

  private def error(key: String, message: String)(body: => Any): ErrorCase =
    new ErrorCase(s"CER_VIEW_DEFINITION.$key", s"[CER_VIEW_DEFINITION] $message", body)

  private def sql(key: String, text: => String, message: String): ErrorCase = error(key, message) {
    val before = v.explain()
    try v.sql(text)
    finally assert(v.explain() == before, "something was created")
  }

  private val First = "SELECT src FROM M[i]"
  private val Head = "CREATE VIEW A AS INITIALIZE A[i] AS "
  private val Initialize = s"line 1, column ${Head.length + "SELECT src FROM ".length + 1}"
  private val UpdateHead = s"$Head$First UPDATE A[j] AS "
  private val Update = s"line 1, column ${UpdateHead.length + "SELECT src FROM ".length + 1}"

  private def view(initialize: String, update: String, length: String = "60") =
    s"$Head$initialize UPDATE A[j] AS $update PARTITION LENGTH $length"

  private def subscript(key: String, subscript: String, at: Int, message: String) = {
    val where = s"line 1, column ${UpdateHead.length + "SELECT src FROM ".length + at}"
    sql(key, view(First, s"SELECT src FROM M[$subscript]"), s"In the UPDATE of view A, $where: $message")
  }

  val cases: Vector[ErrorCase] = Vector(
    sql(
      "COLUMN_COUNT",
      view("SELECT src, loss FROM M[i]", "SELECT src FROM M[j]"),
      "In the UPDATE of view A: the query has 1 columns (src), but the view has 2 (src, loss)."
    ),
    sql(
      "COLUMN_TYPE",
      view("SELECT src, loss FROM M[i]", "SELECT src, src FROM M[j]"),
      "In the UPDATE of view A: the column 'loss' is STRING, but it is INT in the view. Use a CAST."
    ),
    sql(
      "CYCLE",
      view("SELECT 1 AS x FROM B[i]", "SELECT 1 FROM B[j]") +
        "; CREATE VIEW B AS INITIALIZE B[i] AS SELECT * FROM A[i] UPDATE B[j] AS SELECT * FROM A[j-1] PARTITION LENGTH 60",
      "The views are defined by each other: A -> B -> A. A view can read itself, and views that do not read it."
    ),
    sql(
      "DROP",
      "DROP VIEW A B",
      "In the statement, line 1, column 13: expected one name. Write DROP VIEW name, or DROP VIEW IF EXISTS name."
    ),
    sql(
      "JOIN_WITHOUT_ON",
      view(
        "SELECT src, 1 AS ct FROM M[i]",
        "SELECT New.src, Prev.ct + 1 FROM M[j] AS New LEFT OUTER JOIN A[j-1] AS Prev WHERE New.loss > 10"
      ),
      "In the UPDATE of view A: A is joined with its own earlier part without a condition, so its rows multiply with each part. Write ON with the columns of the group, or CROSS JOIN if each row is to be joined with each row."
    ),
    sql(
      "DUPLICATE_COLUMN",
      view("SELECT src, src FROM M[i]", "SELECT src, src FROM M[j]"),
      "A would have 2 columns 'src'. Give each column its own name."
    ),
    sql(
      "EMPTY_RANGE",
      view(First, "SELECT src FROM M[j+1..j]"),
      s"In the UPDATE of view A, $Update: the range M[j+1..j] is empty. Write the lower part first."
    ),
    sql(
      "EXPECTED",
      "CREATE VIEW A AS INITIALIZE A(i) AS",
      "In the statement of view A, line 1, column 30: expected '['."
    ),
    sql(
      "EXPECTED",
      "CREATE VIEW A AS INITIALIZE [i] AS",
      "In the statement of view A, line 1, column 29: expected INITIALIZE A[…]."
    ),
    sql(
      "EXPECTED_NAME",
      "CREATE VIEW 1 AS INITIALIZE",
      "In the statement, line 1, column 13: expected the name of the view."
    ),
    sql(
      "EXPECTED_SUBSCRIPT",
      "CREATE VIEW A AS INITIALIZE A[1] AS",
      "In the statement of view A, line 1, column 31: expected the name of the subscript, such as j."
    ),
    sql(
      "FIRST_PART",
      view("SELECT src FROM A[i-1]", "SELECT src FROM M[j]"),
      s"In the INITIALIZE of view A, $Initialize: INITIALIZE computes the first part of the view, so A[i-1] does not exist yet."
    ),
    sql(
      "LENGTH",
      s"$Head$First\nUPDATE A[j] AS SELECT src FROM M[j]\nPARTITION LENGTH soon",
      "In the statement of view A, line 3, column 18: PARTITION LENGTH takes a number of seconds or a length of time, such as 60 or 1 hour."
    ),
    sql(
      "LENGTHS",
      view(First, "SELECT src FROM M[j]", "3600"),
      s"In the INITIALIZE of view A, $Initialize: M[i] does not fit the lengths. A part of A is 1 hour, and a part of M is 1 minute. Write M[i*60..i*60+59]."
    ),
    sql(
      "LENGTHS",
      view("SELECT src FROM H[i]", "SELECT a FROM H[j]"),
      s"In the INITIALIZE of view A, $Initialize: H[i] does not fit the lengths. A part of A is 1 minute, and a part of H is 1 hour. Write H[i/60]."
    ),
    sql(
      "LENGTHS",
      view("SELECT src FROM M[i*2]", "SELECT src FROM M[j]"),
      s"In the INITIALIZE of view A, $Initialize: M[i*2] does not fit the lengths. A part of A is 1 minute, and a part of M is 1 minute. Write M[i]."
    ),
    sql(
      "LENGTHS_NOT_MULTIPLE",
      view(First, "SELECT src FROM M[j]", "90"),
      s"In the INITIALIZE of view A, $Initialize: M[i] does not fit the lengths. A part of A is 90 seconds, and a part of M is 1 minute. One must be a multiple of the other."
    ),
    error(
      "NAME",
      "'a b' cannot be the name of a table or view. Use letters, digits and underscores, and no underscore at the start."
    )(v.createTable("a b", "t TIMESTAMP", "t", "60")),
    sql(
      "NO_LENGTH",
      s"${UpdateHead}SELECT src FROM M[j]",
      s"In the statement of view A, line 1, column ${UpdateHead.length + 21}: PARTITION LENGTH is missing. It is the length of a part, such as PARTITION LENGTH 60 (seconds) or PARTITION LENGTH 1 hour."
    ),
    sql(
      "NO_PARTS",
      view(First, "SELECT 'x'"),
      "In the UPDATE of view A: the query reads no part of another table or view, such as M[j], so it is not known when to run it."
    ),
    sql(
      "NO_PARTS",
      view(First, "SELECT src FROM A[j-1]"),
      "In the UPDATE of view A: the query reads no part of another table or view, such as M[j], so it is not known when to run it."
    ),
    sql(
      "NO_QUERY",
      s"${Head}UPDATE A[j] AS SELECT src FROM M[j] PARTITION LENGTH 60",
      s"In the INITIALIZE of view A, line 1, column ${Head.length + 1}: the query is missing."
    ),
    sql("NO_STATEMENT", "; -- nothing", "The text has no statement."),
    sql(
      "NO_UPDATE",
      s"$Head$First PARTITION LENGTH 60",
      s"In the statement of view A, line 1, column ${s"$Head$First PARTITION LENGTH 60".length + 1}: UPDATE A[j] AS … is missing. It computes each part after the first."
    ),
    sql(
      "OTHER_VIEW",
      "CREATE VIEW A AS INITIALIZE B[i] AS",
      "In the statement of view A, line 1, column 29: INITIALIZE names 'B', but the view is 'A'."
    ),
    sql(
      "OWN_PART",
      view(First, "SELECT src FROM A[j]"),
      s"In the UPDATE of view A, $Update: A[j] is not before the part that is computed. A view can read only its own earlier parts."
    ),
    error("RESERVED_COLUMN", "R would have a column '_part', but this name is reserved. Give the column another name.")(
      v.createTable("R", "t TIMESTAMP, _part INT", "t", "60")
    ),
    sql(
      "SEVERAL",
      "SELECT 1; SELECT 2",
      "Several statements in one text must all be CREATE VIEW statements, or all be DROP VIEW statements. Run a query by itself."
    ),
    sql(
      "SPARK",
      view(First, "SELECT src\nFROM M[j] x y z"),
      "In the UPDATE of view A: [PARSE_SYNTAX_ERROR] Syntax error at or near 'y'. SQLSTATE: 42601 (line 2, pos 12)"
    ),
    subscript("SUBSCRIPT", "", 1, "expected a number or 'j' in the subscript of M[]."),
    subscript("SUBSCRIPT_DIVISOR", "j/0", 5, "the subscript of M[j/0] can be divided only by a positive number."),
    subscript("SUBSCRIPT_END", "j 2", 5, "expected the end of the subscript of M[j 2], found '2'."),
    subscript(
      "SUBSCRIPT_MULTIPLE",
      "j*j",
      5,
      "the subscript of M[j*j] must be a multiple of the subscript of the part that is computed, plus a number."
    ),
    subscript(
      "SUBSCRIPT_NAME",
      "k",
      3,
      "'k' is not known in the subscript of M[k]. The subscript of the part that is computed is 'j'."
    ),
    subscript(
      "SUBSCRIPT_NEGATED",
      "-(j/2)",
      8,
      "the subscript of M[-(j/2)] has a negated quotient. That is not possible, because a quotient is rounded."
    ),
    sql(
      "SUBSCRIPT_NUMBER",
      "SELECT * FROM M[j]",
      "In the query, line 1, column 17: expected a number in the subscript of M[j]."
    ),
    sql(
      "SUBSCRIPT_PARENTHESIS",
      "SELECT * FROM M[(1]",
      "In the query, line 1, column 18: expected ')' in the subscript of M[(1]."
    ),
    subscript(
      "SUBSCRIPT_QUOTIENT",
      "j/2*2",
      7,
      "the subscript of M[j/2*2] multiplies a quotient. That is not possible, because a quotient is rounded."
    ),
    subscript(
      "SUBSCRIPT_QUOTIENTS",
      "j/2+j/3",
      9,
      "the subscript of M[j/2+j/3] adds two quotients. That is not possible, because quotients are rounded."
    ),
    sql("UNCLOSED_BACKTICK", "SELECT 1 AS `a", "The backtick opened at line 1, column 13 is never closed."),
    sql(
      "UNCLOSED_REFERENCE",
      "SELECT * FROM `M`[1",
      "In the query, line 1, column 15: the bracket of `M`[ is never closed."
    ),
    sql("UNCLOSED_STRING", "SELECT 'a''", "The string opened at line 1, column 11 is never closed."),
    sql(
      "UNKNOWN_SOURCE",
      view("SELECT src FROM Nope[i]", "SELECT 1 FROM M[j]"),
      s"In the INITIALIZE of view A, $Initialize: Nope[i] is a part of 'Nope', but there is no such table or view. There are A, H, M."
    ),
    sql(
      "WHICH_PARTS",
      view(First, "SELECT src FROM M"),
      "In the UPDATE of view A: M has parts, but the query does not say which it reads. Write for example M[j]."
    )
  )
}
