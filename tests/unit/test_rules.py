"""Sets of rules: many queries in one pass."""

from __future__ import annotations

import datetime
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import spark_cer
from spark_cer import bound, cer, cer_rules
from tests.connect_server import only_classic

ROOT = Path(__file__).parents[2]

PAYMENTS = [
    ("auth", 0, "c1", 1.0),
    ("auth", 1, "c1", 900.0),
    ("login", 2, "c2", 0.0),
    ("auth", 3, "c2", 1.5),
    ("auth", 5, "c2", 600.0),
    ("auth", 6, "c3", 20.0),
]
RULES = {
    "probing": """
        SELECT probe, big.amount AS taken FROM Tx WHERE (auth AS probe ; auth AS big)
        FILTER probe[amount < 2] AND big[amount > 500] PARTITION BY [card] WITHIN 10 [t]""",
    "takeover": "SELECT * FROM Tx WHERE (login ; auth AS big) FILTER big[amount > 500] PARTITION BY [card] WITHIN 10 [t]",
    "many": "SELECT COUNT(*) FROM Tx WHERE auth+ WITHIN 4 [t] HAVING matches > 2",
}


@pytest.fixture
def payments(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(PAYMENTS, "type STRING, t INT, card STRING, amount DOUBLE")


def test_each_match_of_each_rule(payments: DataFrame) -> None:
    alerts = payments.transform(cer_rules(RULES, time="t"))
    found = alerts.selectExpr(
        "rule_id", "key['card']", "start", "end", "variant_get(measures, '$.taken', 'double') AS taken", "matches"
    )
    assert sorted(map(tuple, found.collect())) == [
        ("many", None, None, 3, None, 4),
        ("many", None, None, 5, None, 4),
        ("many", None, None, 6, None, 4),
        ("probing", "c1", 0, 1, 900.0, None),
        ("probing", "c2", 3, 5, 600.0, None),
        ("takeover", "c2", 2, 5, None, None),
    ]
    probes = alerts.where("rule_id = 'probing'").select(bound(alerts, "probe").alias("probes")).collect()
    assert sorted(event.amount for row in probes for event in row.probes) == [1.0, 1.5]


def test_the_same_matches_as_alone(payments: DataFrame) -> None:
    alerts = payments.transform(cer_rules(RULES, time="t"))
    for name in ("probing", "takeover"):
        alone = {row.match_id for row in payments.transform(cer(RULES[name], time="t")).collect()}
        assert {row.match_id for row in alerts.where(alerts.rule_id == name).collect()} == alone
        assert alone


def test_parameters_and_tables(spark: SparkSession, payments: DataFrame) -> None:
    big = "SELECT a FROM Tx WHERE auth AS a FILTER a[amount > :least] WITHIN :size [t]"
    found = payments.transform(cer_rules({"big": cer(big, params={"least": 500, "size": 3})}, time="t"))
    assert found.count() == 2
    table = spark.createDataFrame(
        [("big", big, {"least": "500", "size": "3"}, True), ("off", "not a query", None, False)],
        "rule_id STRING, query STRING, params MAP<STRING, STRING>, enabled BOOLEAN",
    )
    assert payments.transform(cer_rules(table, time="t")).count() == 2
    payments.createOrReplaceTempView("payments")
    table.createOrReplaceTempView("rules")
    sql = "SELECT * FROM cer_rules(TABLE(payments), TABLE(rules), time => 't')"
    assert spark.sql(sql).count() == 2


def test_a_rule_that_is_wrong_names_itself(payments: DataFrame) -> None:
    rules = {**RULES, "typo": "SELECT * FROM Tx WHERE auth AS a FILTER a[amuont > 1]"}
    with pytest.raises(AnalysisException) as refused:
        payments.transform(cer_rules(rules, time="t"))
    text = str(refused.value)
    assert text.startswith("[CER_RULES] 1 of 4 rules are wrong; invalid='skip' leaves them out and runs the others.")
    assert "Rule 'typo': [CER_UNKNOWN_COLUMN] Line 1, column 43: 'amuont' is not a column." in text
    assert payments.transform(cer_rules(rules, time="t", invalid="skip")).count() == 6


def test_a_table_that_is_wrong(spark: SparkSession, payments: DataFrame) -> None:
    """The words are those of Scala and SQL."""
    text = (ROOT / "jvm/engine/src/main/resources/sparkcer/error-conditions.json").read_text(encoding="utf-8")
    messages = {key: of["message"][0] for key, of in json.loads(text)["CER_RULES"]["subClass"].items()}
    one = "SELECT * FROM Tx WHERE auth"
    for table, message in (
        (
            spark.createDataFrame([("a", one)], "name STRING, query STRING"),
            messages["TABLE"].replace("<column>", "rule_id").replace("<columns>", "name, query"),
        ),
        (
            spark.createDataFrame([("a", None)], "rule_id STRING, query STRING"),
            messages["ROW"].replace("<row>", "[a,null]"),
        ),
        (
            spark.createDataFrame([("a", one), ("a", one)], "rule_id STRING, query STRING"),
            messages["TWICE"].replace("<rule>", "a"),
        ),
    ):
        with pytest.raises(PySparkValueError) as refused:
            payments.transform(cer_rules(table, time="t"))
        assert refused.value.getCondition() == "CER_RULES"
        assert str(refused.value) == f"[CER_RULES] {message}"


def test_arguments() -> None:
    with pytest.raises(PySparkTypeError, match="takes a dict of names and queries, or a DataFrame, not list"):
        cer_rules(["SELECT"])  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match='"fail" or "skip" as invalid'):
        cer_rules({}, invalid="no")
    with pytest.raises(PySparkTypeError, match="The rule a is a int"):
        cer_rules({"a": 1})  # type: ignore[dict-item]
    with pytest.raises(PySparkValueError, match="has options of its own"):
        cer_rules({"a": cer("SELECT", time="t")})


