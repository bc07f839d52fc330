"""Comparisons between events: the examples of the papers, values as Spark compares them, streams, and errors."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer
from tests.connect_server import only_classic

# Figure 1 of "Towards Streaming Evaluation of Queries with Correlation"; the paper counts positions from 1.
TWITTER = [
    (1, "T", 123, 11, None, "#vote"),
    (2, "R", 155, 48, 123, "#ihate"),
    (3, "R", 165, 48, 343, "#ihate"),
    (4, "R", 223, 48, 123, "#ihate"),
    (5, "T", 252, 13, None, "#vote"),
    (6, "R", 352, 13, 252, "#ihate"),
    (7, "T", 355, 33, None, "#ihate"),
    (8, "R", 411, 79, 123, "#stop"),
]


@pytest.fixture
def twitter(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(TWITTER, "pos INT, type STRING, id BIGINT, user INT, tweet_id BIGINT, text STRING")


def sets(matches: DataFrame) -> set[frozenset[int]]:
    """The positions of each match."""
    found: set[frozenset[int]] = set()
    for row in matches.collect():
        bound: list[Any] = [row[name] for name in matches.columns if name not in ("match_id", "start", "end")]
        events = [event for value in bound for event in (value if isinstance(value, list) else [value])]
        found.add(frozenset(event.pos for event in events))
    return found


HATE = "x[text = '#vote'] AND y[text = '#ihate']"


def test_examples_1_and_2_have_no_correlation(twitter: DataFrame) -> None:
    pairs = cer(f"SELECT * FROM S WHERE (T AS x ; R AS y) FILTER {HATE}", time="pos")
    assert sets(pairs(twitter)) == {frozenset(s) for s in ([1, 2], [1, 3], [1, 4], [1, 6], [5, 6])}
    debates = cer(f"SELECT * FROM S WHERE (T AS x ; R+ AS y ; R AS z) FILTER {HATE} AND z[text = '#stop']", time="pos")
    assert {frozenset([1, 2, 4, 8]), frozenset([1, 3, 4, 6, 8])} <= sets(debates(twitter))


@only_classic
@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM S WHERE (T AS x ; R AS y) FILTER {HATE} AND x.id = y.tweet_id",
        "SELECT * FROM S WHERE (T AS x ; R AS y) FILTER x[text = '#vote'] AND y[text = '#ihate' AND tweet_id = x.id]",
        f"SELECT * FROM S WHERE (T AS x ; R AS y) FILTER {HATE} PART-BY [x.id, y.tweet_id]",
    ],
)
def test_example_3(twitter: DataFrame, query: str) -> None:
    assert sets(cer(query, time="pos")(twitter)) == {frozenset([1, 2]), frozenset([1, 4]), frozenset([5, 6])}


def test_example_4(twitter: DataFrame) -> None:
    query = cer(
        f"SELECT * FROM S WHERE (T AS x ; (R+ PART-BY [user]) AS y ; R AS z) FILTER {HATE} AND z[text = '#stop'] "
        "PART-BY [x.id, y.tweet_id, z.tweet_id]",
        time="pos",
    )
    assert sets(query(twitter)) == {frozenset([1, 2, 8]), frozenset([1, 4, 8]), frozenset([1, 2, 4, 8])}


def test_example_6_a_chain_of_replies(spark: SparkSession) -> None:
    rows = [(1, "T", 1, None), (2, "R", 2, 1), (3, "R", 3, 2), (4, "R", 4, 1), (5, "R", 5, 3)]
    events = spark.createDataFrame(rows, "pos INT, type STRING, id INT, tweet_id INT")
    query = "SELECT chain FROM S WHERE (T ; R+) AS chain FILTER chain[tweet_id = PREV.id]"
    assert sets(cer(query, time="pos")(events)) == {frozenset(s) for s in ([1, 2], [1, 2, 3], [1, 4], [1, 2, 3, 5])}


def test_r_s_t_once_for_each_t(spark: SparkSession) -> None:
    """With the erratum of the paper: the match with the larger start is kept."""
    rows = [("R", 0, 1, None), ("R", 3, 2, None), ("S", 4, 2, 7), ("S", 4, 1, 7), ("T", 6, None, 7)]
    events = spark.createDataFrame(rows, "type STRING, time INT, x INT, y INT")
    pattern = "WHERE (R AS r ; S AS s ; T AS t) FILTER r.x = s.x AND s.y = t.y WITHIN 4 [time]"
    found = cer(f"SELECT DISTINCT t[y] FROM E {pattern}")(events)
    assert found.dtypes[-1] == ("t", "struct<y:int>")
    assert [(row.start, row.end, row.t.y) for row in found.collect()] == [(3, 6, 7)]
    assert cer(f"SELECT * FROM E {pattern}")(events).count() == 1


def test_view1_and_rising_runs(spark: SparkSession) -> None:
    rows = [("s", "d", minute, loss) for minute, loss in enumerate([6, 12, 15, 24, 20, 16, 7])]
    events = spark.createDataFrame(rows, "src STRING, dest STRING, minute INT, loss INT")
    view1 = "(M AS a : M AS b : M AS c : M:+ AS d) AS run FILTER run[loss > 10]"
    keys = "PARTITION BY [src, dest]"
    printed = cer(f"SELECT MAX run FROM M WHERE {view1} {keys}", time="minute")(events)
    assert sorted((row.end, len(row.run), sum(e.loss for e in row.run)) for row in printed.collect()) == [
        (4, 4, 71),
        (5, 5, 87),
    ]
    rising = cer(f"SELECT run FROM M WHERE {view1} AND b.loss > a.loss {keys}", time="minute")(events)
    assert sorted((row.start, row.end) for row in rising.collect()) == [(1, 4), (1, 5), (2, 5)]
    runs = cer(f"SELECT run FROM M WHERE M:+ AS run FILTER run[loss > PREV.loss] {keys}", time="minute")(events)
    assert max(([e.loss for e in row.run] for row in runs.collect()), key=len) == [6, 12, 15, 24]


def test_what_stands_beside_prev_is_asked_of_every_event(spark: SparkSession) -> None:
    rows = [(pos, "A", v) for pos, v in enumerate([10, 70, None, 80, 60])]
    events = spark.createDataFrame(rows, "pos INT, type STRING, v INT")
    for test in ("v > 60 AND v > PREV.v", "(v > PREV.v AND v BETWEEN 61 AND 99)"):
        query = cer(f"SELECT x FROM S WHERE A+ AS x FILTER x[{test}]", time="pos")
        assert sets(query(events)) == {frozenset(s) for s in ([1], [3], [1, 3])}, test
    assert "  0  A[v > 60]\n" in cer("SELECT x FROM S WHERE A+ AS x FILTER x[v > 60 AND v > PREV.v]").plan


@only_classic
@pytest.mark.parametrize(
    ("types", "left", "right", "test", "pairs"),
    [
        ("DECIMAL(10, 2), INT", [Decimal("1.00"), Decimal("1.50")], [1, 2, None], "x.a = y.b", [(0, 2)]),
        ("DOUBLE, DOUBLE", [math.nan, -0.0, 1.0], [math.nan, 0.0, None], "x.a = y.b", [(0, 3), (1, 4)]),
        ("DOUBLE, DOUBLE", [math.nan, 1.0], [math.nan, 2.0], "x.a < y.b", [(1, 2), (1, 3)]),
        ("STRING, STRING", ["a", None, "b"], ["a", None, "A"], "x.a = y.b", [(0, 3)]),
        ("STRING, STRING", ["a", None, "b"], ["a", None], "x.a != y.b", [(2, 3)]),
        (
            "TIMESTAMP, DATE",
            [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 12)],
            [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
            "x.a < y.b",
            [(0, 3), (1, 3)],
        ),
    ],
)
def test_values_as_spark_compares_them(
    spark: SparkSession, types: str, left: list[Any], right: list[Any], test: str, pairs: list[tuple[int, int]]
) -> None:
    rows = [("A", value, None) for value in left] + [("B", None, value) for value in right]
    a, b = types.rsplit(", ", 1)
    events = spark.createDataFrame([(i, *row) for i, row in enumerate(rows)], f"pos INT, type STRING, a {a}, b {b}")
    found = cer(f"SELECT x[pos], y[pos] FROM S WHERE (A AS x ; B AS y) FILTER {test}", time="pos")(events)
    assert sorted((row.x.pos, row.y.pos) for row in found.collect()) == pairs


def test_parameters_and_several_inputs(spark: SparkSession) -> None:
    tweets = spark.createDataFrame([(1, 7, 10), (2, 8, 20)], "t INT, id INT, likes INT")
    replies = spark.createDataFrame([(3, 7, 15), (4, 8, 25), (5, 9, 99)], "t INT, tweet_id INT, score INT")
    query = (
        "SELECT * FROM Tweet, Reply WHERE (Tweet AS x ; Reply AS y) FILTER y[tweet_id = x.id AND score > x.likes + :n]"
    )
    found = cer(query, time="t", params={"n": 4}).over({"Tweet": tweets, "Reply": replies})
    assert sorted((row.x.id, row.y.score) for row in found.collect()) == [(7, 15), (8, 25)]
    assert cer(query, time="t", params={"n": 5}).over({"Tweet": tweets, "Reply": replies}).count() == 0


def test_a_stream_is_the_batch_with_a_restart(spark: SparkSession, twitter: DataFrame, tmp_path: Path) -> None:
    query = cer(
        f"SELECT x[id], y[id] FROM S WHERE (T AS x ; R AS y) FILTER {HATE} AND x.id = y.tweet_id WITHIN 7 [pos]"
    )
    source, out = str(tmp_path / "events"), str(tmp_path / "matches")
    for part in ("pos <= 3", "pos > 3"):
        twitter.where(part).coalesce(1).write.mode("append").parquet(source)
        stream = spark.readStream.schema(twitter.schema).parquet(source).transform(query)
        running = (
            stream.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(out)
        )
        running.awaitTermination()
    assert sorted(spark.read.parquet(out).collect()) == sorted(query(twitter).collect())
    assert query(twitter).count() == 3


@only_classic
@pytest.mark.parametrize(
    ("test", "message"),
    [
        (
            "x.id = y.tweetid",
            "[CER_UNKNOWN_COLUMN] Line 1, column 57: 'tweetid' is not a column. "
            "The columns are pos, type, id, user, tweet_id, text. Did you mean 'tweet_id'?",
        ),
        (
            "array(x.id) = y.tweet_id",
            "[CER_TYPE_MISMATCH] Line 1, column 48: Spark SQL cannot compare "
            "'array(x.id)', which is ARRAY<BIGINT>, with 'y.tweet_id', which is BIGINT.",
        ),
        (
            "y[x.id + id]",
            "[CER_TYPE_MISMATCH] Line 1, column 50: the condition 'x.id + id' is BIGINT, but it must be BOOLEAN.",
        ),
    ],
)
def test_errors(twitter: DataFrame, test: str, message: str) -> None:
    with pytest.raises(AnalysisException) as raised:
        cer(f"SELECT * FROM S WHERE (T AS x ; R AS y) FILTER {test}", time="pos")(twitter)
    assert str(raised.value).startswith(message)


@only_classic
@pytest.mark.parametrize(
    ("test", "access"),
    [
        ("x.id = y.tweet_id", "indexed: an event finds its partial matches by value"),
        ("y.user < x.user", "indexed in order: an event finds its partial matches on one side of a value"),
        ("x[id > PREV.id]", "always holds: its variable is bound to one event at the most, so PREV has none"),
        ("y[text LIKE x.text]", "scanned per run: an event looks at every partial match that differs in its events"),
    ],
)
def test_the_plan_names_each_test(spark: SparkSession, test: str, access: str) -> None:
    assert f"{test}  {access}\n" in cer(f"SELECT * FROM S WHERE (T AS x ; R AS y) FILTER {test}").plan


def test_a_snapshot_of_a_batch_and_of_a_running_query(spark: SparkSession, twitter: DataFrame, tmp_path: Path) -> None:
    text = f"SELECT x[pos], y[pos] FROM S WHERE (T AS x ; R AS y) FILTER {HATE} AND x.id = y.tweet_id WITHIN 3 [pos]"
    query = cer(text, snapshots=True)

    def ends(found: DataFrame) -> list[tuple[int, int]]:
        return sorted((row.x.pos, row.y.pos) for row in found.collect())

    assert ends(query(twitter)) == [(1, 2), (1, 4), (5, 6)]
    assert ends(query.snapshot(twitter)) == [(5, 6)]
    assert ends(query.snapshot(twitter, at=5)) == [(1, 2), (1, 4)]
    assert ends(query.snapshot({"S": twitter}, at=7)) == [(1, 4), (5, 6)]
    source, checkpoint = str(tmp_path / "events"), str(tmp_path / "checkpoint")
    # The query does not read the events at 7 and 8, because they meet no condition.
    for part, found in (("pos <= 5", [(1, 2), (1, 4)]), ("pos > 5", [(1, 4), (5, 6)])):
        twitter.where(part).coalesce(1).write.mode("append").parquet(source)
        stream = spark.readStream.schema(twitter.schema).parquet(source)
        writer = stream.transform(query).writeStream.format("noop").trigger(availableNow=True)
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()
        assert ends(query.snapshot(stream, checkpoint=checkpoint)) == found
    assert ends(query.snapshot(stream, at=8, checkpoint=checkpoint)) == [(5, 6)]


@only_classic
def test_a_snapshot_that_cannot_be(twitter: DataFrame) -> None:
    with pytest.raises(AnalysisException, match="the query needs WITHIN over the time column"):
        cer("SELECT * FROM S WHERE T ; R", time="pos").snapshot(twitter)
    with pytest.raises(PySparkTypeError, match="takes a time or a number as at, not list"):
        cer("SELECT * FROM S WHERE T ; R", time="pos").snapshot(twitter, at=[1])
