package sparkcer.internal.unit

import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkcer._
import sparkcer.engine.testkit.ErrorCase
import sparkcer.internal.bind.{Options, Types}

/** All other errors of a query that is bound to a batch of events, and of its tasks. */
final private[unit] class QueryErrors(spark: SparkSession) extends RefusedQueries(spark) {
  private def conditions = Vector(
    filter(
      "CER_SYNTAX.NAME_FOR_SQL",
      "x[price > 1 big]",
      "price",
      "Spark cannot read the condition 'price > 1 big': 'big' at its end would be a name for it."
    ),
    filter(
      "CER_SYNTAX.SQL",
      "x[price > > 1]",
      "price",
      "Spark cannot read the condition 'price > > 1': [PARSE_SYNTAX_ERROR] Syntax error at or near '>'."
    ),
    filter(
      "CER_TYPE_MISMATCH.COMPARED",
      "array(x.t) = y.price",
      "array",
      "Spark SQL cannot compare 'array(x.t)', which is ARRAY<BIGINT>, with 'y.price', which is DOUBLE."
    ),
    refused(
      "CER_TYPE_MISMATCH.COMPARED_AS",
      "SELECT * FROM S WHERE (A AS x ; B AS y) PART-BY [x.id, y.t]",
      "PART-BY",
      "PART-BY [x.id, y.t] would compare 'x.id', which is STRING, as BIGINT, " +
        "and that can make different values equal. Cast the columns to one type."
    )(events.cer(_, time = "t")),
    filter(
      "CER_TYPE_MISMATCH.COMPARISON",
      "sqrt(x.price, 2) = y.price",
      "sqrt",
      "Spark cannot use 'sqrt(x.price, 2)': [WRONG_NUM_ARGS.WITHOUT_SUGGESTION] " +
        "The `sqrt` requires 1 parameters but the actual number is 2. Please, refer to " +
        "'https://spark.apache.org/docs/latest/sql-ref-functions.html' for a fix."
    ),
    filter(
      "CER_TYPE_MISMATCH.CONDITION",
      "x[price > DATE '2026-01-02']",
      "price",
      "Spark cannot use the condition 'price > DATE '2026-01-02'': [DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot " +
        "resolve \"(price > DATE '2026-01-02')\" due to data type mismatch: the left and right operands of the binary " +
        "operator have incompatible types (\"DOUBLE\" and \"DATE\")."
    ),
    filter(
      "CER_TYPE_MISMATCH.NOT_BOOLEAN",
      "x[price + 1]",
      "price",
      "the condition 'price + 1' is DOUBLE, but it must be BOOLEAN."
    ),
    filter(
      "CER_UNKNOWN_COLUMN.COLUMN",
      "x[prize > 1]",
      "prize",
      s"'prize' is not a column. $columns Did you mean 'price'?"
    ),
    filter(
      "CER_UNSUPPORTED.COMPARED_EVENT",
      "y[x.t = t AND hash(*) = 1]",
      "x.t",
      "a comparison between events cannot use an event as a whole: 'x.t = t AND hash(*) = 1'. Name its columns."
    ),
    filter(
      "CER_UNSUPPORTED.COMPARISON",
      "x.t + rand() < y.t",
      "x.t",
      "a comparison between events cannot use a nondeterministic function: 'x.t + rand()'."
    ),
    filter(
      "CER_UNSUPPORTED.CONDITION",
      "x[rand() < 0.5]",
      "rand",
      "a condition cannot use a nondeterministic function: 'rand() < 0.5'."
    )
  )

  private val query = "SELECT * FROM S WHERE A"

  private def options = Vector(
    error(
      "CER_IDLE",
      "idle='soon' is not a length of time for the time column 't', which is BIGINT. " +
        "Write idle='7 days' if the column is a timestamp or a date, and a number if it is a number."
    )(events.cer(query, time = "t", idle = "soon")),
    error(
      "CER_NAME_COLLISION.OUTPUT",
      "Two columns of the output would be called 'start'. Give the variable another name with AS."
    )(events.cer("SELECT * FROM S WHERE A AS start", time = "t")),
    error(
      "CER_NO_TIME.CANDIDATES",
      "No time column is given, and the events have no watermark. " +
        "Name the column that has the time of the events, which can be time='t' or time='price'."
    )(events.cer(query)),
    error(
      "CER_NO_TIME.NO_CANDIDATE",
      "No time column is given, and the events have no watermark. " +
        "No column has a type that can be a time: a timestamp, a date or a number."
    )(events.select("type", "id").cer(query)),
    error(
      "CER_TYPE_MISMATCH.ORDER_COLUMN",
      "The order column 'id' is STRING, but it must be a timestamp, a date or a number."
    )(events.cer(query, time = "t", order = "id")),
    error(
      "CER_TYPE_MISMATCH.TIME_COLUMN",
      "The time column 'id' is STRING, but it must be a timestamp, a date or a number."
    )(events.cer(query, time = "id")),
    error("CER_TYPE_MISMATCH.TYPE_COLUMN", "The type column 't' is BIGINT, but it must be STRING.")(
      events.cer(query, time = "t", eventType = "t")
    ),
    refused(
      "CER_TYPE_MISMATCH.WINDOW_COLUMN",
      s"$query WITHIN 3 [id]",
      "id",
      "the column 'id' of WITHIN is STRING, but it must be a timestamp, a date or a number."
    )(events.cer(_, time = "t")),
    refused(
      "CER_TYPE_MISMATCH.WINDOW_OF_TIME",
      s"$query WITHIN 3 seconds",
      "WITHIN",
      "a window of time needs a timestamp or a date, but the time column 't' is BIGINT. Write WITHIN n [t]."
    )(events.cer(_, time = "t")),
    error("CER_UNKNOWN_COLUMN.OPTION", s"time='ts' is not a column. $columns")(events.cer(query, time = "ts")),
    refused(
      "CER_UNSUPPORTED.FIELD",
      s"$query WITHIN 3 [a.b]",
      "a.b",
      "WITHIN takes a column, not a field of a column: 'a.b'."
    )(events.cer(_, time = "t"))
  )

  private def fields = {
    val places = events.selectExpr("*", "named_struct('city', id, 'at', t) AS place")
    Vector(
      error(
        "CER_NAME_COLLISION.OUTPUT_KEY",
        "Two columns of the output would be called 'id'. " +
          "Give the column of PARTITION BY another name before the query, with withColumn."
      )(places.selectExpr("*", "struct(id) AS k").cer(s"$query PARTITION BY [id, k.id]", time = "t")),
      refused(
        "CER_TYPE_MISMATCH.NOT_A_STRUCT",
        s"$query PARTITION BY [place.city.name]",
        "place",
        "'city' is STRING and has no field 'name'. Only a struct has fields."
      )(places.cer(_, time = "t")),
      refused(
        "CER_UNKNOWN_COLUMN.FIELD",
        s"$query PARTITION BY [place.ctiy]",
        "place",
        "'place' has no field 'ctiy'. Its fields are city, at. Did you mean 'city'?"
      )(places.cer(_, time = "t"))
    )
  }

  private def parameters = {
    def run(params: (String, Any)*)(text: String) = events.cer(text, time = "t", params = params.toMap)
    val condition = s"$query FILTER A[price > :least]"
    Vector(
      refused(
        "CER_PARAMETER.MISSING",
        condition,
        ":least",
        "the parameter :least has no value. Give it one with params={\"least\": …}."
      )(run()),
      refused(
        "CER_PARAMETER.MISSING_AMONG",
        condition,
        ":least",
        "the parameter :least has no value. params has laest. Did you mean 'laest'?"
      )(run("laest" -> 1)),
      error(
        "CER_PARAMETER.NOT_A_LITERAL",
        "The value of the parameter :least is not a literal of Spark SQL: <iterator>."
      )(run("least" -> Seq(Some(1)).iterator)(condition)),
      refused(
        "CER_PARAMETER.LENGTH_WITH_UNIT",
        s"$query WITHIN :n minutes",
        "n minutes",
        "the parameter :n is a length of time, INTERVAL '0 00:05:00' DAY TO SECOND, which has its own unit. " +
          "Write WITHIN :n, without a unit."
      )(run("n" -> java.time.Duration.ofMinutes(5))),
      refused(
        "CER_PARAMETER.NOT_A_LENGTH",
        s"$query WITHIN :n",
        "n",
        "WITHIN :n takes a fixed length of time, such as a timedelta, an INTERVAL or '5 minutes', " +
          "but the parameter is 5, which is INT. A number needs a unit: WITHIN :n minutes."
      )(run("n" -> 5)),
      refused(
        "CER_PARAMETER.NULL_IN_LIST",
        s"$query FILTER A[id NOT IN (:ids)]",
        ":ids",
        "the list of the parameter :ids has a NULL, which is equal to no value: with it, NOT IN is never true. " +
          "Leave it out of the list, and use IS NULL or IS NOT NULL beside IN."
      )(run("ids" -> Seq("x", null))),
      refused(
        "CER_PARAMETER.NOT_A_NUMBER",
        s"$query LIMIT :n",
        "n",
        "LIMIT, WITHIN, {…} and count(x) take a number, but the parameter :n is 'ten', which is STRING."
      )(run("n" -> "ten")),
      error(
        "CER_PARAMETER.UNUSED",
        "params has 'most', but the query has no parameter :most. Its parameters are :least."
      )(run("least" -> 1, "most" -> 2)(condition)),
      error("CER_PARAMETER.UNUSED_ALL", "params has 'most', but the query has no parameters.")(run("most" -> 2)(query))
    )
  }

  private val both = "SELECT * FROM S, T WHERE S ; T"

  /** Of two inputs. */
  private def merged(s: DataFrame, t: DataFrame, eventType: TypeColumn = TypeColumn.Default)(query: String) =
    over(query, Map("S" -> s, "T" -> t), time = "t", eventType = eventType)

  private def inputs = Vector(
    refused(
      "CER_SEVERAL_STREAMS",
      both,
      "T WHERE",
      "FROM names several inputs, but the query is applied to one DataFrame. " +
        "Give each input its own: cer(query).over({\"S\": …, \"T\": …})."
    )(events.cer(_, time = "t")),
    error(
      "CER_TYPE_MISMATCH.INPUTS",
      "The column 't' is BIGINT in S and STRING in T. Cast one of them, or give it another name."
    )(merged(events, events.selectExpr("type", "string(t) AS t"))(both)),
    error("CER_TYPE_MISMATCH.INPUT_TYPE_COLUMN", "The type column 'price' of S is DOUBLE, but it must be STRING.")(
      merged(events, events, "price")(both)
    ),
    error("CER_UNKNOWN_COLUMN.INPUT", "The time column 't' is not a column of T. Its columns are type, id.")(
      merged(events, events.select("type", "id"))(both)
    ),
    error("CER_UNKNOWN_COLUMN.INPUT_TYPE", "type='kind' is not a column of S or T.")(
      merged(events, events, "kind")(both)
    ),
    refused("CER_UNKNOWN_STREAM.NOT_GIVEN", both, "T WHERE", "FROM names T, but over() has no DataFrame for it.")(
      over(_, Map("S" -> events), time = "t")
    ),
    refused("CER_UNKNOWN_STREAM.TWICE", "SELECT * FROM S, S WHERE S", "S WHERE", "FROM names S twice.")(
      over(_, Map("S" -> events), time = "t")
    )
  )

  private def types = {
    val numbers = events.select("t", "price")
    def only(input: String) =
      s"no event has the type 'A': $input has no type column, so the type of all its events is '$input'."
    val several =
      "no event has the type 'A': S, T have no type column, so the type of an event is the name of its input."
    val pair = "SELECT * FROM S, T WHERE S ; A"
    def read(rows: DataFrame)(query: String) = Types.mustOccur(rows, query, Options(time = Some("t")))
    val many = spark.range(30).selectExpr("id AS t", "concat('K', id + 10) AS type")
    val absent = "SELECT * FROM S WHERE SEL"
    Vector(
      refused("CER_UNKNOWN_TYPE.ABSENT", absent, "SEL", "no event has the type 'SEL'. The types that occur are A.")(
        read(events)
      ),
      refused(
        "CER_UNKNOWN_TYPE.ABSENT_AMONG_MANY",
        absent,
        "SEL",
        s"no event has the type 'SEL'. Types that occur are ${(10 until 30).map(i => s"K$i").mkString(", ")} and others."
      )(read(many)),
      refused("CER_UNKNOWN_TYPE.ABSENT_AS_ALL", absent, "SEL", "no event has the type 'SEL'. No event has a type.")(
        read(events.where("false"))
      ),
      refused(
        "CER_UNKNOWN_TYPE.INPUT",
        query,
        "A",
        s"${only("S")} Name the type column, which can be type='type' or type='id', or write S in the pattern."
      )(events.cer(_, time = "t", eventType = null)),
      refused(
        "CER_UNKNOWN_TYPE.INPUTS",
        pair,
        "A",
        s"$several Name the type column, which can be type='type' or type='id', or write S or T in the pattern."
      )(merged(events, events, null)),
      refused(
        "CER_UNKNOWN_TYPE.INPUTS_WITHOUT_STRING",
        pair,
        "A",
        s"$several Write S or T in the pattern; no column is a STRING and can be the type column."
      )(merged(numbers, numbers, null)),
      refused(
        "CER_UNKNOWN_TYPE.INPUT_WITHOUT_STRING",
        query,
        "A",
        s"${only("S")} Write S in the pattern; no column is a STRING and can be the type column."
      )(numbers.cer(_, time = "t"))
    )
  }

  private def sql = {
    def call(arguments: String) = spark.sql(s"SELECT * FROM cer($arguments)")
    def params(value: String) = call(s"TABLE(error_events), '$query', time => 't', params => $value")
    val usage = "Write SELECT * FROM cer(TABLE(events), 'SELECT * FROM S WHERE A ; B WITHIN 1 minute', time => 'ts')."
    def unfit(key: String, value: String, problem: String) = error(
      s"CER_SQL.$key",
      s"params is a struct or a map with string keys, such as named_struct('least', 20) or map('least', 20), but $problem."
    )(params(value))
    events.createOrReplaceTempView("error_events")
    Vector(
      error("CER_SQL.VALUE", "late is 'count' or 'rows', not 'no'.")(
        call(s"TABLE(error_events), '$query', time => 't', late => 'no'")
      ),
      error("CER_SQL.NOT_A_STRING", s"time must be a string. $usage")(
        call(s"TABLE(error_events), '$query', time => 3")
      ),
      unfit("PARAMS_KEYS", "map(1, 20)", "its keys are INT"),
      unfit("PARAMS_NOT_CONSTANT", "map('a', rand())", "'map('a', rand())' has no value before the query runs"),
      unfit("PARAMS_NULL", "CAST(NULL AS MAP<STRING, INT>)", "this is NULL"),
      error("CER_SQL.PARAMS_TWICE", "params has 'a' more than once.")(params("named_struct('a', 1, 'a', 2)")),
      unfit("PARAMS_TYPE", "20", "this is INT"),
      error("CER_SQL.PARAMS_VALUE", "params has no value: [NULL_MAP_KEY] Cannot use null as map key.")(
        params("map(CAST(NULL AS STRING), 20)")
      ),
      error(
        "CER_SQL.UNKNOWN_OPTION",
        "'tiem' is not an option. The options are idle, late, order, params, snapshots, time, type, until."
      )(call(s"TABLE(error_events), '$query', tiem => 't'")),
      error("CER_SQL.USAGE", s"cer takes a table and a query. $usage")(call(s"'$query'"))
    )
  }

  private def tasks = {
    val many = spark.sql("SELECT id AS t, IF(id = 70, 'B', 'A') AS type, 0 - id AS falling FROM range(71)")
    Vector(
      error(
        "CER_COUNT_OVERFLOW",
        "The event at 70 closes more than 9223372036854775806 matches. " +
          "Use a shorter WITHIN, or SELECT NEXT, LAST or MAX."
      )(many.cer("SELECT COUNT(*) FROM S WHERE A+ ; B", time = "t").collect()),
      error(
        "CER_TOO_MANY_MATCHES",
        "The event at 70 closes more than 100 matches. " +
          "Use LIMIT, a shorter WITHIN, SELECT NEXT, LAST or COUNT(*), or raise spark.cer.maxMatchesPerEvent."
      ) {
        spark.conf.set("spark.cer.maxMatchesPerEvent", "100")
        try many.cer("SELECT * FROM S WHERE A+ ; B", time = "t").collect()
        finally spark.conf.unset("spark.cer.maxMatchesPerEvent")
      },
      error(
        "CER_WINDOW_DECREASES",
        "The column of WITHIN must not decrease along the stream, but it is 0 in an event at 0, and -1 in a later event " +
          "at 1. Order the events by that column (time=...), or limit the window by the time column."
      )(many.cer("SELECT * FROM S WHERE A ; B WITHIN 5 [falling]", time = "t").collect())
    )
  }

  def cases: Vector[ErrorCase] =
    conditions ++ options ++ fields ++ parameters ++ inputs ++ types ++ sql ++ tasks
}
