"""Sets of rules: many queries in one pass."""

from __future__ import annotations

import datetime
import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_cer import bound, cer, cer_rules
from spark_cer import rules as spark_rules
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


@only_classic
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


def test_explain() -> None:
    text = cer_rules(RULES).plan
    assert "3 rules, 4 different conditions, 1 of them in several rules" in text
    assert "without PARTITION BY, on one task: many" in text
    assert "by card: probing, takeover" in text


class Steps(threading.Event):
    """Stands for the event that ends `rules.run`: instead of time, a step passes before each look at the table, and the
    last one ends it."""

    def __init__(self, *steps: Callable[[], None]) -> None:
        super().__init__()
        self.steps = list(steps)

    def wait(self, timeout: float | None = None) -> bool:
        if timeout != POLL:
            return super().wait(timeout)
        if self.steps:
            self.steps.pop(0)()
        else:
            self.set()
        return self.is_set()


POLL = 3600.0


@only_classic
def test_a_table_that_is_watched(spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The stream is started again when the table changes, and goes on with the old rules if the new ones are wrong."""
    source = str(tmp_path / "in")
    one = "SELECT a FROM S WHERE A AS a"
    table = {"a": one}
    starts: list[list[str]] = []
    running: list[StreamingQuery] = []

    def write(*events: tuple[str, int]) -> None:
        spark.createDataFrame(list(events), "type STRING, t INT").write.mode("append").parquet(source)

    def rules() -> DataFrame:
        return spark.createDataFrame(list(table.items()), "rule_id STRING, query STRING")

    def build(now: DataFrame) -> StreamingQuery:
        starts.append(sorted(row.rule_id for row in now.collect()))
        events = spark.readStream.schema("type STRING, t INT").parquet(source)
        alerts = events.transform(cer_rules(now, time="t")).select("rule_id", "end")
        writer = alerts.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        running.append(writer.start(str(tmp_path / "out")))
        return running[-1]

    def found() -> list[tuple[str, int]]:
        running[-1].processAllAvailable()
        alerts = spark.read.schema("rule_id STRING, end INT").parquet(str(tmp_path / "out"))
        return sorted((row.rule_id, row.end) for row in alerts.collect())

    def adds_a_rule() -> None:
        assert found() == [("a", 1)]
        table["b"] = one

    def adds_a_wrong_rule() -> None:
        assert starts == [["a"], ["a", "b"]]
        write(("A", 2))
        assert found() == [("a", 1), ("a", 2), ("b", 2)]
        table["c"] = "SELECT nothing"

    def goes_on() -> None:
        assert starts == [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b"]]
        write(("A", 3))
        assert found() == [("a", 1), ("a", 2), ("a", 3), ("b", 2), ("b", 3)]

    write(("A", 1))
    steps = Steps(adds_a_rule, adds_a_wrong_rule, goes_on, lambda: None)
    caplog.set_level(logging.INFO, logger="spark_cer.rules")
    spark_rules.run(build, rules, poll=POLL, until=steps)
    assert [record.getMessage().split("\n")[0] for record in caplog.records if record.name == "spark_cer.rules"] == [
        "The rules have changed: 2 rules run now.",
        "The changed rules are refused, and the old ones go on. "
        "[CER_RULES] 1 of 3 rules are wrong; invalid='skip' leaves them out and runs the others.",
    ]
    # What was refused once is not tried again.
    assert len(starts) == 4
    assert not any(query.isActive for query in running)


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
