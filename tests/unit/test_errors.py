"""Error messages as a user reads them: the exact text, a single message, no Java stack trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
    SparkRuntimeException,
    StreamingQueryException,
)
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer

CASES = {
    "misspelt keyword": (
        "SELECT * FORM S WHERE A",
        "[CER_SYNTAX] Line 1, column 10: expected FROM, found 'FORM'. Did you mean 'FROM'?\n"
        "SELECT * FORM S WHERE A\n"
        "         ^",
    ),
    "misspelt column": (
        "SELECT * FROM S WHERE (SELL AS x ; BUY)\nFILTER x[prize > 20] WITHIN 30 [t]",
        "[CER_UNKNOWN_COLUMN] Line 2, column 10: 'prize' is not a column. "
        "The columns are type, t, price, id, card. Did you mean 'price'?\n"
        "FILTER x[prize > 20] WITHIN 30 [t]\n"
        "         ^",
    ),
    "misspelt variable": (
        "SELECT * FROM S WHERE (SELL AS sold ; BUY) FILTER sole[price > 20] WITHIN 30 [t]",
        "[CER_UNKNOWN_VARIABLE] Line 1, column 51: FILTER names 'sole', which is not a variable of the pattern before it. "
        "Its variables are BUY, SELL, sold. Did you mean 'sold'?\n"
        "SELECT * FROM S WHERE (SELL AS sold ; BUY) FILTER sole[price > 20] WITHIN 30 [t]\n"
        "                                                  ^",
    ),
    "not a condition": (
        "SELECT * FROM S WHERE A FILTER A[price + 1] WITHIN 30 [t]",
        "[CER_TYPE_MISMATCH] Line 1, column 34: the condition 'price + 1' is DOUBLE, but it must be BOOLEAN.\n"
        "SELECT * FROM S WHERE A FILTER A[price + 1] WITHIN 30 [t]\n"
        "                                 ^",
    ),
    "a random condition": (
        "SELECT * FROM S WHERE A FILTER A[rand() < 0.5] WITHIN 30 [t]",
        "[CER_UNSUPPORTED] Line 1, column 34: a condition cannot use a nondeterministic function: 'rand() < 0.5'.\n"
        "SELECT * FROM S WHERE A FILTER A[rand() < 0.5] WITHIN 30 [t]\n"
        "                                 ^",
    ),
    "unknown partition column": (
        "SELECT * FROM S WHERE A PARTITION BY [carf] WITHIN 30 [t]",
        "[CER_UNKNOWN_COLUMN] Line 1, column 39: 'carf' is not a column. "
        "The columns are type, t, price, id, card. Did you mean 'card'?\n"
        "SELECT * FROM S WHERE A PARTITION BY [carf] WITHIN 30 [t]\n"
        "                                      ^",
    ),
    "no time": (
        "SELECT * FROM S WHERE A ; B",
        "[CER_NO_TIME] No time column is given, and the events have no watermark. Name the column that has the time of the "
        "events, which can be time='t' or time='price'.",
    ),
    "colliding names": (
        "SELECT * FROM S WHERE SELL AS Start WITHIN 30 [t]",
        "[CER_NAME_COLLISION] Two columns of the output would be called 'start' and 'Start'. "
        "Give the variable another name with AS.",
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_the_message(trades: DataFrame, name: str) -> None:
    query, text = CASES[name]
    with pytest.raises(AnalysisException) as caught:
        trades.transform(cer(query))
    assert str(caught.value) == text
    assert caught.value.getCondition() == text[1 : text.index("]")]
    assert caught.value.getSqlState() == "42000"


def test_seconds_need_a_timestamp(trades: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        trades.transform(cer("SELECT * FROM S WHERE A ; B WITHIN 10 seconds", time="t"))
    assert str(caught.value) == (
        "[CER_TYPE_MISMATCH] Line 1, column 29: a window of time needs a timestamp or a date, but the time column 't' is BIGINT. "
        "Write WITHIN n [t].\n"
        "SELECT * FROM S WHERE A ; B WITHIN 10 seconds\n"
        "                            ^"
    )


def test_no_time_where_several_columns_could_serve(spark: SparkSession) -> None:
    for columns, hint in {
        "type STRING, price DOUBLE, ts TIMESTAMP, day DATE, late BOOLEAN": (
            "Name the column that has the time of the events, which can be time='ts' or time='day'."
        ),
        "type STRING, id STRING": "No column has a type that can be a time: a timestamp, a date or a number.",
    }.items():
        with pytest.raises(AnalysisException) as caught:
            spark.createDataFrame([], columns).transform(cer("SELECT * FROM S WHERE A ; B"))
        assert str(caught.value) == f"[CER_NO_TIME] No time column is given, and the events have no watermark. {hint}"


def test_a_time_column_that_is_not_there(trades: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        trades.transform(cer("SELECT * FROM S WHERE A", time="ts"))
    assert str(caught.value) == (
        "[CER_UNKNOWN_COLUMN] time='ts' is not a column. The columns are type, t, price, id, card."
    )


def test_a_query_that_is_no_string() -> None:
    with pytest.raises(PySparkTypeError, match=r"cer\(\) takes a str as query, not int\."):
        cer(3)  # type: ignore[arg-type]


def test_events_that_are_no_dataframe_of_spark(trades: DataFrame) -> None:
    query = cer("SELECT * FROM S WHERE SELL WITHIN 30 [t]")
    events: Any = trades.toPandas()
    make = "not a DataFrame of pandas: make one with spark.createDataFrame(...)."

    def refused(call: Callable[[Any], object], given: Any) -> str:
        with pytest.raises(PySparkTypeError) as caught:
            call(given)
        return str(caught.value)

    assert refused(query, events) == f"cer() takes a DataFrame of Spark, {make}"
    assert refused(query, {"S": trades}) == (
        "cer() takes a DataFrame of Spark, not a dict: over() takes a dict of names and DataFrames."
    )
    assert refused(query.over, {"S": events}) == f"over() takes DataFrames of Spark, and S is {make}"
    assert refused(query.over, events) == "over() takes a dict of names and DataFrames."
    for name in ("schema", "validate", "snapshot"):
        method = getattr(query, name)
        assert refused(method, events) == (
            f"{name}() takes a DataFrame of Spark, or a dict of names and DataFrames, {make}"
        )
        assert refused(method, {"S": events}) == f"{name}() takes DataFrames of Spark, and S is {make}"
        with pytest.raises(PySparkValueError, match=rf"^{name}\(\) takes at least one DataFrame\.$"):
            method({})


def test_a_stream_needs_rocksdb(spark: SparkSession) -> None:
    provider = "spark.sql.streaming.stateStore.providerClass"
    before = spark.conf.get(provider)
    assert before is not None
    spark.conf.unset(provider)
    try:
        stream = spark.readStream.format("rate").load()
        with pytest.raises(AnalysisException) as caught:
            stream.transform(cer("SELECT * FROM S WHERE S ; S WITHIN 1 second", time="timestamp"))
    finally:
        spark.conf.set(provider, before)
    assert str(caught.value) == (
        "[CER_STATE_STORE] A query over a stream keeps its state in RocksDB. Start the session with spark_cer.session(), or add "
        "this line before the query starts:\n"
        f'spark.conf.set("{provider}", "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")'
    )


def test_an_error_in_a_task(spark: SparkSession) -> None:
    events = spark.sql("SELECT timestamp_seconds(id) AS ts, IF(id = 20, 'B', 'A') AS type FROM range(21)")
    spark.conf.set("spark.cer.maxMatchesPerEvent", "100")
    try:
        with pytest.raises(SparkRuntimeException) as caught:
            events.transform(cer("SELECT * FROM S WHERE A+ ; B WITHIN 1 minute", time="ts")).collect()
    finally:
        spark.conf.unset("spark.cer.maxMatchesPerEvent")
    assert str(caught.value) == (
        "[CER_TOO_MANY_MATCHES] The event at 1970-01-01T00:00:20Z closes more than 100 matches. "
        "Use LIMIT, a shorter WITHIN, SELECT NEXT, LAST or COUNT(*), or raise spark.cer.maxMatchesPerEvent."
    )
    assert caught.value.getCondition() == "CER_TOO_MANY_MATCHES"


def test_an_error_in_a_stream(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    """A checkpoint of another query, or of another type column."""
    trades.coalesce(1).write.parquet(str(tmp_path / "events"))
    events = spark.readStream.schema(trades.schema).parquet(str(tmp_path / "events"))

    def run(price: int, kind: str = "type") -> None:
        text = "SELECT * FROM S WHERE (SELL AS x ; BUY) FILTER x[price > :p] WITHIN 30 [t]"
        query = cer(text, params={"p": price}, type=kind)
        writer = events.transform(query).writeStream.format("noop").trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()

    run(20)
    trades.coalesce(1).write.mode("append").parquet(str(tmp_path / "events"))
    with pytest.raises(StreamingQueryException) as caught:
        run(21)
    text = str(caught.value)
    assert "[CER_STATE_MISMATCH] The checkpoint was written by another query." in text
    assert "\nwith :p = 20\n" in text
    assert "Start with a new checkpointLocation, or go back to what it was." in text
    assert "\tat " not in text, text
    with pytest.raises(StreamingQueryException) as caught:
        run(20, "card")
    assert (
        "[CER_STATE_MISMATCH] The checkpoint was written with type='type', and now there is type='card'. "
        "Start with a new checkpointLocation, or go back to what it was."
    ) in str(caught.value)
