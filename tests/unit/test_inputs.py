"""Queries over several inputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer

QUERY = "SELECT * FROM Buys, Sells WHERE (Sells AS s ; Buys AS b) WITHIN 30 [t]"


@pytest.fixture
def buys(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [(10, "b1", 5.0), (31, "b2", 6.0), (60, "b3", 7.0)], "t BIGINT, id STRING, price DOUBLE"
    )


@pytest.fixture
def sells(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(0, 3, "s1"), (40, 4, "s2"), (60, 5, "s3")], "t BIGINT, volume INT, id STRING")


def pairs(matches: DataFrame) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in matches.selectExpr("s.id", "b.id").collect()}


def test_the_name_in_from_is_the_type(buys: DataFrame, sells: DataFrame) -> None:
    matches = cer(QUERY).over({"Buys": buys, "Sells": sells})
    assert (
        matches.schema["s"].dataType.simpleString() == "struct<t:bigint,id:string,price:double,type:string,volume:int>"
    )
    assert pairs(matches) == {("s1", "b1"), ("s2", "b3")}
    row = matches.where("s.id = 's1'").select("s", "b").first()
    assert row is not None
    assert (row.s.type, row.s.price, row.s.volume) == ("Sells", None, 3)
    assert (row.b.type, row.b.price, row.b.volume) == ("Buys", 5.0, None)


def test_events_of_one_time_are_in_the_order_of_from(buys: DataFrame, sells: DataFrame) -> None:
    turned = QUERY.replace("Buys, Sells", "Sells, Buys")
    assert pairs(cer(turned).over({"Buys": buys, "Sells": sells})) == {("s1", "b1"), ("s2", "b3"), ("s3", "b3")}


def test_streams_can_share_types(spark: SparkSession) -> None:
    left = spark.createDataFrame([("A", 1, "l1"), ("B", 4, "l2")], "type STRING, t BIGINT, id STRING")
    right = spark.createDataFrame([("A", 2, "r1"), ("B", 3, "r2")], "type STRING, t BIGINT, id STRING")
    query = "SELECT * FROM L, R WHERE (L>A AS s ; R>B AS b) WITHIN 30 [t]"
    assert pairs(cer(query).over({"L": left, "R": right})) == {("l1", "r2")}
    assert pairs(cer(query.replace("L>A", "A")).over({"L": left, "R": right})) == {("l1", "r2"), ("r1", "r2")}
    not_right = "SELECT * FROM L, R WHERE (A AS s : NOT(R>A) : R>B AS b) WITHIN 30 [t]"
    assert pairs(cer(not_right).over({"L": left, "R": right})) == set()
    assert pairs(cer(not_right.replace("R>A", "L>A")).over({"L": left, "R": right})) == {("l1", "r2")}


def test_one_input_is_as_it_is(trades: DataFrame) -> None:
    query = cer("SELECT * FROM S WHERE (SELL ; BUY) WITHIN 30 [t]")
    assert sorted(query.over({"S": trades}).collect()) == sorted(query(trades).collect())


def test_streams_with_watermarks(spark: SparkSession, tmp_path: Path) -> None:
    """The faster input waits for the slower one."""

    def events(name: str, seconds: list[int]) -> DataFrame:
        (tmp_path / name).mkdir()
        for number, second in enumerate(seconds):
            file = tmp_path / name / f"{number}.json"
            file.write_text(f'{{"ts": "2026-01-01T00:{second // 60:02}:{second % 60:02}", "id": "{name}{number}"}}\n')
            os.utime(file, (number, number))  # a stream reads files in the order of their age
        source = spark.readStream.schema("ts TIMESTAMP, id STRING").option("maxFilesPerTrigger", 1)
        return source.json(str(tmp_path / name)).withWatermark("ts", "10 seconds")

    # When S1 arrives, B is ahead by more than the delay.
    inputs = {"B": events("B", [300, 400, 500]), "S": events("S", [90, 280, 500])}
    query = cer("SELECT * FROM B, S WHERE (S AS s ; B AS b) WITHIN 20 seconds", late="rows")
    running = (
        query.over(inputs)
        .writeStream.format("memory")
        .queryName("inputs_with_watermarks")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    found = spark.table("inputs_with_watermarks").collect()
    assert [(row.s.id, row.b.id, row.late) for row in found] == [("S1", "B0", None)]


REFUSED = {
    "an unknown name": (
        {"Buy": "buys", "Sells": "sells"},
        "[CER_UNKNOWN_STREAM] 'Buy' is not in FROM, which names Buys, Sells. Did you mean 'Buys'?",
    ),
    "a missing name": (
        {"Buys": "buys"},
        "[CER_UNKNOWN_STREAM] Line 1, column 21: FROM names Sells, but over() has no DataFrame for it.\n"
        "SELECT * FROM Buys, Sells WHERE (Sells AS s ; Buys AS b) WITHIN 30 [t]\n"
        "                    ^",
    ),
    "columns of different types": (
        {"Buys": "buys", "Sells": "odd"},
        "[CER_TYPE_MISMATCH] The column 'price' is DOUBLE in Buys and STRING in Sells. Cast one of them, or give it another name.",
    ),
    "no time in one of them": (
        {"Buys": "buys", "Sells": "timeless"},
        "[CER_UNKNOWN_COLUMN] The time column 't' is not a column of Sells. Its columns are ts, id.",
    ),
    "a batch and a stream": (
        {"Buys": "buys", "Sells": "stream"},
        "[CER_UNSUPPORTED] Sells is a stream and Buys is a batch, but all inputs must be of one kind. "
        "Read Buys with spark.readStream too, or both with spark.read.",
    ),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_the_message(spark: SparkSession, buys: DataFrame, sells: DataFrame, name: str) -> None:
    frames = {
        "buys": buys,
        "sells": sells,
        "odd": buys.selectExpr("t", "CAST(price AS STRING) AS price"),
        "timeless": sells.selectExpr("t AS ts", "id"),
        "stream": spark.readStream.format("rate").load().selectExpr("value AS t"),
    }
    inputs, text = REFUSED[name]
    with pytest.raises(AnalysisException) as caught:
        cer(QUERY).over({stream: frames[frame] for stream, frame in inputs.items()})
    assert str(caught.value) == text


def test_a_type_column_that_is_no_string(buys: DataFrame, sells: DataFrame) -> None:
    inputs = {"Buys": buys, "Sells": sells.selectExpr("t", "id", "1 AS type")}
    for query in (cer(QUERY, type="type"), cer(QUERY.replace("Sells AS s", "SELL AS s"))):
        with pytest.raises(AnalysisException) as caught:
            query.over(inputs)
        assert str(caught.value) == "[CER_TYPE_MISMATCH] The type column 'type' of Sells is INT, but it must be STRING."
    assert pairs(cer(QUERY).over(inputs)) == {("s1", "b1"), ("s2", "b3")}  # `type` is not the type column here


def test_watermarks_must_agree(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    query = cer("SELECT * FROM A, B WHERE A ; B WITHIN 1 minute")
    with pytest.raises(AnalysisException) as caught:
        query.over({"A": rate.withWatermark("timestamp", "1 second"), "B": rate})
    assert str(caught.value) == (
        "[CER_WATERMARK] A has a watermark on 'timestamp' and B has none. Add B.withWatermark(\"timestamp\", …)."
    )
    other = rate.withColumnRenamed("timestamp", "ts").withWatermark("ts", "1 second")
    with pytest.raises(AnalysisException) as caught:
        query.over({"A": rate.withWatermark("timestamp", "1 second"), "B": other})
    assert str(caught.value) == (
        "[CER_WATERMARK] The watermark of A is on 'timestamp' and that of B is on 'ts', but events are merged by one time "
        "column. Rename one of them."
    )


def test_one_dataframe_is_not_several_streams(trades: DataFrame) -> None:
    with pytest.raises(AnalysisException) as caught:
        trades.transform(cer(QUERY))
    assert str(caught.value) == (
        "[CER_SEVERAL_STREAMS] Line 1, column 21: FROM names several inputs, but the query is applied to one DataFrame. "
        'Give each input its own: cer(query).over({"Buys": …, "Sells": …}).\n'
        f"{QUERY}\n"
        "                    ^"
    )


def test_what_over_takes(buys: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match=r"^over\(\) takes a dict of names and DataFrames\.$"):
        cer(QUERY).over(buys)  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match=r"^over\(\) takes at least one DataFrame\.$"):
        cer(QUERY).over({})
