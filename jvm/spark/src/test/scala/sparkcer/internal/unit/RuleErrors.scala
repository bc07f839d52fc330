package sparkcer.internal.unit

import java.nio.file.Files
import java.sql.Timestamp

import org.apache.logging.log4j.Level

import org.apache.spark.sql.{DataFrame, SQLContext, SparkSession}
import org.apache.spark.sql.cerbridge.Listeners
import org.apache.spark.sql.streaming.Trigger

import sparkcer._
import sparkcer.engine.ceql.Parser
import sparkcer.engine.testkit.ErrorCase
import sparkcer.internal.bind.{Binding, Options}
import sparkcer.internal.rules.{BoundRules, Rule, RuleExplanation, RuleInputs, RuleTable}
import sparkcer.internal.testkit.Logged
import sparkcer.internal.testkit.Memory.MemoryStream

/** All errors and warnings of sets of rules. */
final private[unit] class RuleErrors(spark: SparkSession) extends RefusedQueries(spark) {
  import spark.implicits._

  private val right = "SELECT * FROM S WHERE A"
  private val wrong = "SELECT * FROM S WHERE A FILTER A[prize > 1]"
  private val listed = "Rule 'b': [CER_UNKNOWN_COLUMN] Line 1, column 34: 'prize' is not a column. " +
    s"$columns Did you mean 'price'?\n$wrong\n${" " * 33}^"

  private def fit(query: String) = BoundRules.mustFit(Binding.of(events, query, Options(time = Some("t"))))

  private def several(query: String)(inputs: (String, DataFrame)*) = {
    val options = Options(time = Some("t"))
    RuleInputs(inputs, options).of(Parser.parse(query))
  }

  def cases: Vector[ErrorCase] = Vector(
    error(
      "CER_RULES.CONSUME_ANY",
      "CONSUME BY ANY puts the events of all keys in one order, which rules of a set do not have. " +
        "Use CONSUME BY PARTITION, or run the query by itself."
    )(fit(s"$right CONSUME BY ANY")),
    error(
      "CER_RULES.OTHER_WINDOW",
      "WITHIN is about 'price', but in a set of rules it must be about the time column, which is 't'. " +
        "Run the query by itself, or write WITHIN with the time column or EVENTS."
    )(fit(s"$right WITHIN 5 [price]")),
    error(
      "CER_RULES.INVALID",
      s"1 of 2 rules are wrong; invalid='skip' leaves them out and runs the others.\n\n$listed"
    )(
      events.cerRules(Map("a" -> right, "b" -> wrong), time = "t")
    ),
    refused(
      "CER_RULES.INPUT_ORDER",
      "SELECT * FROM Sells, Buys WHERE Sells ; Buys",
      "Sells, Buys",
      "Events of the same time are in the order of FROM, and in a set of rules in the order of its inputs. " +
        "Write FROM Buys, Sells, or give the inputs in another order."
    )(several(_)("Buys" -> events, "Sells" -> events)),
    error(
      "CER_RULES.INPUT_TYPES",
      "There is a column 'type' in Sells, Others and none in Buys, so events of Buys would have another value there than " +
        "in the query by itself. Rename the column, or add it to Buys."
    )(
      several("SELECT * FROM Buys, Sells WHERE Buys ; Sells")(
        "Buys" -> events.drop("type"),
        "Sells" -> events,
        "Others" -> events
      )
    ),
    refused(
      "CER_UNKNOWN_STREAM.NOT_AN_INPUT",
      "SELECT * FROM Buyz WHERE A",
      "Buyz",
      "FROM names Buyz, which is not one of the inputs Buys, Sells. Did you mean 'Buys'?"
    )(several(_)("Buys" -> events, "Sells" -> events)),
    error("CER_RULES.NONE", "There are no rules to run.")(events.cerRules(Map.empty, time = "t")),
    error(
      "CER_RULES.TIMES",
      "All rules of a set have the same time column, but one is about 't' and another about 'price'. " +
        "Name the column: time='t'."
    )(events.cerRules(Map("a" -> s"$right WITHIN 1 [t]", "b" -> s"$right WITHIN 1 [price]"))),
    error(
      "CER_RULES.NOW",
      "A rule of a set cannot ask for the current time: the conditions of a set are evaluated with the time at which " +
        "the set started. Give each event a column with the time to compare with, or run the query by itself."
    ) {
      val b = Binding.of(events, s"$right FILTER A[current_date() > DATE'2026-01-01']", Options(time = Some("t")))
      BoundRules.mustNotAskForNow(b, BoundRules.resolvedAlone(b))
    },
    error(
      "CER_RULES.WRONG",
      "1 of 2 rules are wrong.\n\nRule 'b': [CER_SYNTAX] Line 1, column 8: expected *, NONE, COUNT(*), a strategy " +
        "(ALL, ANY, NEXT, LAST, MAX, STRICT) or a variable, found the end of the query.\nSELECT \n       ^"
    )(RuleExplanation.of(Vector(Rule("a", right), Rule("b", "SELECT ")))),
    error(
      "CER_RULES.FAILED",
      "Rule 'b' fails: [CER_TOO_MANY_MATCHES] The event at 70 closes more than 100 matches. " +
        "Use LIMIT, a shorter WITHIN, SELECT NEXT, LAST or COUNT(*), or raise spark.cer.maxMatchesPerEvent."
    ) {
      val many = spark.sql("SELECT id AS t, IF(id = 70, 'B', 'A') AS type FROM range(71)")
      spark.conf.set("spark.cer.maxMatchesPerEvent", "100")
      try many.cerRules(Map("a" -> right, "b" -> "SELECT * FROM S WHERE A+ ; B LIMIT 200"), time = "t").collect()
      finally spark.conf.unset("spark.cer.maxMatchesPerEvent")
    },
    error("CER_RULES.COLUMN_TYPE", "The column 'rule_id' of a table of rules is INT, and must be STRING.")(
      RuleTable(Seq((1, right)).toDF("rule_id", "query"))
    ),
    error("CER_RULES.TWICE", "Two rules have the name 'a'. Each rule needs a name of its own.")(
      CerRules(events, Seq(Rule("a", right), Rule("a", wrong)), Options(time = Some("t")), skipInvalid = false)
    ),
    error(
      "CER_RULES.TABLE",
      "A table of rules has the columns rule_id and query, but 'rule_id' is not among id, query."
    )(
      RuleTable(Seq(("a", right)).toDF("id", "query"))
    ),
    error("CER_RULES.ROW", "Each row of a table of rules needs a rule_id and a query: [a,null].")(
      RuleTable(Seq(("a", null: String)).toDF("rule_id", "query"))
    ),
    error(
      "CER_SQL.RULES_USAGE",
      "Usage: cer_rules(TABLE(events), TABLE(rules), time => 'ts'). The table of rules has the columns rule_id and query."
    ) {
      events.createOrReplaceTempView("rule_events")
      spark.sql("SELECT * FROM cer_rules(TABLE(rule_events), 'SELECT')")
    }
  )

  /** A stream of one event after the other, with other rules for each. */
  private def restarted(queries: String*): Unit = {
    implicit val context: SQLContext = spark.sqlContext
    val input = MemoryStream[(String, Timestamp)]
    val checkpoint = Files.createTempDirectory("cer").toString
    queries.zipWithIndex.foreach { case (query, i) =>
      val stream = input.toDF().toDF("type", "ts").withWatermark("ts", "0 seconds")
      val running = stream.cerRules(Map("a" -> query)).writeStream.format("noop")
      input.addData(("A", new Timestamp(1700000000000L + i)))
      val one = running.option("checkpointLocation", checkpoint).trigger(Trigger.AvailableNow()).start()
      one.awaitTermination()
    }
  }

  /** A stream with two rules, started again on its checkpoint with one of them. */
  private def withOtherRules(): Unit = {
    val folder = Files.createTempDirectory("cer")
    Seq(Seq("a", "b"), Seq("a")).foreach { ids =>
      Seq(("A", 1, "x")).toDF("type", "t", "k").write.mode("append").parquet(s"$folder/in")
      val stream = spark.readStream.schema("type STRING, t INT, k STRING").parquet(s"$folder/in")
      val rules = ids.map(id => id -> s"SELECT * FROM S WHERE A ; ${id.toUpperCase} PARTITION BY [k]").toMap
      val running = stream.cerRules(rules, time = "t").select("rule_id").writeStream
      running.option("checkpointLocation", s"$folder/checkpoint").trigger(Trigger.AvailableNow())
      running.format("noop").start().awaitTermination()
    }
  }

  def warnings: Vector[(String, String, () => Vector[String])] = Vector(
    (
      "CER_RULES.BEGIN_ANEW",
      "[CER_RULES] The saved state of these rules is dropped, and they begin anew: a. Their query, its parameters, or the " +
        "columns of the events are not as before, or this version of spark-cer compiles them in another way.",
      () =>
        Logged.during("sparkcer") {
          restarted("SELECT * FROM S WHERE (A ; B) WITHIN 1 hour", "SELECT * FROM S WHERE (A ; C) WITHIN 1 hour")
          Listeners.waitForAll(spark)
        }
    ),
    (
      "CER_RULES.SKIPPED",
      s"[CER_RULES] 1 of 2 rules are wrong and are left out.\n\n$listed",
      () =>
        Logged
          .during("sparkcer")(
            events.cerRules(Map("a" -> right, "b" -> wrong), time = "t", skipInvalid = true).collect(): Unit
          )
    ),
    (
      "CER_RULES.STATE_DROPPED",
      "[CER_RULES] The saved state of rules that the set does not have any more is dropped: b.",
      () =>
        Logged.during("sparkcer", Some(Level.INFO)) {
          withOtherRules()
          Listeners.waitForAll(spark)
        }
    ),
    (
      "CER_UNBOUNDED_STATE.RULES",
      "[CER_UNBOUNDED_STATE] The state of this stream can grow without bound, because there is no WITHIN. " +
        "idle='7 days' drops keys without events for that long. Rules: a, c.",
      () =>
        Logged
          .during("sparkcer") {
            val stream = spark.readStream.format("rate").load().selectExpr("'A' AS type", "timestamp AS ts")
            val bounded = s"$right WITHIN 1 hour"
            stream.withWatermark("ts", "1 hour").cerRules(Map("a" -> right, "b" -> bounded, "c" -> right)): Unit
          }
    )
  )
}