def test_a_stream_whose_rules_change(spark: SparkSession, tmp_path: Path) -> None:
    source, out = str(tmp_path / "in"), str(tmp_path / "out")
    start = datetime.datetime(2026, 3, 2, 12)
    pair = "SELECT * FROM S WHERE (A AS a ; B AS b) PARTITION BY [k] WITHIN 30 minutes"

    def write(*events: tuple[str, int, str]) -> None:
        rows = [(kind, start + datetime.timedelta(minutes=minute), k) for kind, minute, k in events]
        spark.createDataFrame(rows, "type STRING, ts TIMESTAMP, k STRING").write.mode("append").parquet(source)

    def run(rules: dict[str, str]) -> list[tuple[str, str]]:
        events = spark.readStream.schema("type STRING, ts TIMESTAMP, k STRING").parquet(source)
        alerts = events.withWatermark("ts", "1 minute").transform(cer_rules(rules))
        running = alerts.selectExpr("rule_id", "key['k'] AS k").writeStream
        running = running.option("checkpointLocation", str(tmp_path / "checkpoint"))
        running.trigger(availableNow=True).start(out).awaitTermination()
        found = spark.read.schema("rule_id STRING, k STRING").parquet(out)
        return sorted((row.rule_id, row.k) for row in found.collect())

    write(("A", 0, "x"), ("A", 1, "y"), ("C", 2, "x"))
    assert run({"pair": pair, "gone": pair.replace("B AS b", "C AS b")}) == []
    # Both rules have read an A. One stays, the other goes, and a new one has not seen it.
    write(("B", 5, "x"), ("C", 6, "y"), ("Z", 60, "z"))
    assert run({"new": pair.replace("A AS a", "A AS first"), "pair": pair}) == [("pair", "x")]


def test_explain(spark: SparkSession) -> None:
    text = cer_rules(RULES).plan
    assert "3 rules, 4 different conditions, 1 of them in several rules" in text
    assert "without PARTITION BY, on one task: many" in text
    assert "by card: probing, takeover" in text
    with pytest.raises(AnalysisException, match=r"1 of 2 rules are wrong\.\n\nRule 'wrong': \[CER_SYNTAX\] Line 1"):
        cer_rules({"right": RULES["many"], "wrong": "SELECT"}).explain()


