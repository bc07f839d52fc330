"""Quantifiers, optional parts, windows inside a pattern, and conditions on repetitions, through Spark."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import spark_cer
from spark_cer import cer
from spark_cer.test import run
from tests.connect_server import only_classic

EVENTS = [
    (0, "A", 1, "k"),
    (1, "A", 5, "l"),
    (2, "B", 2, "k"),
    (3, "A", None, "k"),
    (6, "B", 9, "l"),
    (7, "C", 3, "k"),
]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(EVENTS, "t INT, type STRING, v INT, key STRING")


def sets(matches: DataFrame) -> list[list[int]]:
    """The times of the events of each match."""
    found = []
    for row in matches.collect():
        bound: list[Any] = [row[name] for name in matches.columns if name not in ("match_id", "start", "end")]
        flat = [event for value in bound for event in (value if isinstance(value, list) else [value])]
        found.append(sorted({event.t for event in flat if event is not None}))
    return sorted(found)


@only_classic
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A{2}", [[0, 1], [0, 3], [1, 3]]),
        ("A{2,} ; C", [[0, 1, 3, 7], [0, 1, 7], [0, 3, 7], [1, 3, 7]]),
        ("A:{2}", [[0, 1]]),
        ("A{3} ; B? ; C", [[0, 1, 3, 6, 7], [0, 1, 3, 7]]),
        ("B ; A* ; C", [[2, 3, 7], [2, 7], [6, 7]]),
        ("B : A:{,2} : B", [[2, 3, 6]]),
        ("(A ; B WITHIN 2 [t]) ; C", [[0, 2, 7], [1, 2, 7]]),
        ("((A ; B WITHIN 3 [t])){2}", [[0, 2, 3, 6], [1, 2, 3, 6]]),
        ("A+ AS x FILTER count(x) = 3", [[0, 1, 3]]),
        ("A+ AS x FILTER count(x) >= 2 AND SOME x[v = 5]", [[0, 1], [0, 1, 3], [1, 3]]),
        ("A+ AS x FILTER max(x.v) > 1", [[0, 1], [0, 1, 3], [1], [1, 3]]),
        ("A+ AS x FILTER max(x.v) < 5", [[0], [0, 3]]),
        ("A+ AS x FILTER min(x.v) = 1 AND count(x) BETWEEN 2 AND 9", [[0, 1], [0, 1, 3], [0, 3]]),
        ("A+ AS x FILTER first(x)[v = 1] AND last(x)[v IS NULL]", [[0, 1, 3], [0, 3]]),
        ("(A+ AS x ; C AS y) FILTER first(x).v < y.v AND last(x).key = y.key", [[0, 1, 3, 7], [0, 3, 7], [0, 7]]),
        ("(A+ AS x ; C AS y) FILTER last(x.v) > y.v", [[0, 1, 7], [1, 7]]),
    ],
)
def test_a_pattern(events: DataFrame, pattern: str, expected: list[list[int]]) -> None:
    assert sets(events.transform(cer(f"SELECT * FROM S WHERE {pattern} WITHIN 100 [t]"))) == expected


def test_a_part_that_may_be_left_out_is_nullable(events: DataFrame) -> None:
    query = cer("SELECT * FROM S WHERE (A{1} AS a ; B? AS b ; A{0,2} AS c ; C AS d) WITHIN 100 [t]")
    schema = query.schema(events)
    assert [(f.name, f.dataType.typeName(), f.nullable) for f in schema][-4:] == [
        ("a", "struct", False),
        ("b", "struct", True),
        ("c", "array", False),
        ("d", "struct", False),
    ]
    row = events.transform(query).where("b IS NULL AND size(c) = 0").orderBy("start").first()
    assert row is not None
    assert (row.a.t, row.c) == (0, [])


def test_parameters_in_the_pattern(events: DataFrame) -> None:
    query = """
        SELECT * FROM S WHERE ((A{:least,:most} AS x ; C AS y WITHIN :d [t])
        FILTER count(x) < :n AND max(x.v) >= :v) WITHIN 100 [t]"""
    found = cer(query, params={"least": 1, "most": 3, "d": 6, "n": 3, "v": 5})
    assert sets(found(events)) == [[1, 3, 7], [1, 7]]
    assert "A{1,3}" in found.plan
    assert found.diagram().svg.startswith("<svg")
    with pytest.raises(AnalysisException) as error:
        cer(query, params={"least": 1, "most": 3, "d": 6, "n": 1.5, "v": 5})(events)
    assert "a number of rounds or events is a whole number, 0 or more, but the parameter :n is 1.5." in str(error.value)
    with pytest.raises(AnalysisException) as error:
        cer(query, params={"least": 4, "most": 3, "d": 6, "n": 3, "v": 5})(events)
    assert "{4,3} has its numbers in the wrong order. Write {3,4}." in str(error.value)
    with pytest.raises(AnalysisException) as error:
        _ = cer("SELECT * FROM S WHERE A{:n}").plan
    assert 'the parameter :n has no value. Give it one with params={"n": …}.' in str(error.value)


@only_classic
@pytest.mark.parametrize(
    ("values", "type_name", "size"),
    [
        ([datetime.datetime(2026, 1, 1, 0, 0, s) for s in (0, 2, 9)], "TIMESTAMP", "2 seconds"),
        ([datetime.datetime(2026, 1, 1, 0, 0, s) for s in (0, 2, 9)], "TIMESTAMP", "2 [u]"),
        ([datetime.date(2026, 1, d) for d in (1, 3, 10)], "DATE", "2 days"),
        ([0.0, 2.0, 9.0], "DOUBLE", "2 [u]"),
        ([Decimal("0.5"), Decimal("2.5"), Decimal("9")], "DECIMAL(5, 2)", "2 [u]"),
        ([0, 2, 9], "BIGINT", "2 [u]"),
    ],
)
def test_a_window_inside_over_every_type_of_time(
    spark: SparkSession, values: list[Any], type_name: str, size: str
) -> None:
    events = spark.createDataFrame([(i, "A", u) for i, u in enumerate(values)], f"t INT, type STRING, u {type_name}")
    found = events.transform(cer(f"SELECT * FROM S WHERE (A AS x ; A AS y WITHIN {size})", time="u"))
    assert sets(found) == [[0, 1]]


@only_classic
def test_a_window_inside_needs_a_time(events: DataFrame) -> None:
    with pytest.raises(AnalysisException) as error:
        events.transform(cer("SELECT * FROM S WHERE (A ; B WITHIN 5 minutes) ; C WITHIN 100 [t]"))
    assert "Line 1, column 30: " in str(error.value)
    with pytest.raises(AnalysisException) as error:
        events.transform(cer("SELECT * FROM S WHERE (A ; B WITHIN 5 [key]) ; C WITHIN 100 [t]"))
    assert "Line 1, column 40: " in str(error.value)


def test_a_stream_gives_the_rows_of_the_batch(spark: SparkSession, tmp_path: Path) -> None:
    query = cer(
        """
        SELECT * FROM S WHERE ((A{2,} AS x ; B? AS y WITHIN 4 seconds) ; C AS z)
        FILTER count(x) <= 3 AND first(x).v < z.v PARTITION BY [key] WITHIN 20 seconds""",
        time="ts",
    )
    start = datetime.datetime(2026, 1, 1)
    rows = [
        (start + datetime.timedelta(seconds=i), "AABACB"[i % 6], i * 7 % 10, "kl"[i // 6 % 2], i) for i in range(60)
    ]
    ddl = "ts TIMESTAMP, type STRING, v INT, key STRING, t INT"
    folder = tmp_path / "events"
    for part in range(6):
        chunk = spark.createDataFrame(rows[10 * part : 10 * part + 10], ddl).coalesce(1)
        chunk.write.mode("append").parquet(str(folder))
    batch = spark.read.schema(ddl).parquet(str(folder)).transform(query)
    stream = (
        spark.readStream.schema(ddl)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder))
        .withWatermark("ts", "30 seconds")
        .transform(query)
    )
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "checkpoint")
    for _ in range(2):
        running = stream.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        running.format("parquet").start(out).awaitTermination()
    last = spark.createDataFrame([(start + datetime.timedelta(days=1), "X", 0, "k", 0)], ddl).coalesce(1)
    last.write.mode("append").parquet(str(folder))
    for _ in range(2):
        running = stream.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        running.format("parquet").start(out).awaitTermination()
    expected = sorted(row.match_id for row in batch.collect())
    assert len(expected) > 20
    assert sorted(row.match_id for row in spark.read.parquet(out).collect()) == expected


def test_rows_and_unit_tests_know_them(events: DataFrame) -> None:
    matches = events.transform(cer("SELECT * FROM S WHERE A{3} AS x ; B? AS y ; C AS z WITHIN 100 [t]"))
    rows = spark_cer.rows(matches.where("y IS NULL")).select("variable", "t").collect()
    assert [(row.variable, row.t) for row in rows] == [("x", 0), ("x", 1), ("x", 3), ("z", 7)]
    [match] = run("SELECT * FROM S WHERE A? ; B", [{"type": "B", "t": 1}], time="t")
    assert (match.A, match.B.t) == (None, 1)


@only_classic
@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("A?", "the pattern can match without any event"),
        ("A{2,1}", "{2,1} has its numbers in the wrong order. Write {1,2}."),
        ("A{1001}", "{…} takes at most 1000 rounds, and this has 1001."),
        ("A+ AS x FILTER sum(x.v) > 3", "sum(x.v) cannot stand in this FILTER."),
        ("A+ AS x FILTER count(x) > count(x)", "count(x) cannot stand in this FILTER."),
        ("A+ AS x FILTER count(DISTINCT x.v) > 2", "count(DISTINCT x.v) cannot stand in this FILTER."),
        ("A+ AS x FILTER max(x.v) + 1 > 2", "max(x.v) cannot stand in this FILTER."),
        ("A+ AS x FILTER count(y) > 2", "FILTER names 'y', which is not a variable of the pattern before it."),
        ("A+ AS x FILTER max(x.w) > 2", "'w'"),
    ],
)
def test_what_is_refused(events: DataFrame, pattern: str, message: str) -> None:
    with pytest.raises(AnalysisException) as error:
        events.transform(cer(f"SELECT * FROM S WHERE {pattern} WITHIN 100 [t]"))
    assert message in str(error.value)
    assert "^" in str(error.value)
