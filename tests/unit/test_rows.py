"""`rows(matches)`: one row for each event of a match."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkValueError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer, rows

QUERY = "SELECT MAX * FROM S WHERE (SELL AS x ; BUY+ AS ys) FILTER x[price > 20] PARTITION BY [card] WITHIN 40 [t]"

FOUND = [
    [("k", "x", 0, "a"), ("k", "ys", 1, "b")],
    [("k", "x", 0, "a"), ("k", "ys", 1, "b"), ("k", "ys", 2, "d")],
    [("k", "x", 0, "a"), ("k", "ys", 1, "b"), ("k", "ys", 2, "d"), ("k", "ys", 3, "e")],
    [("l", "x", 0, "f"), ("l", "ys", 1, "h")],
]


def grouped(found: DataFrame) -> list[list[tuple[str, str, int, str]]]:
    matches: dict[str, list[tuple[str, str, int, str]]] = {}
    for row in found.orderBy("match_id", "position").collect():
        matches.setdefault(row.match_id, []).append((row.card, row.variable, row.position, row.id))
    return sorted(matches.values())


def test_one_row_for_each_event(trades: DataFrame) -> None:
    found = rows(trades.transform(cer(QUERY)))
    assert found.dtypes == [
        ("match_id", "string"),
        ("card", "string"),
        ("match_number", "int"),
        ("variable", "string"),
        ("classifier", "string"),
        ("position", "int"),
        ("type", "string"),
        ("t", "bigint"),
        ("price", "double"),
        ("id", "string"),
    ]
    assert grouped(found) == FOUND
    assert found.where("classifier <> variable").count() == 0


def test_matches_are_numbered_by_key(trades: DataFrame) -> None:
    found = rows(trades.transform(cer(QUERY))).select("card", "match_number", "match_id").distinct()
    assert sorted((r.card, r.match_number) for r in found.collect()) == [("k", 1), ("k", 2), ("k", 3), ("l", 1)]
    by_end = rows(trades.transform(cer("SELECT y FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 40 [t]")))
    numbers = [(r.match_number, r.t) for r in by_end.orderBy("match_number").collect()]
    assert [n for n, _ in numbers] == list(range(1, len(numbers) + 1))
    assert [t for _, t in numbers] == sorted(t for _, t in numbers)


def test_a_stream(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    trades.coalesce(1).write.parquet(str(tmp_path / "events"))
    stream = spark.readStream.schema(trades.schema).parquet(str(tmp_path / "events")).transform(cer(QUERY, late="rows"))
    running = (
        rows(stream)
        .writeStream.format("memory")
        .queryName("match_rows")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    assert grouped(spark.table("match_rows")) == FOUND


def test_a_batch_has_no_late_events(trades: DataFrame) -> None:
    """The same query on a batch and a stream: the columns are the same."""
    plain, late = trades.transform(cer(QUERY)), trades.transform(cer(QUERY, late="rows"))
    assert late.columns == [*plain.columns, "late"]
    assert late.where("late IS NOT NULL").count() == 0
    assert grouped(rows(late)) == FOUND


def test_time_decides_not_the_order_of_variables(trades: DataFrame) -> None:
    found = rows(trades.transform(cer("SELECT y, x FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 10 [t]")))
    assert [(r.variable, r.t) for r in found.orderBy("position").where("id IN ('a', 'b')").collect()] == [
        ("x", 0),
        ("y", 10),
    ]


def test_an_event_of_two_variables_has_a_row_for_each(trades: DataFrame) -> None:
    found = rows(trades.transform(cer("SELECT * FROM S WHERE ((SELL AS x ; BUY) AS all_of_it) WITHIN 10 [t]")))
    assert [(r.position, r.variable, r.id) for r in found.orderBy("t", "position").where("t <= 10").collect()] == [
        (0, "all_of_it", "a"),
        (1, "x", "a"),
        (2, "all_of_it", "b"),
    ]


def test_optional_and_narrowed_variables(trades: DataFrame) -> None:
    query = "SELECT x[id, t], h[t], y[price, t] FROM S WHERE (SELL AS x ; ((HOLD AS h ; BUY AS y) OR BUY AS y)) WITHIN 20 [t]"
    found = rows(trades.transform(cer(query)).where("x.id = 'f'"))
    assert found.columns == [
        "match_id",
        "match_number",
        "variable",
        "classifier",
        "position",
        "id",
        "t",
        "price",
    ]
    assert sorted((r.position, r.variable, r.id, r.t, r.price) for r in found.collect()) == [
        (0, "x", "f", 40, None),
        (0, "x", "f", 40, None),
        (1, "h", None, 50, None),
        (1, "y", None, 60, 5.0),
        (2, "y", None, 60, 5.0),
    ]


def test_maps_and_odd_names_and_added_columns(spark: SparkSession) -> None:
    events = spark.sql("SELECT 'A' AS type, id AS t, map('k', id) AS m, id AS `a.b` FROM range(2)")
    matches = events.transform(cer("SELECT * FROM S WHERE (A AS x ; A AS y) WITHIN 5 [t]")).selectExpr(
        "*", "1 AS `my score`"
    )
    found = rows(matches).orderBy("position").collect()
    assert [(r.variable, r.m, r["a.b"], r["my score"]) for r in found] == [("x", {"k": 0}, 0, 1), ("y", {"k": 1}, 1, 1)]


def test_matches_that_were_stored(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    trades.transform(cer(QUERY)).write.parquet(str(tmp_path / "matches"))
    assert grouped(rows(spark.read.parquet(str(tmp_path / "matches")))) == FOUND


def refused(matches: DataFrame, time: str | None = None) -> str:
    with pytest.raises(PySparkValueError) as caught:
        rows(matches, time=time)
    return str(caught.value)


def test_the_messages(trades: DataFrame) -> None:
    within = "WITHIN 40 [t]"
    pair = trades.transform(cer(f"SELECT * FROM S WHERE (SELL AS x ; BUY AS y) {within}"))
    assert refused(trades.transform(cer(f"SELECT COUNT(*) FROM S WHERE SELL ; BUY {within}"))) == (
        "rows() takes the matches of cer(), which have a match_id; those of COUNT(*) have no events."
    )
    assert refused(trades.transform(cer(f"SELECT NONE FROM S WHERE SELL ; BUY {within}"))) == (
        "rows() finds no variable in the matches: list one in SELECT, without FLAT. Measures show no events."
    )
    assert (
        refused(pair.drop("start")) == 'rows() does not know the time of the events any more: name it, as in time="ts".'
    )
    assert rows(pair.drop("start"), time="t").count() == rows(pair).count()
    assert refused(trades.transform(cer(f"SELECT x[id], y FROM S WHERE (SELL AS x ; BUY AS y) {within}"))) == (
        "rows() orders events by 't', which the variable x does not show: add it in SELECT x[…, t]."
    )
    own = trades.withColumnRenamed("price", "position").transform(cer(f"SELECT * FROM S WHERE SELL {within}"))
    assert (
        refused(own) == "rows() has a column 'position' of its own, and so have the events: rename theirs before cer()."
    )
