"""Measures, HAVING and flat columns, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import spark_cer.plot
from spark_cer import cer, rows
from spark_cer.cli import main
from spark_cer.test import run
from tests.connect_server import only_classic

FROM = "FROM S WHERE (SELL AS x ; BUY+ AS ys) FILTER x[price > 20] PARTITION BY [card] WITHIN 40 [t]"
SHORT = "FROM S WHERE SELL AS x ; BUY+ AS ys WITHIN 40 [t]"
MEASURES = "x.id, count(ys) AS n, sum(ys.price) AS total, last(ys).t AS until, collect(ys.id) AS ids"
FOUND = [
    ("k", "a", 1, 5.0, 10, ["b"]),
    ("k", "a", 2, 10.0, 30, ["b", "d"]),
    ("k", "a", 3, 15.0, 31, ["b", "d", "e"]),
    ("l", "f", 1, 5.0, 60, ["h"]),
]


def collected(found: DataFrame) -> list[tuple[object, ...]]:
    return [tuple(row) for row in found.orderBy("end").drop("match_id", "start", "end").collect()]


def test_columns_and_types(trades: DataFrame) -> None:
    query = cer(f"SELECT MAX {MEASURES} {FROM}")
    found = trades.transform(query)
    assert found.dtypes == [
        ("match_id", "string"),
        ("card", "string"),
        ("start", "bigint"),
        ("end", "bigint"),
        ("id", "string"),
        ("n", "bigint"),
        ("total", "double"),
        ("until", "bigint"),
        ("ids", "array<string>"),
    ]
    assert query.schema(trades) == found.schema
    assert [field.metadata for field in found.schema if field.name != "start"] == [{}] * 8
    assert collected(found) == FOUND


def test_having_with_parameters(trades: DataFrame) -> None:
    query = cer(f"SELECT MAX {MEASURES} {FROM} HAVING n >= :least AND total < :most", params={"least": 2, "most": 12.0})
    assert collected(trades.transform(query)) == FOUND[1:2]


def test_flat_columns_and_other_names(trades: DataFrame) -> None:
    found = trades.transform(cer(f"SELECT MAX FLAT x[id, price] AS sale, ys[t], x.price / 2 AS half {FROM}"))
    assert found.columns[4:] == ["sale_id", "sale_price", "ys", "half"]
    assert found.where("sale_id = 'f'").select("sale_price", "ys.t", "half").collect() == [(30.0, [60], 15.0)]


def test_a_stream_gives_the_same(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    trades.coalesce(1).write.parquet(str(tmp_path / "events"))
    query = cer(f"SELECT MAX {MEASURES} {FROM} HAVING total > 5", late="rows")
    stream = spark.readStream.schema(trades.schema).parquet(str(tmp_path / "events")).transform(query)
    running = (
        stream.writeStream.format("memory")
        .queryName("measured")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    assert collected(spark.table("measured").drop("late")) == FOUND[1:3]
    assert collected(trades.transform(query).drop("late")) == FOUND[1:3]


@only_classic
def test_count_of_matches(trades: DataFrame) -> None:
    found = trades.transform(cer(f"SELECT COUNT(*) {FROM} HAVING matches > 1"))
    assert sorted((row.end, row.matches) for row in found.collect()) == [(30, 2), (31, 4)]


def test_sql(spark: SparkSession, trades: DataFrame) -> None:
    trades.createOrReplaceTempView("measured_trades")
    query = f"SELECT MAX count(ys) AS n {FROM} HAVING n > :least"
    found = spark.sql(f"SELECT n FROM cer(TABLE(measured_trades), '{query}', time => 't', params => map('least', 1))")
    assert sorted(row.n for row in found.collect()) == [2, 3]


def test_unit_tests_of_queries(spark: SparkSession) -> None:
    events = [{"type": "A", "t": 1, "v": 5}, {"type": "B", "t": 2, "v": None}, {"type": "B", "t": 3, "v": 2}]
    query = "SELECT MAX a.v, sum(b.v) AS total, first(b.v) AS first FROM S WHERE A AS a ; B+ AS b HAVING count(b) > 1"
    [match] = run(query, events, time="t")
    assert (match.v, match.total, match["first"]) == (5, 2, None)


def test_rows_of_matches_with_measures(trades: DataFrame) -> None:
    found = rows(trades.transform(cer(f"SELECT MAX x, ys, first(ys) AS one, count(ys) AS n {FROM} HAVING n = 2")))
    assert found.columns[:6] == ["match_id", "card", "one", "n", "match_number", "variable"]
    assert [(r.variable, r.n, r.one.id, r.id) for r in found.orderBy("position").collect()] == [
        ("x", 2, "b", "a"),
        ("ys", 2, "b", "b"),
        ("ys", 2, "b", "d"),
    ]


@only_classic
def test_a_timeline_of_matches_without_events(trades: DataFrame) -> None:
    pytest.importorskip("altair")
    assert spark_cer.plot.timeline(trades.transform(cer(f"SELECT MAX count(ys) AS n {FROM}"))) is not None


def test_the_plan(spark: SparkSession) -> None:
    plan = cer(f"SELECT x, count(ys) AS n {FROM} HAVING n > 2").plan
    start = plan.index("Output")
    assert plan[start : plan.index("\n\nConditions")].splitlines() == [
        "Output",
        "  x: one event",
        "  n: count(ys)",
        "  ys: not shown; matches that differ in their events are different matches",
        "  HAVING n > 2: applied to each match, after everything else",
    ]


@only_classic
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            f"SELECT ys.price {SHORT}",
            [
                "[CER_UNSUPPORTED] Line 1, column 8: 'ys' can have several events, so 'ys.price' needs an aggregate, "
                "such as first(ys.price).",
                f"SELECT ys.price {SHORT}",
                "       ^",
            ],
        ),
        (
            f"SELECT x, sum(ys.price) {SHORT}",
            [
                "[CER_SYNTAX] Line 1, column 11: 'sum(ys.price)' needs a name. Add AS and a name after it.",
                f"SELECT x, sum(ys.price) {SHORT}",
                "          ^",
            ],
        ),
    ],
)
def test_errors(trades: DataFrame, query: str, message: list[str]) -> None:
    with pytest.raises(AnalysisException) as raised:
        trades.transform(cer(query))
    assert str(raised.value).splitlines() == message


@only_classic
def test_the_command_line(
    spark: SparkSession, trades: DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trades.coalesce(1).write.json(str(tmp_path / "trades.json"))
    (tmp_path / "query.ceql").write_text(f"SELECT MAX x.id, count(ys) AS n {FROM} HAVING n > :least")
    arguments = ["run", str(tmp_path / "query.ceql"), str(tmp_path / "trades.json"), "--param", "least=1"]
    for more in ([], ["--stream", "--time", "t"]):
        assert main([*arguments, *more]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "card  start  end  id  n",
            "----  -----  ---  --  -",
            "k     0      30   a   2",
            "k     0      31   a   3",
            "2 matches.",
        ]
