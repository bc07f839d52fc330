package sparkcer.views.unit

import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.types.StructType

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.translate.{SourceTable, Translate}

/** What a query that cannot be kept up to date is told: the whole message, with the place. */
class TranslateErrorSuite extends SparkSuite {
  private def source(name: String): Option[SourceTable] =
    Some(SourceTable(StructType.fromDDL("t TIMESTAMP, g STRING, loss INT, wide DECIMAL(38,2)"), 60))
      .filter(_ => name.equalsIgnoreCase("M"))

  private def refused(statement: String, expected: String): Unit = {
    val e = intercept[CerException](Translate(statement, source))
    // The line and the caret follow.
    assertEquals(e.getMessage.linesIterator.next(), expected)
  }

  private val cases = Seq(
    "SELECT g FROM M GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 34: expected PATTERN […] or [WINDOW …] after M. A view is defined by INITIALIZE and UPDATE, by SELECT … FROM M PATTERN [a, b+] WHERE …, or by SELECT … FROM M [WINDOW 60 minutes] …",
    "SELECT g, count(*) AS n FROM N PATTERN [a] WHERE a.loss > 1 GROUP BY g" ->
      "[CER_UNKNOWN_STREAM] Line 1, column 47: there is no table or view N.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, a] WHERE a.loss > 1 GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 61: the variable a stands here twice; give each place its own name.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b*] WHERE a.loss > 1 GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 61: expected a variable such as a or a+ : PATTERN [a, b, c+].",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b WHERE a.loss > 1 GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 57: the bracket opened here is never closed.",
    "SELECT g, count(*) AS n FROM M PATTERN [a+, b] WHERE b.loss > a.loss GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 80: a+ can stand for several rows, so a later variable cannot be compared with it; compare with a variable without +.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE loss > 1 GROUP BY g" ->
      "[CER_UNKNOWN_VARIABLE] Line 1, column 70: 'loss' is no column of a variable: write which row is meant, such as a.loss.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE c.loss > 1 GROUP BY g" ->
      "[CER_UNKNOWN_VARIABLE] Line 1, column 70: 'c.loss' is no column of a variable: the pattern's variables are a, b.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.los > 1 GROUP BY g" ->
      "[CER_UNKNOWN_COLUMN] Line 1, column 70: M has no column 'los'; it has t, g, loss, wide. Did you mean 'loss'?",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE 1 = 1 GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 70: this condition is about no variable of the pattern (a, b).",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > > 1 GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 70: Spark cannot read this: Syntax error at or near '>'.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > (SELECT 1) GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 70: a subquery cannot stand here. Join its table in a view of its own, and read that.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY upper(g)" ->
      "[CER_UNSUPPORTED] Line 1, column 90: GROUP BY takes names of columns here. Compute the expression in a view of its own, and read that.",
    "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY h" ->
      "[CER_UNKNOWN_COLUMN] Line 1, column 90: M has no column 'h'.",
    "SELECT g, loss, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY g" ->
      "[CER_UNKNOWN_COLUMN] Line 1, column 28: 'loss' is not in GROUP BY. Outside of GROUP BY a column can stand inside count, sum, avg, min or max.",
    "SELECT g, sum(a.loss) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY g" ->
      "[CER_UNKNOWN_COLUMN] Line 1, column 32: M has no column 'a'; it has t, g, loss, wide.",
    "SELECT g, count(DISTINCT loss) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 28: count with DISTINCT or FILTER cannot be kept up to date from parts. Prepare the rows in a view of its own, and read that.",
    "SELECT g, sum(max(loss)) AS n FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 32: an aggregate cannot stand inside another.",
    "SELECT *, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 25: name the columns: * cannot be kept up to date here.",
    "SELECT g, count(*) AS g FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_NAME_COLLISION] Line 1, column 28: two columns would have the name g; give one another with AS.",
    "SELECT g, count(*) + 1 FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 28: this column needs a name: write AS and one.",
    "SELECT g FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 35: a window needs an aggregate: count, sum, avg, min or max in SELECT.",
    "SELECT g, count(*) FROM M [WINDOW 90 seconds] GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 52: 90 seconds is no multiple of 60 seconds, the length of a part of M.",
    "SELECT g, count(*) FROM M [WINDOW 5 minutes SLIDE 90 seconds] GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 68: 90 seconds is no multiple of 60 seconds, the length of a part of M.",
    "SELECT g, count(*) FROM M [WINDOW soon] GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 52: 'soon' is no time such as 60 minutes.",
    "SELECT g, count(*) FROM M [WINDOW] GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 45: a time such as 60 minutes is missing after WINDOW.",
    "SELECT g, count(*) FROM M [WINDOW 1 month] GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 52: '1 month' is no fixed time such as 60 minutes.",
    "SELECT g, avg(wide) AS m FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 28: avg of DECIMAL(38,2) would lose digits. Cast it to DECIMAL(24, 2) or smaller.",
    "SELECT g, avg(t) AS m FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_TYPE_MISMATCH] Line 1, column 28: avg takes a number, and this is TIMESTAMP.",
    "SELECT g, sum(array(loss)) AS m FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_TYPE_MISMATCH] Line 1, column 28: Cannot resolve \"sum(array(loss))\" due to data type mismatch: The first parameter requires the \"NUMERIC\" or \"ANSI INTERVAL\" type, however \"array(loss)\" has the type \"ARRAY<INT>\".",
    "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g HAVING m > 1" ->
      "[CER_UNKNOWN_COLUMN] Line 1, column 86: 'm' is not in GROUP BY. Outside of GROUP BY a column can stand inside count, sum, avg, min or max.",
    "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] WHERE count(*) > 1 GROUP BY g" ->
      "[CER_SYNTAX] Line 1, column 74: WHERE is about single rows; conditions on aggregates stand in HAVING.",
    "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g ORDER BY g" ->
      "[CER_UNSUPPORTED] Line 1, column 79: ORDER has no place in a view; use it where the view is read.",
    "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g WHERE loss > 1" ->
      "[CER_SYNTAX] Line 1, column 79: the clauses are WHERE, GROUP BY, HAVING, each at most once and in this order.",
    "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] JOIN M" ->
      "[CER_SYNTAX] Line 1, column 68: expected WHERE, GROUP BY, HAVING or the end, found 'JOIN'.",
    "SELECT g, median(loss) AS n FROM M [WINDOW 5 minutes] GROUP BY g" ->
      "[CER_UNKNOWN_COLUMN] Line 1, column 35: 'loss' is not in GROUP BY. Outside of GROUP BY a column can stand inside count, sum, avg, min or max."
  )

  for (((text, message), i) <- cases.zipWithIndex)
    test(s"$i: $text") { refused(s"CREATE VIEW V AS $text", message) }
}
