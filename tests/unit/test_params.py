"""`:name` parameters: typed values in conditions, WITHIN and LIMIT."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer

QUERY = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > :least] WITHIN :n [t]"


def pairs(matches: DataFrame) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in matches.selectExpr("x.id", "y.id").collect()}


def test_in_a_condition_and_in_within(trades: DataFrame) -> None:
    assert pairs(trades.transform(cer(QUERY, params={"least": 20, "n": 30}))) == {("a", "b"), ("a", "d"), ("f", "h")}
    assert pairs(trades.transform(cer(QUERY, params={"least": 26.5, "n": 30}))) == {("f", "h")}
    assert pairs(trades.transform(cer(QUERY, params={"least": Decimal("20"), "n": 10}))) == {("a", "b")}


def test_in_limit(trades: DataFrame) -> None:
    query = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN :n EVENTS LIMIT :most"
    found = trades.transform(cer(query, time="t", params={"n": 20, "most": 1}))
    assert sorted(row[0] for row in found.select("y.id").collect()) == ["b", "d", "e", "h"]


def test_values_of_every_type(spark: SparkSession) -> None:
    day = datetime.date(2026, 1, 2)
    values: dict[str, Any] = {
        "i": 3,
        "big": 2**40,
        "f": 2.5,
        "n": Decimal("1.50"),
        "s": "it's; DROP",
        "b": True,
        "ts": datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        "d": day,
        "raw": b"\x00\xff",
        "none": None,
    }
    types = "i INT, big BIGINT, f DOUBLE, n DECIMAL(5, 2), s STRING, b BOOLEAN, ts TIMESTAMP, d DATE, raw BINARY, none STRING"
    events = spark.createDataFrame([tuple(values.values())], types)
    same = " AND ".join(f"{name} <=> :{name}" for name in values)
    query = f"SELECT * FROM S WHERE S FILTER S[{same} AND typeof(:d) = 'date' AND typeof(:big) = 'bigint']"
    assert events.transform(cer(query, time="i", params=values)).count() == 1
    for name, other in {"s": "its", "d": datetime.date(2026, 1, 3), "raw": b"", "none": "x"}.items():
        assert events.transform(cer(query, time="i", params={**values, name: other})).count() == 0


def test_a_duration(spark: SparkSession) -> None:
    events = spark.sql("SELECT timestamp'2026-01-01' + make_dt_interval(0, 0, 20 * id) AS ts, id FROM range(4)")
    query = "SELECT * FROM S WHERE (S AS x ; S AS y) WITHIN :m minutes 30 seconds"
    assert events.transform(cer(query, time="ts", params={"m": 20})).count() == 3
    assert events.transform(cer(query, time="ts", params={"m": 39.5})).count() == 5


@pytest.mark.parametrize("form", ["IN (:homes)", "IN :homes", "IN {:homes}"])
def test_a_list(trades: DataFrame, form: str) -> None:
    def found(values: Any, negated: str = "") -> list[str]:
        query = f"SELECT * FROM S WHERE SELL FILTER SELL[id {negated} {form}] WITHIN 1 [t]"
        return sorted(
            row[0] for row in trades.transform(cer(query, params={"homes": values})).select("SELL.id").collect()
        )

    for values in (["a", "f"], ("f", "a"), {"a", "f"}, frozenset({"f", "a"}), ["a", "f", "z", "a"]):
        assert found(values) == ["a", "f"]
        assert found(values, "NOT") == ["c"]
    assert found([]) == []
    assert found([], "NOT") == ["a", "c", "f"]
    assert found("a") == ["a"]


def test_a_list_elsewhere(trades: DataFrame) -> None:
    def count(condition: str, **params: Any) -> int:
        return trades.transform(
            cer(f"SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER {condition} WITHIN 30 [t]", params=params)
        ).count()

    assert count("x[array_contains(:ids, id)]", ids=["a", "f"]) == 3
    assert count("x[exists(:cards, c -> c <=> card)]", cards=["l", None]) == 3
    assert count("x[size(:ids) = 0]", ids=[]) == 5
    assert count("x[t IN (:times, 40)]", times=[0]) == 3
    assert count("x[t IN (:first) OR t IN (:second)]", first=[0], second=(40,)) == 3
    assert count("y[card = x.card AND id NOT IN (x.id, :ids)]", ids=["b"]) == 2
    assert count("x[price IN (:prices)]", prices=[25, 10.5, Decimal("30.0")]) == 3


def test_a_set_is_the_same_query_in_any_order(trades: DataFrame) -> None:
    query = "SELECT * FROM S WHERE SELL FILTER SELL[id IN (:ids)] WITHIN 1 [t]"
    names = [f"id{i}" for i in range(20)] + ["a"]
    ids = {
        trades.transform(cer(query, params={"ids": ids})).collect()[0]["match_id"]
        for ids in ({*names}, {*reversed(names)}, frozenset(names), sorted(names, key=repr))
    }
    assert len(ids) == 1


def test_a_timedelta(spark: SparkSession) -> None:
    events = spark.sql("SELECT timestamp'2026-01-01' + make_dt_interval(0, 0, 20 * id) AS ts, id FROM range(4)")
    query = "SELECT * FROM S WHERE (S AS x ; S AS y) WITHIN :window"
    for window in (datetime.timedelta(minutes=40), "40 minutes", "INTERVAL '40' MINUTE"):
        assert events.transform(cer(query, time="ts", params={"window": window})).count() == 5
    near = datetime.timedelta(minutes=40) - datetime.timedelta(microseconds=1)
    assert events.transform(cer(query, time="ts", params={"window": near})).count() == 3
    assert events.transform(cer(query, time="ts", params={"window": datetime.timedelta(0)})).count() == 0
    far = "SELECT * FROM S WHERE (S AS x ; S AS y) FILTER y[ts - x.ts > :gap] WITHIN 2 hours"
    assert events.transform(cer(far, time="ts", params={"gap": datetime.timedelta(minutes=30)})).count() == 3


def test_a_timedelta_on_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.sql("SELECT timestamp'2026-01-01' + make_dt_interval(0, 0, 20 * id) AS ts, id FROM range(4)")
    events.coalesce(1).write.parquet(str(tmp_path / "events"))
    params = {"window": datetime.timedelta(minutes=40), "ids": {0, 1, 2}}
    query = cer(
        "SELECT * FROM S WHERE (S AS x ; S AS y) FILTER x[id IN (:ids)] WITHIN :window", time="ts", params=params
    )
    stream = spark.readStream.schema(events.schema).parquet(str(tmp_path / "events"))
    writer = stream.transform(query).writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start(str(tmp_path / "matches")).awaitTermination()
    found = spark.read.parquet(str(tmp_path / "matches"))
    assert sorted(found.collect()) == sorted(spark.read.parquet(str(tmp_path / "events")).transform(query).collect())
    assert found.count() == 5


def test_text_is_never_read_as_sql(trades: DataFrame) -> None:
    query = "SELECT * FROM S WHERE SELL FILTER SELL[id = :id] WITHIN 1 [t]"
    assert trades.transform(cer(query, params={"id": "a' OR '1' = '1"})).count() == 0
    assert trades.transform(cer(query, params={"id": "a"})).count() == 1


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "missing": (
        "SELECT * FROM S WHERE A FILTER A[price > :least] WITHIN 9 [t]",
        {},
        '[CER_PARAMETER] Line 1, column 42: the parameter :least has no value. Give it one with params={"least": …}.\n'
        "SELECT * FROM S WHERE A FILTER A[price > :least] WITHIN 9 [t]\n"
        "                                         ^",
    ),
    "misspelt": (
        "SELECT * FROM S WHERE A WITHIN :window [t]",
        {"widnow": 3},
        "[CER_PARAMETER] Line 1, column 33: the parameter :window has no value. params has widnow. Did you mean 'widnow'?\n"
        "SELECT * FROM S WHERE A WITHIN :window [t]\n"
        "                                ^",
    ),
    "unused": (
        "SELECT * FROM S WHERE A FILTER A[price > :least] WITHIN 9 [t]",
        {"least": 1, "most": 2},
        "[CER_PARAMETER] params has 'most', but the query has no parameter :most. Its parameters are :least.",
    ),
    "unused by all": (
        "SELECT * FROM S WHERE A WITHIN 9 [t]",
        {"most": 2},
        "[CER_PARAMETER] params has 'most', but the query has no parameters.",
    ),
    "no number": (
        "SELECT * FROM S WHERE A WITHIN 9 [t] LIMIT :n",
        {"n": "ten"},
        "[CER_PARAMETER] Line 1, column 45: LIMIT, WITHIN, {…} and count(x) take a number, but the parameter :n is 'ten', which is STRING.\n"
        "SELECT * FROM S WHERE A WITHIN 9 [t] LIMIT :n\n"
        "                                            ^",
    ),
    "no whole number": (
        "SELECT * FROM S WHERE A WITHIN 9 [t] LIMIT :n",
        {"n": 1.5},
        "[CER_PARAMETER] Line 1, column 45: LIMIT takes a whole number, 1 or more, but the parameter :n is 1.5.\n"
        "SELECT * FROM S WHERE A WITHIN 9 [t] LIMIT :n\n"
        "                                            ^",
    ),
    "no unit": (
        "SELECT * FROM S WHERE A WITHIN :n",
        {"n": 5},
        "[CER_PARAMETER] Line 1, column 33: WITHIN :n takes a fixed length of time, such as a timedelta, an INTERVAL or "
        "'5 minutes', but the parameter is 5, which is INT. A number needs a unit: WITHIN :n minutes.\n"
        "SELECT * FROM S WHERE A WITHIN :n\n"
        "                                ^",
    ),
    "a timedelta with a unit": (
        "SELECT * FROM S WHERE A WITHIN :n minutes",
        {"n": datetime.timedelta(minutes=5)},
        "[CER_PARAMETER] Line 1, column 33: the parameter :n is a length of time, "
        "INTERVAL '0 00:05:00' DAY TO SECOND, which has its own unit. Write WITHIN :n, without a unit.\n"
        "SELECT * FROM S WHERE A WITHIN :n minutes\n"
        "                                ^",
    ),
    "a negative timedelta": (
        "SELECT * FROM S WHERE A WITHIN :n",
        {"n": datetime.timedelta(minutes=-5)},
        "[CER_PARAMETER] Line 1, column 33: a window cannot be negative, but the parameter :n is -5 minutes.\n"
        "SELECT * FROM S WHERE A WITHIN :n\n"
        "                                ^",
    ),
    "a timedelta for numbers": (
        "SELECT * FROM S WHERE A WITHIN :n",
        {"n": datetime.timedelta(minutes=5)},
        "[CER_TYPE_MISMATCH] Line 1, column 25: a window of time needs a timestamp or a date, but the time column 't' is "
        "BIGINT. Write WITHIN n [t].\n"
        "SELECT * FROM S WHERE A WITHIN :n\n"
        "                        ^",
    ),
    "None in a list": (
        "SELECT * FROM S WHERE A FILTER A[id NOT IN (:ids)] WITHIN 9 [t]",
        {"ids": ["a", None]},
        "[CER_PARAMETER] Line 1, column 45: the list of the parameter :ids has a NULL, which is equal to no value: with it, "
        "NOT IN is never true. Leave it out of the list, and use IS NULL or IS NOT NULL beside IN.\n"
        "SELECT * FROM S WHERE A FILTER A[id NOT IN (:ids)] WITHIN 9 [t]\n"
        "                                            ^",
    ),
    "a list as a number": (
        "SELECT * FROM S WHERE A WITHIN 9 [t] LIMIT :n",
        {"n": [1, 2]},
        "[CER_PARAMETER] Line 1, column 45: LIMIT, WITHIN, {…} and count(x) take a number, but the parameter :n is "
        "ARRAY(1, 2), which is ARRAY<INT>.\n"
        "SELECT * FROM S WHERE A WITHIN 9 [t] LIMIT :n\n"
        "                                            ^",
    ),
    "negative": (
        "SELECT * FROM S WHERE A WITHIN :n [t]",
        {"n": -1},
        "[CER_PARAMETER] Line 1, column 33: a window cannot be negative, but the parameter :n is -1.\n"
        "SELECT * FROM S WHERE A WITHIN :n [t]\n"
        "                                ^",
    ),
    "another type than the column's": (
        "SELECT * FROM S WHERE A FILTER A[price > :day] WITHIN 9 [t]",
        {"day": datetime.date(2026, 1, 2)},
        "[CER_TYPE_MISMATCH] Line 1, column 34: Spark cannot use the condition 'price > :day': "
        "[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve \"(price > DATE '2026-01-02')\" due to data type mismatch: "
        'the left and right operands of the binary operator have incompatible types ("DOUBLE" and "DATE").\n'
        "SELECT * FROM S WHERE A FILTER A[price > :day] WITHIN 9 [t]\n"
        "                                 ^",
    ),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_the_message(trades: DataFrame, name: str) -> None:
    query, params, text = REFUSED[name]
    with pytest.raises(AnalysisException) as caught:
        trades.transform(cer(query, time="t", params=params))
    assert str(caught.value) == text


def test_values_that_are_no_literals() -> None:
    query = "SELECT * FROM S WHERE A"
    with pytest.raises(PySparkTypeError) as caught:
        cer(query, params={"ids": {"a": 1}})
    assert str(caught.value) == (
        "The parameter ids is a dict; it can be int, float, Decimal, str, bool, datetime, date, timedelta, bytes or None, "
        "or a list, a tuple or a set of them."
    )
    with pytest.raises(PySparkTypeError) as caught:
        cer(query, params={"ids": [1, [2]]})
    assert str(caught.value) == (
        "An item of the parameter ids is a list; "
        "it can be int, float, Decimal, str, bool, datetime, date, timedelta, bytes or None."
    )
    with pytest.raises(PySparkTypeError, match=r"^cer\(\) takes a dict as params, not list\.$"):
        cer(query, params=[1])  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match=r"^The parameter n is larger than a BIGINT: use a Decimal\.$"):
        cer(query, params={"n": 2**63})
    with pytest.raises(
        PySparkValueError, match=r"^An item of the parameter n is larger than a BIGINT: use a Decimal\.$"
    ):
        cer(query, params={"n": (2**63,)})
    with pytest.raises(PySparkValueError) as refused:
        cer(query, params={"w": datetime.timedelta.max})
    assert str(refused.value) == (
        "The parameter w is longer than an INTERVAL of Spark, which is 292,000 years at the most."
    )
