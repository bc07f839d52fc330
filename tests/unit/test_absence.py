"""Events that must not come, between two events, after them and before them, through Spark."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer, rows
from spark_cer.test import run
from tests.connect_server import only_classic

BEATS = [(0, "a"), (1, "b"), (3, "a"), (5, "b"), (9, "b"), (30, "a")]
SILENT = "SELECT h FROM S WHERE beat AS h ; NO beat FOR 5 [t] PARTITION BY [device]"


@pytest.fixture
def beats(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("beat", t, d) for t, d in BEATS], "type STRING, t INT, device STRING")


def ends(matches: DataFrame) -> list[tuple[str, Any, Any]]:
    return sorted((row.device, row.start, row.end) for row in matches.collect())


def test_silence(beats: DataFrame) -> None:
    assert ends(beats.transform(cer(SILENT, time="t"))) == [("a", 3, 8), ("b", 9, 14)]
    assert ends(beats.transform(cer(SILENT, time="t", until=10))) == [("a", 3, 8)]
    assert ends(beats.transform(cer(SILENT, time="t", until="forever"))) == [("a", 3, 8), ("a", 30, 35), ("b", 9, 14)]


def test_between_and_without(beats: DataFrame) -> None:
    for pattern in ("beat AS x ; NO (beat AS n FILTER n.device = x.device) ; beat AS y", "beat AS x ; beat AS y"):
        query = f"SELECT * FROM S WHERE {pattern} FILTER x.device = y.device"
        wanted = 4 if "NO" in pattern else 6
        assert beats.transform(cer(query, time="t")).count() == wanted
    passed = "SELECT * FROM S WHERE (beat AS x ; beat AS y) WITHOUT beat"
    assert beats.transform(cer(passed, time="t")).count() == len(BEATS) - 1


def test_before(beats: DataFrame) -> None:
    first = "SELECT h FROM S WHERE NO beat FOR 5 [t] ; beat AS h PARTITION BY [device]"
    assert ends(beats.transform(cer(first, time="t"))) == [("a", 0, 0), ("a", 30, 30), ("b", 1, 1)]
    alone = "SELECT h FROM S WHERE NO beat FOR 5 [t] ; beat AS h ; NO beat FOR 5 [t] PARTITION BY [device]"
    assert ends(beats.transform(cer(alone, time="t", until="forever"))) == [("a", 30, 35)]
    with pytest.raises(AnalysisException, match="NO at the beginning needs to know how far to look back"):
        beats.transform(cer("SELECT * FROM S WHERE NO beat ; beat", time="t"))


def test_sides_that_end_in_different_ways(beats: DataFrame) -> None:
    query = "SELECT * FROM S WHERE (beat AS last ; NO beat FOR 5 [t]) OR (beat AS x : beat AS y) PARTITION BY [device]"
    found = beats.transform(cer(query, time="t")).collect()
    assert sorted((row.device, row.end, row.y is None) for row in found) == [
        ("a", 3, False),
        ("a", 8, True),
        ("a", 30, False),
        ("b", 5, False),
        ("b", 9, False),
        ("b", 14, True),
    ]


def test_snapshots(beats: DataFrame) -> None:
    query = cer(SILENT, time="t")
    assert ends(query.snapshot(beats)) == []
    assert ends(query.snapshot(beats, at=15)) == [("b", 9, 14)]
    assert ends(query.snapshot(beats, at=13)) == [("a", 3, 8)]
    assert ends(query.snapshot(beats, at=7)) == []
    first = cer("SELECT h FROM S WHERE NO beat FOR 5 [t] ; beat AS h PARTITION BY [device] WITHIN 3 [t]", time="t")
    assert ends(first.snapshot(beats, at=6)) == []
    assert ends(first.snapshot(beats)) == [("a", 30, 30)]


def test_several_inputs(spark: SparkSession) -> None:
    orders = spark.createDataFrame([(0, 1), (1, 2), (9, 3)], "t INT, id INT")
    payments = spark.createDataFrame([(4, 2), (11, 3)], "t INT, id INT")
    unpaid = """
        SELECT o FROM Orders, Payments
        WHERE Orders AS o ; NO (Payments AS p FILTER p.id = o.id) FOR 5 [t]"""
    found = cer(unpaid, time="t").over({"Orders": orders, "Payments": payments})
    assert [(row.o.id, row.end) for row in found.collect()] == [(1, 5)]
    new = "SELECT o FROM Orders, Payments WHERE NO Payments FOR 5 [t] ; Orders AS o"
    assert sorted(r.o.id for r in cer(new, time="t").over({"Orders": orders, "Payments": payments}).collect()) == [1, 2]


def test_rows(beats: DataFrame) -> None:
    found = rows(beats.transform(cer(SILENT, time="t")))
    assert sorted((r.device, r.t, r.classifier) for r in found.collect()) == [("a", 3, "h"), ("b", 9, "h")]


@only_classic
def test_a_time_in_any_form(spark: SparkSession) -> None:
    at = datetime.datetime(2026, 3, 2, 12)
    events = [{"type": "A", "ts": at}]
    query = "SELECT * FROM S WHERE A ; NO B FOR 10 minutes"
    later = at + datetime.timedelta(minutes=10)
    assert len(run(query, events, time="ts", until=later)) == 1
    assert len(run(query, events, time="ts", until="2026-03-02 12:10")) == 1
    assert run(query, events, time="ts", until=later - datetime.timedelta(seconds=1)) == []
    numbers = [{"type": "A", "t": Decimal("1.5")}]
    waits = "SELECT * FROM S WHERE A ; NO B FOR 2 [t]"
    schema = "type STRING, t DECIMAL(10, 2)"
    assert len(run(waits, numbers, time="t", schema=schema, until=Decimal("3.5"))) == 1
    assert run(waits, numbers, time="t", schema=schema, until=Decimal("3.49")) == []
    with pytest.raises(PySparkTypeError, match=r"cer\(\) takes a str, a datetime, .* as until, not float\."):
        cer(query, until=1.5)  # type: ignore[arg-type]


def test_parameters(spark: SparkSession, beats: DataFrame) -> None:
    query = SILENT.replace("5 [t]", ":d [t]")
    for d, found in [(5, [("a", 3, 8), ("b", 9, 14)]), (15, [("a", 3, 18), ("b", 9, 24)])]:
        assert ends(beats.transform(cer(query, time="t", params={"d": d}))) == found
    before = "SELECT h FROM S WHERE NO beat FOR :d [t] ; beat AS h PARTITION BY [device]"
    assert len(ends(beats.transform(cer(before, time="t", params={"d": 1})))) == len(BEATS)
    with pytest.raises(AnalysisException, match=r"FOR 5 \[t\], which is longer than WITHIN 3 \[t\] allows\."):
        beats.transform(cer(f"{query} WITHIN 3 [t]", time="t", params={"d": 5}))
    at = datetime.datetime(2026, 3, 2, 12)
    waits = "SELECT * FROM S WHERE A ; NO B FOR :d"
    events = [{"type": kind, "ts": at + datetime.timedelta(minutes=m)} for kind, m in [("A", 0), ("B", 9), ("X", 60)]]
    minutes = datetime.timedelta(minutes=8)
    assert len(run(waits, events, time="ts", params={"d": minutes})) == 1
    assert run(waits, events, time="ts", params={"d": minutes + datetime.timedelta(minutes=1)}) == []


def test_variables_that_are_not_bound_before(beats: DataFrame) -> None:
    def refused(where: str) -> str:
        with pytest.raises(AnalysisException) as error:
            beats.transform(cer(f"SELECT * FROM S WHERE {where}", time="t"))
        return str(error.value)

    way_out = "What must not come is compared with what has come: beat, x."
    for where in (
        "beat AS x ; NO (beat AS n FILTER n.t = y.t) ; beat AS y",
        "(beat AS x) WITHOUT (beat AS n FILTER n.t = y.t)",
        "beat AS x ; NO (beat AS n FILTER n.t = y.t) FOR 5 [t]",
    ):
        message = refused(where)
        assert "NO and WITHOUT name 'y', which is not a variable before them." in message
        assert way_out in message
        assert message.splitlines()[2].index("^") == message.splitlines()[1].index("y.t")
    before = refused("NO (beat AS n FILTER n.device = x.device) FOR 5 [t] ; beat AS x")
    assert "To look back at events with equal values only, write PARTITION BY [column]." in before


def test_errors(beats: DataFrame) -> None:
    with pytest.raises(AnalysisException) as refused:
        beats.transform(cer("SELECT * FROM S WHERE beat ; NO beat FOR 5 [t] WITHIN 3 [t]", time="t"))
    assert str(refused.value).startswith(
        "[CER_ABSENCE] Line 1, column 33: A match lasts until no such event has come FOR 5 [t], "
        "which is longer than WITHIN 3 [t] allows. Write a longer WITHIN or a shorter FOR.\n"
    )
    with pytest.raises(AnalysisException, match="until is only for a query that ends with NO"):
        beats.transform(cer("SELECT * FROM S WHERE beat", time="t", until=3))


def test_sql(beats: DataFrame) -> None:
    beats.createOrReplaceTempView("beats")
    text = f"SELECT * FROM cer(TABLE(beats), '{SILENT}', time => 't', until => 'forever')"
    assert beats.sparkSession.sql(text).count() == 3


@only_classic
def test_explain(spark: SparkSession) -> None:
    text = cer(SILENT).plan
    assert "after a match: no beat for 5 [t]; then it ends" in text
    assert "matches wait for 5 [t]: one entry for each last event, whatever the number of its matches" in text
    mermaid = cer(SILENT).diagram().mermaid
    assert 'd0((("5 [t] later")))' in mermaid
    assert 'q1 -.->|"no beat for 5 [t]"| d0' in mermaid


def test_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    source, out = str(tmp_path / "in"), str(tmp_path / "out")
    start = datetime.datetime(2026, 3, 2, 12)

    def write(*events: tuple[str, int, str]) -> None:
        rows = [(kind, start + datetime.timedelta(minutes=minute), cart) for kind, minute, cart in events]
        spark.createDataFrame(rows, "type STRING, ts TIMESTAMP, cart STRING").write.mode("append").parquet(source)

    def left() -> list[str]:
        events = spark.readStream.schema("type STRING, ts TIMESTAMP, cart STRING").parquet(source)
        query = cer("SELECT c FROM S WHERE cart AS c ; NO pay FOR 30 minutes PARTITION BY [cart]")
        matches = events.withWatermark("ts", "1 minute").transform(query)
        running = matches.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        running.trigger(availableNow=True).start(out).awaitTermination()
        return sorted(row.cart for row in spark.read.schema(matches.schema).parquet(out).collect())

    write(("cart", 0, "one"), ("cart", 1, "two"))
    assert left() == []
    write(("pay", 20, "two"), ("view", 90, "other"))
    assert left() == ["one"]
    assert left() == ["one"]


@only_classic
def test_a_stream_needs_a_watermark(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    with pytest.raises(AnalysisException, match="NO at the end needs a watermark on a stream"):
        stream.transform(cer("SELECT * FROM S WHERE S ; NO S FOR 5 minutes", time="ts"))
