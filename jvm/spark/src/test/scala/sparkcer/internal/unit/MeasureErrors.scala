package sparkcer.internal.unit

import org.apache.spark.sql.SparkSession

import sparkcer._
import sparkcer.engine.testkit.ErrorCase

/** The errors of measures and HAVING. */
final private[unit] class MeasureErrors(spark: SparkSession) extends RefusedQueries(spark) {
  private val nested = events.selectExpr("type", "t", "named_struct('t', t) AS s")

  private def select(key: String, list: String, place: String, problem: String, clauses: String = ""): ErrorCase =
    refused(key, s"SELECT $list FROM S WHERE (A AS x ; B+ AS more) PARTITION BY [id]$clauses", place, problem)(
      events.cer(_, time = "t")
    )

  private def having(key: String, condition: String, place: String, problem: String): ErrorCase =
    select(key, "x, sum(more.price) AS total", place, problem, s" HAVING $condition")

  def cases: Vector[ErrorCase] = Vector(
    refused(
      "CER_NAME_COLLISION.FIELDS",
      "SELECT A[s.t, t] FROM S WHERE A",
      "s.t",
      "two columns in these brackets would be called 't'. Leave one of them out."
    )(nested.cer(_, time = "t")),
    select(
      "CER_NAME_COLLISION.MEASURE",
      "x, count(more) AS `X`",
      "`X`",
      "the output has another column 'X'. Give this one another name with AS."
    ),
    select(
      "CER_SYNTAX.AGGREGATE_ARGUMENT",
      "sum(more) AS s",
      "sum",
      "sum takes one column or expression, such as sum(A.t), but this is 'sum(more)'."
    ),
    select(
      "CER_SYNTAX.AGGREGATE_WITHOUT_VARIABLE",
      "x, 1 + count(*) AS n",
      "count",
      "'1 + count(*)' names no variable. An aggregate is over the events of one variable, such as count(A)."
    ),
    having("CER_TYPE_MISMATCH.HAVING", "total + 1", "total", "HAVING needs a condition, but 'total + 1' is DOUBLE."),
    select(
      "CER_TYPE_MISMATCH.MEASURE",
      "sum(more.type) + DATE '2026-01-02' AS s",
      "sum",
      "Spark cannot use 'sum(more.type) + DATE '2026-01-02'': [DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] Cannot resolve " +
        "\"date_add(DATE '2026-01-02', sum(more.type))\" due to data type mismatch: The second parameter requires the " +
        "(\"INT\" or \"SMALLINT\" or \"TINYINT\") type, however \"sum(more.type)\" has the type \"DOUBLE\"."
    ),
    having(
      "CER_UNKNOWN_COLUMN.HAVING",
      "totl > 1",
      "totl",
      "'totl' is not known here. HAVING can use columns of variables, such as x.t, and start, end, id, total. " +
        "Did you mean 'total'?"
    ),
    select(
      "CER_UNKNOWN_COLUMN.MEASURE",
      "x, prize * 2 AS p",
      "prize",
      "'prize' is not known here. A measure can use columns of variables, such as x.price, and start, end, id."
    ),
    select(
      "CER_UNKNOWN_VARIABLE.MEASURE",
      "x, mroe.price AS p",
      "mroe",
      "'mroe' is not a variable of the pattern. Its variables are A, B, more, x. Did you mean 'more'?"
    ),
    select(
      "CER_UNSUPPORTED.AGGREGATE_OF_MATCH",
      "x, stddev(x.price) AS p",
      "stddev",
      "'stddev(x.price)' cannot be used: the aggregates are count, sum, avg, min, max, first, last and collect."
    ),
    select(
      "CER_UNSUPPORTED.AGGREGATE_FORM",
      "x, sum(DISTINCT more.price) AS p",
      "sum",
      "'sum(DISTINCT more.price)': an aggregate over the events of a match cannot have DISTINCT in sum."
    ),
    filter(
      "CER_UNSUPPORTED.AGGREGATE_IN_CONDITION",
      "x[price > avg(price)]",
      "price >",
      "a condition is about one event and cannot use an aggregate: 'price > avg(price)'. " +
        "A condition on all events of a match goes in HAVING, such as HAVING sum(x.price) > 100."
    ),
    select(
      "CER_UNSUPPORTED.AGGREGATE_NESTED",
      "x, sum(max(more.price)) AS p",
      "sum",
      "'sum(max(more.price))' has an aggregate inside an aggregate."
    ),
    select(
      "CER_UNSUPPORTED.AGGREGATE_VARIABLES",
      "sum(more.price - x.price) AS p",
      "sum",
      "'sum(more.price - x.price)' names more and x. An aggregate is over the events of one variable."
    ),
    refused(
      "CER_UNSUPPORTED.COUNT_HAVING",
      "SELECT COUNT(*) FROM S WHERE A AS x HAVING x.price > 1",
      "x.price",
      "COUNT(*) lists no events, so HAVING cannot use 'x'. It can use end, matches."
    )(events.cer(_, time = "t")),
    select(
      "CER_UNSUPPORTED.LAMBDA_NAME",
      "transform(collect(more.price), x -> x + 1) AS p",
      "x -> x",
      "'x' is a variable of the pattern and an argument of a lambda function. Give the argument another name."
    ),
    select(
      "CER_UNSUPPORTED.MEASURE",
      "x.price * rand() AS p",
      "x.price",
      "a measure and HAVING cannot use a nondeterministic function: 'x.price * rand()'."
    ),
    select(
      "CER_UNSUPPORTED.SEVERAL_EVENTS",
      "x, more.price + 1 AS p",
      "more.price",
      "'more' can have several events, so 'more.price' needs an aggregate, such as first(more.price)."
    ),
    select(
      "CER_UNSUPPORTED.WHOLE_EVENT",
      "x IS NULL AS p",
      "x IS",
      "'x' is an event, not a value. Name one of its columns, such as x.price."
    )
  )
}
