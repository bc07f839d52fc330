"""`SELECT * FROM cer(TABLE(events), '…')`, on a session that has the jar and no other setting."""

from __future__ import annotations

import datetime
import traceback

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer

QUERY = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > :least] WITHIN :n [t]"


@pytest.fixture
def events(trades: DataFrame) -> str:
    trades.createOrReplaceTempView("sql_trades")
    return "TABLE(sql_trades)"


@pytest.mark.parametrize("params", ["named_struct('least', 26.5, 'n', 30)", "map('least', 26.5, 'n', 30)"])
def test_the_table_function(spark: SparkSession, events: str, params: str) -> None:
    found = spark.sql(f"SELECT x.id, y.id FROM cer({events}, '{QUERY}', time => 't', params => {params})")
    assert [tuple(row) for row in found.collect()] == [("f", "h")]


def test_params_that_come_from_python(spark: SparkSession, events: str) -> None:
    query = "SELECT * FROM S WHERE SELL FILTER SELL[id = :id] WITHIN 1 [t]"
    for text, args in {"map('id', :mine)": {"mine": "a"}, "named_struct('id', :mine)": {"mine": "a"}}.items():
        found = spark.sql(f"SELECT * FROM cer({events}, '{query}', params => {text})", args)
        assert found.count() == 1
    day = spark.sql(
        f"SELECT * FROM cer({events}, 'SELECT * FROM S WHERE HOLD FILTER HOLD[:day = :day]', time => 't', "
        "params => map('day', :day))",
        {"day": datetime.date(2026, 1, 2)},
    )
    assert day.count() == 1


@pytest.mark.parametrize("make", ["named_struct", "map"])
def test_arrays_and_intervals(spark: SparkSession, events: str, make: str) -> None:
    query = "SELECT * FROM S WHERE SELL FILTER SELL[id IN (:ids)] WITHIN 1 [t]"
    for values, count in {"array('a', 'f')": 2, "array()": 0, "collect": 1}.items():
        given = ("array(:mine)", {"mine": "a"}) if values == "collect" else (values, {})
        found = spark.sql(f"SELECT * FROM cer({events}, '{query}', params => {make}('ids', {given[0]}))", given[1])
        assert found.count() == count
    spark.sql(
        "SELECT timestamp'2026-01-01' + make_dt_interval(0, 0, 20 * id) AS ts, id FROM range(4)"
    ).createOrReplaceTempView("sql_times")
    near = "SELECT * FROM S WHERE (S AS x ; S AS y) WITHIN :w"
    for window in ("INTERVAL '40' MINUTE", "INTERVAL 40 MINUTES", "make_interval(0, 0, 0, 0, 0, 40)", "'40 min'"):
        found = spark.sql(
            f"SELECT * FROM cer(TABLE(sql_times), '{near}', time => 'ts', params => {make}('w', {window}))"
        )
        assert found.count() == 5
    with pytest.raises(AnalysisException) as caught:
        spark.sql(
            f"SELECT * FROM cer(TABLE(sql_times), '{near}', time => 'ts', params => {make}('w', INTERVAL '1' MONTH))"
        ).collect()
    assert str(caught.value).startswith(
        "[CER_PARAMETER] Line 1, column 49: WITHIN :w takes a fixed length of time, such as a timedelta, an INTERVAL or "
        "'5 minutes', but the parameter is INTERVAL '1' MONTH, which is INTERVAL MONTH. "
    )


REFUSED = {
    "misspelt keyword": "SELECT * FORM S WHERE A",
    "misspelt column": "SELECT * FROM S WHERE (SELL AS x ; BUY) FILTER x[prize > 20] WITHIN 30 [t]",
    "no parameter": QUERY,
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_an_error_is_the_same_as_in_python(
    spark: SparkSession, trades: DataFrame, events: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AnalysisException) as expected:
        trades.transform(cer(REFUSED[name], time="t"))
    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"SELECT * FROM cer({events}, '{REFUSED[name]}', time => 't')").collect()
    assert str(caught.value) == str(expected.value)
    assert caught.value.getCondition() == expected.value.getCondition()
    assert "\tat " not in "".join(traceback.format_exception(caught.value))
    assert capfd.readouterr() == ("", "")


def test_errors_of_the_call(spark: SparkSession, events: str) -> None:
    for call, text in {
        f"cer({events}, 'SELECT * FROM S WHERE A', tiem => 't')": (
            "[CER_SQL] 'tiem' is not an option. The options are idle, late, order, params, snapshots, time, type, until."
        ),
        f"cer({events}, 'SELECT * FROM S WHERE A', time => 't', params => map(1, 20))": (
            "[CER_SQL] params is a struct or a map with string keys, such as named_struct('least', 20) or "
            "map('least', 20), but its keys are INT."
        ),
    }.items():
        with pytest.raises(AnalysisException) as caught:
            spark.sql(f"WITH found AS (SELECT * FROM {call}) SELECT * FROM found").collect()
        assert str(caught.value) == text
