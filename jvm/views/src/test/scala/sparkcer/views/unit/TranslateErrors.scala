package sparkcer.views.unit

import org.apache.spark.sql.types.StructType

import sparkcer.engine.error.Errors
import sparkcer.engine.testkit.ErrorCase
import sparkcer.views.translate.{SourceTable, Translate}

/** Errors of views that are defined by a query, with their place in the statement. */
object TranslateErrors {
  private def source(name: String): Option[SourceTable] =
    Some(SourceTable(StructType.fromDDL("t TIMESTAMP, g STRING, loss INT, wide DECIMAL(38,2)"), 60))
      .filter(_ => name.equalsIgnoreCase("M"))

  private def statement(key: String, text: String, column: Int, problem: String): ErrorCase =
    new ErrorCase(
      key,
      s"[${Errors.condition(key)}] Line 1, column $column: $problem\n$text\n${" " * (column - 1)}^",
      Translate(text, source)
    )

  private def query(key: String, text: String, column: Int, problem: String): ErrorCase =
    statement(key, s"CREATE VIEW V AS $text", column, problem)

  private val Form =
    "A view is defined by INITIALIZE and UPDATE, by SELECT … FROM M PATTERN [a, b+] WHERE …, or by SELECT … FROM M [WINDOW 60 minutes] …"
  private val NotGrouped =
    "is not in GROUP BY. Other columns can be used only inside count, sum, avg, min or max."