def test_tables_that_are_wrong(spark: SparkSession, payments: DataFrame) -> None:
    rule = "SELECT * FROM Tx WHERE auth"

    def refused(error: type[Exception], text: str, rows: list[tuple[Any, ...]], schema: str) -> None:
        with pytest.raises(error, match=re.escape(text)):
            payments.transform(cer_rules(spark.createDataFrame(rows, schema), time="t"))

    ids = "rule_id STRING, query STRING"
    refused(
        PySparkValueError,
        "rule_id and query, but 'rule_id' is not among id, query.",
        [("a", rule)],
        "id STRING, query STRING",
    )
    refused(PySparkValueError, "needs a rule_id and a query: [a,null].", [("a", None)], ids)
    refused(PySparkValueError, "needs a rule_id and a query: [1,", [(1, rule)], "rule_id INT, query STRING")
    refused(PySparkValueError, "Two rules have the name 'a'.", [("a", rule), ("a", rule)], ids)
    enabled = "'enabled' of a table of rules must be BOOLEAN: Row("
    refused(PySparkTypeError, enabled, [("a", rule, "false")], f"{ids}, enabled STRING")
    params = "'params' of a table of rules must be MAP<STRING, STRING>: Row("
    refused(PySparkTypeError, params, [("a", rule, "x=1")], f"{ids}, params STRING")
    refused(AnalysisException, "[CER_RULES] There are no rules to run.", [], ids)
    refused(
        AnalysisException, "[CER_RULES] There are no rules to run.", [("a", rule, False)], f"{ids}, enabled BOOLEAN"
    )


def test_tables_that_are_wrong_in_sql(spark: SparkSession, payments: DataFrame) -> None:
    payments.createOrReplaceTempView("payments")

    def found(rules: str, options: str = "") -> DataFrame:
        return spark.sql(f"SELECT * FROM cer_rules(TABLE(payments), TABLE({rules}), time => 't'{options})")

    rule = "'SELECT * FROM Tx WHERE auth' AS query"
    for columns, text in (
        (f"1 AS rule_id, {rule}", "The column 'rule_id' of a table of rules is INT, and must be STRING."),
        (
            f"'a' AS rule_id, {rule}, 'no' AS enabled",
            "The column 'enabled' of a table of rules is STRING, and must be BOOLEAN.",
        ),
        (f"'a' AS id, {rule}", "'rule_id' is not among id, query."),
        (f"'a' AS rule_id, {rule} WHERE 1 = 0", "There are no rules to run."),
    ):
        with pytest.raises(AnalysisException, match=re.escape(text)):
            found(f"SELECT {columns}").collect()
    both = f"SELECT 'a' AS rule_id, {rule} UNION ALL SELECT 'b', 'SELECT'"
    assert found(both, ", invalid => 'skip'").count() == 5


def watched(
    spark: SparkSession, folder: Path, table: Any
) -> tuple[
    list[list[str]], Callable[..., None], Callable[[], list[tuple[str, int]]], Callable[[DataFrame], StreamingQuery]
]:
    """What a test of a watched table needs: the rules of each start, a function that writes events, one that reads the
    matches, and the one that starts the stream."""
    source = str(folder / "in")
    starts: list[list[str]] = []

    def write(*events: tuple[str, int]) -> None:
        spark.createDataFrame(list(events), "type STRING, t INT").write.mode("append").parquet(source)

    def build(now: DataFrame) -> StreamingQuery:
        starts.append(sorted(row.rule_id for row in now.collect()))
        events = spark.readStream.schema("type STRING, t INT").parquet(source)
        alerts = events.transform(cer_rules(now, time="t")).select("rule_id", "end")
        writer = alerts.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        return writer.start(str(folder / "out"))

    def found() -> list[tuple[str, int]]:
        if not (folder / "out" / "_spark_metadata").exists():
            return []
        alerts = spark.read.schema("rule_id STRING, end INT").parquet(str(folder / "out"))
        return sorted((row.rule_id, row.end) for row in alerts.collect())

    return starts, write, found, build


