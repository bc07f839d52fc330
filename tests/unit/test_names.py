"""Names that differ only in case, on a case-sensitive session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer, plot, rows

SETTING = "spark.sql.caseSensitive"

# `a` is a key, `A` a type and another column; `T` is the time and `t` the window; `Start` and `Late` are variables.
QUERY = """
    SELECT * FROM S WHERE (A ; B+ AS Start ; C AS Late) FILTER Start[A > 1] AND Late[a = A.a AND A > A.A]
    PARTITION BY [a] WITHIN 20 [t]"""
EVENTS = [
    ("A", 1, 10, "x", 1, "a1"),
    ("B", 2, 11, "x", 1, "b1"),
    ("B", 3, 12, "x", 2, "b2"),
    ("B", 4, 12, "y", 2, "b3"),
    ("C", 5, 13, "x", 1, "c1"),
    ("C", 6, 14, "x", 2, "c2"),
]
COLUMNS = "type STRING, T BIGINT, t BIGINT, a STRING, A INT, id STRING"
FOUND = ("x", 1, 6, "a1", ["b2"], "c2")


@pytest.fixture
def events(spark: SparkSession) -> Iterator[DataFrame]:
    before = spark.conf.get(SETTING)
    assert before is not None
    spark.conf.set(SETTING, "true")
    yield spark.createDataFrame(EVENTS, COLUMNS)
    spark.conf.set(SETTING, before)


def shown(matches: DataFrame) -> list[tuple[object, ...]]:
    return [
        (r["a"], r["start"], r["end"], r["A"]["id"], [e["id"] for e in r["Start"]], r["Late"]["id"])
        for r in matches.collect()
    ]


def test_a_batch(events: DataFrame) -> None:
    matches = events.transform(cer(QUERY, time="T"))
    assert matches.columns == ["match_id", "a", "start", "end", "A", "Start", "Late"]
    assert shown(matches) == [FOUND]
    assert [row.asDict() for row in matches.select("A.*").collect()] == [
        {"type": "A", "T": 1, "t": 10, "a": "x", "A": 1, "id": "a1"}
    ]
    narrow = QUERY.replace("SELECT *", "SELECT A[A, id], Start[a], Late[T, t]")
    assert [tuple(row)[2:] for row in events.transform(cer(narrow, time="T")).drop("match_id").collect()] == [
        (6, (1, "a1"), [("x",)], (6, 14))
    ]
    assert shown(cer(QUERY.replace("[t]", "[T]"), time="T").snapshot(events)) == [FOUND]
    assert cer(QUERY, time="T", order="A").over({"S": events}).count() == 1


def test_one_row_for_each_event(events: DataFrame) -> None:
    matches = events.withColumnRenamed("id", "Position").transform(cer(QUERY, time="T"))
    found = rows(matches).orderBy("position")
    assert found.columns == [
        "match_id",
        "a",
        "match_number",
        "variable",
        "classifier",
        "position",
        "type",
        "T",
        "t",
        "A",
        "Position",
    ]
    assert [(r["variable"], r["position"], r["A"], r["Position"]) for r in found.collect()] == [
        ("A", 0, 1, "a1"),
        ("Start", 1, 2, "b2"),
        ("Late", 2, 2, "c2"),
    ]


def test_a_stream(spark: SparkSession, events: DataFrame, tmp_path: Path) -> None:
    for part in ("T < 4", "T >= 4"):
        events.where(part).coalesce(1).write.mode("append").parquet(str(tmp_path / "events"))
    stream = spark.readStream.schema(events.schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "events"))
    running = (
        stream.transform(cer(QUERY, time="T", late="rows", snapshots=True))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "matches"))
    )
    running.awaitTermination()
    assert shown(spark.read.parquet(str(tmp_path / "matches"))) == [FOUND]


def test_several_inputs(events: DataFrame) -> None:
    inputs = {
        "L": events.where("type = 'A'").select("T", "a", "id").withColumnRenamed("id", "ID"),
        "l": events.where("type = 'C'").select("T", "A", "a", "id"),
    }
    found = cer("SELECT * FROM L, l WHERE L ; l PARTITION BY [a] WITHIN 9 [T]").over(inputs)
    assert found.columns == ["match_id", "a", "start", "end", "L", "l"]
    assert sorted((r["L"]["ID"], r["L"]["id"], r["l"]["ID"], r["l"]["id"], r["l"]["A"]) for r in found.collect()) == [
        ("a1", None, None, "c1", 1),
        ("a1", None, None, "c2", 2),
    ]


def test_a_type_column_of_another_case(events: DataFrame) -> None:
    named = events.withColumnRenamed("type", "Type")
    with pytest.raises(AnalysisException, match=r"^\[CER_UNKNOWN_TYPE\] .*which can be type='Type' or type='a'"):
        named.transform(cer(QUERY, time="T"))
    assert named.transform(cer(QUERY, time="T", type="Type")).count() == 1


def test_without_the_setting_names_are_the_same(trades: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        trades.transform(cer("SELECT * FROM S WHERE SELL AS Card PARTITION BY [card] WITHIN 30 [t]"))
    assert str(caught.value) == (
        "[CER_NAME_COLLISION] Two columns of the output would be called 'card' and 'Card'. "
        "Give the variable another name with AS."
    )
    matches = trades.withColumnRenamed("id", "Position").transform(cer("SELECT * FROM S WHERE SELL ; BUY", time="T"))
    with pytest.raises(PySparkValueError) as refused:
        rows(matches)
    assert str(refused.value) == (
        "rows() has a column 'position' of its own, and so have the events: rename theirs before cer()."
    )
    pairs = trades.transform(cer("SELECT * FROM S WHERE SELL ; BUY", time="T")).selectExpr("*", "1 AS PRICE")
    found = rows(pairs, time="T")
    assert found.columns == [
        "match_id",
        "PRICE",
        "match_number",
        "variable",
        "classifier",
        "position",
        "type",
        "t",
        "id",
        "card",
    ]
    assert found.where("position = 0 AND variable != 'SELL'").count() == 0
    assert "time" in plot.timeline(pairs, time="T").to_json()


def test_variables_with_names_of_our_own_columns(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    query = cer("SELECT * FROM S WHERE (SELL AS key ; HOLD AS m ; BUY AS row) WITHIN 30 [t]")
    counted = cer("SELECT COUNT(*) FROM S WHERE (SELL AS key ; HOLD ; BUY) WITHIN 30 [t]")
    assert [(r.key.id, r.m.id, r.row.id) for r in trades.transform(query).collect()] == [("f", "g", "h")]
    assert [tuple(r) for r in trades.transform(counted).collect()] == [(60, 1)]
    trades.coalesce(1).write.parquet(str(tmp_path / "events"))
    stream = spark.readStream.schema(trades.schema).parquet(str(tmp_path / "events"))
    running = (
        stream.transform(query)
        .writeStream.format("memory")
        .queryName("own_names")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    assert [(r.key.id, r.m.id, r.row.id) for r in spark.table("own_names").collect()] == [("f", "g", "h")]