  val cases: Vector[ErrorCase] = Vector(
    query(
      "CER_NAME_COLLISION.VIEW_COLUMNS",
      "SELECT g, count(*) AS g FROM M [WINDOW 5 minutes] GROUP BY g",
      28,
      "two columns would have the name g. Give one of them another name with AS."
    ),
    query(
      "CER_SYNTAX.UNCLOSED_BRACKET",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b WHERE a.loss > 1 GROUP BY g",
      57,
      "the bracket opened here is never closed."
    ),
    query(
      "CER_SYNTAX.VIEW_AGGREGATE_IN_WHERE",
      "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] WHERE count(*) > 1 GROUP BY g",
      74,
      "WHERE is about single rows. Conditions on aggregates go in HAVING."
    ),
    query(
      "CER_SYNTAX.VIEW_AGGREGATE_IN_WHERE",
      "SELECT g, count(*) AS n FROM M PATTERN [a] WHERE sum(a.loss) > 1 GROUP BY g",
      67,
      "WHERE is about single rows. Conditions on aggregates go in HAVING."
    ),
    query(
      "CER_SYNTAX.VIEW_CLAUSE",
      "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] JOIN M",
      68,
      "expected WHERE, GROUP BY, HAVING or the end of the statement, found 'JOIN'."
    ),
    query(
      "CER_SYNTAX.VIEW_CLAUSES",
      "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g WHERE loss > 1",
      79,
      "the clauses are WHERE, GROUP BY and HAVING, each at most once and in this order."
    ),
    query(
      "CER_SYNTAX.VIEW_COLUMN_NAME",
      "SELECT g, count(*) + 1 FROM M [WINDOW 5 minutes] GROUP BY g",
      28,
      "this column needs a name. Add AS and a name."
    ),
    query(
      "CER_SYNTAX.VIEW_CONDITION",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE 1 = 1 GROUP BY g",
      70,
      "this condition is about no variable of the pattern. The variables are a, b."
    ),
    query(
      "CER_SYNTAX.VIEW_DURATION",
      "SELECT g, count(*) FROM M [WINDOW soon] GROUP BY g",
      52,
      "'soon' is not a length of time. Write for example 60 minutes."
    ),
    query(
      "CER_SYNTAX.VIEW_DURATION_FIXED",
      "SELECT g, count(*) FROM M [WINDOW 1 month] GROUP BY g",
      52,
      "'1 month' is not a fixed and positive length of time. Write for example 60 minutes."
    ),
    query(
      "CER_SYNTAX.VIEW_DURATION_MISSING",
      "SELECT g, count(*) FROM M [WINDOW] GROUP BY g",
      45,
      "a length of time, such as 60 minutes, is missing after WINDOW."
    ),
    query(
      "CER_SYNTAX.VIEW_EXPECTED",
      "VALUES (1)",
      18,
      s"expected SELECT, found 'VALUES'. $Form"
    ),
    statement("CER_SYNTAX.VIEW_EXPECTED", "CREATE VIEW V", 14, s"expected AS, found the end of the statement. $Form"),
    query(
      "CER_SYNTAX.VIEW_EXPRESSION",
      "SELECT g, , count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g",
      27,
      "an expression is missing here."
    ),
    query("CER_SYNTAX.VIEW_FROM", "SELECT 1", 26, s"FROM is missing. $Form"),
    query(
      "CER_SYNTAX.VIEW_GROUP_BY",
      "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP g",
      74,
      "expected BY after GROUP."
    ),
    statement("CER_SYNTAX.VIEW_NAME", "CREATE VIEW 1 AS SELECT", 13, "expected the name of the view, found '1'."),
    query(
      "CER_SYNTAX.VIEW_NESTED_AGGREGATE",
      "SELECT g, sum(max(loss)) AS n FROM M [WINDOW 5 minutes] GROUP BY g",
      32,
      "an aggregate cannot be inside another aggregate."
    ),
    query(
      "CER_SYNTAX.VIEW_NO_AGGREGATE",
      "SELECT g FROM M [WINDOW 5 minutes] GROUP BY g",
      35,
      "a window needs an aggregate in SELECT: count, sum, avg, min or max."
    ),
    query(
      "CER_SYNTAX.VIEW_PATTERN_OR_WINDOW",
      "SELECT g FROM M GROUP BY g",
      34,
      s"expected PATTERN […] or [WINDOW …] after M. $Form"
    ),
    query(
      "CER_SYNTAX.VIEW_SOURCE",
      "SELECT g FROM (M) GROUP BY g",
      32,
      "expected the name of a table or view, found '('."
    ),
    query(
      "CER_SYNTAX.VIEW_SQL",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > > 1 GROUP BY g",
      70,
      "Spark cannot read this: Syntax error at or near '>'."
    ),
    query(
      "CER_SYNTAX.VIEW_VARIABLE",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b*] WHERE a.loss > 1 GROUP BY g",
      61,
      "expected a variable such as a or a+, as in PATTERN [a, b, c+]."
    ),
    query(
      "CER_SYNTAX.VIEW_VARIABLE_TWICE",
      "SELECT g, count(*) AS n FROM M PATTERN [a, a] WHERE a.loss > 1 GROUP BY g",
      61,
      "the pattern has the variable a twice. Give each place its own name."
    ),
    query(
      "CER_TYPE_MISMATCH.VIEW_AVERAGE",
      "SELECT g, avg(t) AS m FROM M [WINDOW 5 minutes] GROUP BY g",
      28,
      "avg takes a number, but this is TIMESTAMP."
    ),
    query(
      "CER_TYPE_MISMATCH.VIEW_SQL",
      "SELECT g, sum(array(loss)) AS m FROM M [WINDOW 5 minutes] GROUP BY g",
      28,
      "Spark cannot use this: Cannot resolve \"sum(array(loss))\" due to data type mismatch: The first parameter requires the \"NUMERIC\" or \"ANSI INTERVAL\" type, however \"array(loss)\" has the type \"ARRAY<INT>\"."
    ),
    query(
      "CER_UNKNOWN_COLUMN.VIEW_COLUMN",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.los > 1 GROUP BY g",
      70,
      "M has no column 'los'. Its columns are t, g, loss, wide. Did you mean 'loss'?"
    ),
    query(
      "CER_UNKNOWN_COLUMN.VIEW_COLUMN",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY h",
      90,
      "M has no column 'h'. Its columns are t, g, loss, wide."
    ),
    query(
      "CER_UNKNOWN_COLUMN.VIEW_COLUMN",
      "SELECT g, sum(a.loss) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY g",
      32,
      "M has no column 'a'. Its columns are t, g, loss, wide."
    ),
    query(
      "CER_UNKNOWN_COLUMN.VIEW_NOT_GROUPED",
      "SELECT g, loss, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY g",
      28,
      s"'loss' $NotGrouped"
    ),
    query(
      "CER_UNKNOWN_COLUMN.VIEW_NOT_GROUPED",
      "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g HAVING m > 1",
      86,
      s"'m' $NotGrouped"
    ),
    query(
      "CER_UNKNOWN_COLUMN.VIEW_NOT_GROUPED",
      "SELECT g, median(loss) AS n FROM M [WINDOW 5 minutes] GROUP BY g",
      35,
      s"'loss' $NotGrouped"
    ),
    query(
      "CER_UNKNOWN_STREAM.VIEW_SOURCE",
      "SELECT g, count(*) AS n FROM N PATTERN [a] WHERE a.loss > 1 GROUP BY g",
      47,
      "there is no table or view N."
    ),
    query(
      "CER_UNKNOWN_VARIABLE.VIEW_PATTERN",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE c.loss > 1 GROUP BY g",
      70,
      "'c.loss' is not a column of a variable. The variables of the pattern are a, b."
    ),
    query(
      "CER_UNKNOWN_VARIABLE.VIEW_WHICH_ROW",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE loss > 1 GROUP BY g",
      70,
      "'loss' does not say which row it is about. Write for example a.loss."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_ARGUMENTS",
      "SELECT g, max(loss, wide) AS n FROM M [WINDOW 5 minutes] GROUP BY g",
      28,
      "max takes one argument."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_AVERAGE",
      "SELECT g, avg(wide) AS m FROM M [WINDOW 5 minutes] GROUP BY g",
      28,
      "avg of DECIMAL(38,2) would lose digits. Cast its argument to DECIMAL(24,2) or smaller."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_CLAUSE",
      "SELECT g, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g ORDER BY g",
      79,
      "ORDER cannot be used in a view. Use it in the query that reads the view."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_DISTINCT_OR_FILTER",
      "SELECT g, count(DISTINCT loss) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY g",
      28,
      "count with DISTINCT or FILTER cannot be computed part by part. Prepare the rows in another view, and read that view."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_GROUP_BY",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > 1 GROUP BY upper(g)",
      90,
      "GROUP BY takes names of columns here. Compute the expression in another view, and read that view."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_MULTIPLE",
      "SELECT g, count(*) FROM M [WINDOW 90 seconds] GROUP BY g",
      52,
      "90 seconds is not a multiple of 1 minute, the length of a part of M."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_MULTIPLE",
      "SELECT g, count(*) FROM M [WINDOW 5 minutes SLIDE 90 seconds] GROUP BY g",
      68,
      "90 seconds is not a multiple of 1 minute, the length of a part of M."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_PLUS",
      "SELECT g, count(*) AS n FROM M PATTERN [a+, b] WHERE b.loss > a.loss GROUP BY g",
      80,
      "a+ can bind several rows, so a later variable cannot be compared with it. Compare it with a variable without +."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_STAR",
      "SELECT *, count(*) AS n FROM M [WINDOW 5 minutes] GROUP BY g",
      25,
      "* cannot be used here. Name the columns."
    ),
    query(
      "CER_UNSUPPORTED.VIEW_SUBQUERY",
      "SELECT g, count(*) AS n FROM M PATTERN [a, b] WHERE a.loss > (SELECT 1) GROUP BY g",
      70,
      "a subquery cannot be used here. Join its table in another view, and read that view."
    )
  )
}