@contextmanager
def running(
    build: Callable[[DataFrame], StreamingQuery], table: Any, poll: str | float
) -> Iterator[Callable[..., None]]:
    """Watches a table, and yields a function that waits until something is so."""
    over = threading.Event()
    errors: list[BaseException] = []

    def watch() -> None:
        try:
            spark_cer.rules.run(build, table, poll=poll, until=over)
        except BaseException as error:
            errors.append(error)

    def eventually(is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + 60
        while not is_so():
            assert not errors, errors
            assert time.monotonic() < until
            time.sleep(0.2)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield eventually
    finally:
        over.set()
        watching.join()
    assert not errors


ONE = "SELECT a FROM S WHERE A AS a"


@only_classic
def test_a_table_that_is_watched(spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The stream is started again when the table changes, and goes on with the old rules if the new ones are wrong."""
    table: list[tuple[str, str | None]] = [("a", ONE)]
    gone = False

    def rules() -> DataFrame:
        if gone:
            spark.read.parquet(str(tmp_path / "nowhere"))
        return spark.createDataFrame(table, "rule_id STRING, query STRING")

    starts, write, found, build = watched(spark, tmp_path, rules)
    write(("A", 1))
    with running(build, rules, "200 ms") as eventually:
        eventually(lambda: found() == [("a", 1)])
        table = [*table, ("b", ONE)]
        eventually(lambda: len(starts) == 2)
        write(("A", 2))
        eventually(lambda: found() == [("a", 1), ("a", 2), ("b", 2)])
        good = table
        table = [*good, ("c", "SELECT nothing")]
        eventually(lambda: len(starts) == 4)
        assert "Rule 'c': [CER_SYNTAX]" in caplog.text
        # Rows that are wrong do not stop the stream, and nor does a table that cannot be read.
        table = [*good, ("a", ONE)]
        eventually(lambda: "Two rules have the name 'a'" in caplog.text)
        table = [*good, ("d", None)]
        eventually(lambda: "needs a rule_id and a query: [d,null]" in caplog.text)
        gone = True
        eventually(lambda: "The table of rules cannot be read, and the stream goes on" in caplog.text)
        table, gone = good, False
        write(("A", 3))
        eventually(lambda: found() == [("a", 1), ("a", 2), ("a", 3), ("b", 2), ("b", 3)])
        assert len(starts) == 4
        # A rule that fails when it reads an event.
        table = [*good, ("e", f"{ONE} FILTER a[1 / (t - t) > 0]")]
        eventually(lambda: len(starts) == 5)
        write(("A", 4))
        eventually(lambda: "The stream fails with the changed rules, and the old ones go on." in caplog.text)
        assert "Rule 'e' fails: [DIVIDE_BY_ZERO]" in caplog.text
        eventually(lambda: found()[-1] == ("b", 4))
    assert found() == [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 2), ("b", 3), ("b", 4)]
    assert starts == [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b"], ["a", "b", "e"], ["a", "b"]]


@only_classic
@pytest.mark.parametrize("how", ["name", "files"])
def test_a_table_that_is_watched_by_its_name_or_its_files(spark: SparkSession, tmp_path: Path, how: str) -> None:
    files = str(tmp_path / "rules")
    spark.createDataFrame([("a", ONE)], "rule_id STRING, query STRING").write.parquet(files)
    spark.sql(f"CREATE TABLE watched_rules USING parquet LOCATION '{files}'")
    starts, write, found, build = watched(spark, tmp_path, None)
    write(("A", 1))
    try:
        with running(build, "watched_rules" if how == "name" else spark.read.parquet(files), 0.2) as eventually:
            eventually(lambda: found() == [("a", 1)])
            # As another process writes: the session is not told of it.
            more = spark.createDataFrame([("b", ONE)], "rule_id STRING, query STRING")
            more.write.parquet(str(tmp_path / "more"))
            for file in (tmp_path / "more").glob("part-*.parquet"):
                file.rename(tmp_path / "rules" / file.name)
            eventually(lambda: starts == [["a"], ["a", "b"]])
    finally:
        spark.sql("DROP TABLE watched_rules")


def test_a_table_by_its_name(spark: SparkSession, tmp_path: Path) -> None:
    files = str(tmp_path / "rules")
    spark.createDataFrame([("a", ONE)], "rule_id STRING, query STRING").write.parquet(files)
    spark.sql(f"CREATE TABLE named_rules USING parquet LOCATION '{files}'")
    starts, write, _, build = watched(spark, tmp_path, None)
    write(("A", 1))
    over = threading.Event()
    over.set()
    try:
        spark_cer.rules.run(build, "named_rules", until=over)
        assert starts == [["a"]]
        if spark.__class__.__module__.startswith("pyspark.sql.connect"):
            with pytest.raises(PySparkTypeError, match="the server lists the files of a DataFrame only once"):
                spark_cer.rules.run(build, spark.read.parquet(files), until=over)
    finally:
        spark.sql("DROP TABLE named_rules")


def test_arguments_of_run() -> None:
    def build(_: DataFrame) -> StreamingQuery:
        raise AssertionError("It is not started.")

    with pytest.raises(PySparkTypeError, match="a function that starts a stream"):
        spark_cer.rules.run("rules", build)  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="or a function that reads the rules, not dict"):
        spark_cer.rules.run(build, {})  # type: ignore[arg-type]
    for poll in (0, -1.0, "soon", "0 seconds", "5 parsecs", True):
        with pytest.raises(PySparkValueError, match=f'such as "10 seconds" as poll, not {poll!r}'):
            spark_cer.rules.run(build, "rules", poll=poll)


def test_several_inputs(spark: SparkSession) -> None:
    logins = spark.createDataFrame([(1, "c1"), (4, "c2")], "t INT, card STRING")
    payments = spark.createDataFrame(
        [(2, "c1", 900.0), (3, "c1", 5.0), (4, "c2", 700.0)], "t INT, card STRING, amount DOUBLE"
    )
    rules = {
        "takeover": "SELECT * FROM Logins, Payments WHERE (Logins ; Payments AS p) FILTER p[amount > 500] PARTITION BY [card]",
        "pair": "SELECT * FROM Payments WHERE (Payments AS a : Payments AS b) PARTITION BY [card]",
    }
    inputs = {"Logins": logins, "Payments": payments}
    alerts = cer_rules(rules, time="t").over(inputs)
    assert sorted((r.rule_id, r.key["card"], r.start, r.end) for r in alerts.collect()) == [
        ("pair", "c1", 2, 3),
        ("takeover", "c1", 1, 2),
        ("takeover", "c2", 4, 4),
    ]
    for name, query in rules.items():
        own = {n: df for n, df in inputs.items() if n in query}
        alone = {r.match_id for r in cer(query, time="t").over(own).collect()}
        assert {r.match_id for r in alerts.collect() if r.rule_id == name} == alone
    # The order of the inputs is that of events of the same time, so FROM must have it too.
    with pytest.raises(AnalysisException, match=r"in the order of its inputs\. Write FROM Payments, Logins"):
        cer_rules(rules, time="t").over({"Payments": payments, "Logins": logins})
    with pytest.raises(AnalysisException, match=r"FROM names Logins, which is not one of the inputs Payments\."):
        cer_rules(rules, time="t").over({"Payments": payments})
    with pytest.raises(PySparkTypeError, match=r"not dict. over\(\) takes a dict of names and DataFrames."):
        cer_rules(rules, time="t")(inputs)  # type: ignore[arg-type]


@only_classic
def test_late_events_and_metrics(spark: SparkSession, tmp_path: Path) -> None:
    source = str(tmp_path / "in")
    start = datetime.datetime(2026, 3, 2, 12)
    pair = "SELECT * FROM S WHERE (A AS a ; B AS b)"
    rules = {"k": f"{pair} PARTITION BY [k] WITHIN 1 hour", "m": f"{pair} PARTITION BY [m] WITHIN 1 hour"}
    metrics: list[dict[str, Any]] = []
    for part in ([("A", 0), ("B", 5)], [("C", 90)], [("A", 10)]):
        rows = [(kind, start + datetime.timedelta(minutes=minute), "x", "y") for kind, minute in part]
        schema = "type STRING, ts TIMESTAMP, k STRING, m STRING"
        spark.createDataFrame(rows, schema).write.mode("append").parquet(source)
        events = spark.readStream.schema(schema).parquet(source).withWatermark("ts", "1 minute")
        writer = events.transform(cer_rules(rules, late="rows")).drop("measures", "events").writeStream
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        running = writer.start(str(tmp_path / "out"))
        running.awaitTermination()
        metrics += [m for p in running.recentProgress for m in p["observedMetrics"].values()]
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(r.rule_id for r in found if r.rule_id) == ["k", "m"]
    assert [r.late.ts for r in found if not r.rule_id] == [start + datetime.timedelta(minutes=10)]
    costs = [rule for m in metrics for rule in m["rules"]]
    assert {(rule["rule_id"], rule["matches"]) for rule in costs if rule["matches"]} == {("k", 1), ("m", 1)}
    assert sum(m["late"] for m in metrics) == 1
